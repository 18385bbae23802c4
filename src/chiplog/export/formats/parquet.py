"""Apache Parquet: one sample a row, warm-up samples marked, the run's header as metadata `chiplog.header`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.export.exporter import Exporter
from chiplog.optional import needed
from chiplog.output_file import replacing

if TYPE_CHECKING:
    import pyarrow as pa

PURPOSE = "Parquet"

_TEXT_COLUMNS: dict[str, Callable[[Series], str]] = {
    "pattern": lambda s: s.pattern,
    "operation": lambda s: s.operation,
    "posting": lambda s: s.posting,
    "direction": lambda s: s.direction,
    "tag": lambda s: json.dumps(dict(s.tag), separators=(",", ":")),
}
_INTEGER_COLUMNS: dict[str, Callable[[Series], int]] = {
    "message_bytes": lambda s: s.message_bytes,
    "pairs": lambda s: s.pairs,
    "peers": lambda s: s.peers,
    "train": lambda s: s.train,
    "batch": lambda s: s.batch,
    "launch": lambda s: s.launch,
    "visit": lambda s: s.visit,
    "record": lambda s: s.record_id,
}


def write_parquet(dataset: Dataset, out: Path) -> None:
    """Writes `dataset` to `out`; RunFailed where it can't be written, UsageError where PyArrow is not installed."""
    pq = needed("pyarrow.parquet", PURPOSE)
    content = table(dataset)
    with replacing(out) as stream:
        pq.write_table(content, stream, compression="zstd")


def table(dataset: Dataset) -> pa.Table:
    """The samples of `dataset`, warm-up first in each series; `warmup` marks what is not to be used."""
    pa = needed("pyarrow", PURPOSE)
    series = dataset.series
    counts = np.array([s.warmup_seconds.size + s.seconds.size for s in series], dtype=np.int64)
    columns: dict[str, Any] = {}
    for name, text_of in _TEXT_COLUMNS.items():
        columns[name] = _repeated_texts([text_of(s) for s in series], counts)
    for name, count_of in _INTEGER_COLUMNS.items():
        columns[name] = pa.array(
            np.repeat(np.array([count_of(s) for s in series], dtype=np.int64), counts)
        )
    delays = np.array([s.delay_seconds for s in series], dtype=np.float64)
    columns["delay_seconds"] = pa.array(np.repeat(delays, counts))
    columns["warmup"] = pa.array(_joined([_marks(s) for s in series], np.bool_))
    columns["seconds"] = pa.array(
        _joined([np.concatenate((s.warmup_seconds, s.seconds)) for s in series], np.float64)
    )
    metadata = {
        "chiplog.header": json.dumps(dict(dataset.header)),
        "chiplog.source": Path(dataset.source).name,
        "chiplog.complete": json.dumps(dataset.complete),
    }
    return pa.table(columns, metadata=metadata)


def _marks(series: Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.arange(series.warmup_seconds.size + series.seconds.size) < series.warmup_seconds.size


def _joined(parts: list[np.ndarray], dtype: type[np.generic]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts])


def _repeated_texts(
    texts: list[str], counts: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> pa.Array:
    """A dictionary array: each distinct text is stored once."""
    pa = needed("pyarrow", PURPOSE)
    distinct = sorted(set(texts))
    index = {text: number for number, text in enumerate(distinct)}
    codes = np.array([index[text] for text in texts], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(np.repeat(codes, counts)), pa.array(distinct, pa.string())
    )


PARQUET = Exporter(
    name="parquet",
    summary="a run: Apache Parquet, one sample a row, warm-up marked",
    write_run=write_parquet,
)
