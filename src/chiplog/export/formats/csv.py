"""The tidy CSV form: one sample a row; the csv importer gives the same samples back.

Warm-up samples are left out, since nothing in a plain table would keep them from being used; Parquet has them, marked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from chiplog.dataset.importers.csv import COLUMNS
from chiplog.dataset.series import Dataset, Series
from chiplog.export.exporter import Exporter, runs_as_text
from chiplog.quoting import for_csv


def csv_text(dataset: Dataset) -> str:
    """The samples of `dataset` as CSV with a header line; floats in the shortest form that reads back the same."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for series in dataset.series:
        writer.writerows(_rows(series, dataset.transport))
    return text.getvalue()


def _rows(series: Series, transport: str) -> Iterator[tuple[object, ...]]:
    texts = (series.pattern, series.operation, series.posting, series.direction, transport)
    constant = (
        *map(for_csv, texts),
        series.message_bytes,
        series.pairs,
        series.peers,
        series.train,
        repr(series.delay_seconds),
        series.batch,
        series.launch,
        series.visit,
        series.record_id,
    )
    return ((*constant, repr(seconds)) for seconds in series.seconds.tolist())


CSV = Exporter(
    name="csv",
    summary="a run: one sample a row; `chiplog import csv` gives it back",
    write_run=runs_as_text(csv_text),
)
