"""Measured collective operations from files: results of `chiplog bench`, run files, and CSV.

CSV has the columns operation, algorithm, ranks, message_bytes and seconds, and may have peers; rows that agree in all
but seconds are samples of one time.
"""

from __future__ import annotations

import csv
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import MOST_RANKS
from chiplog.collectives.registry import OPERATIONS
from chiplog.dataset.fields import Fields
from chiplog.dataset.foreign import import_command, importer_of
from chiplog.dataset.import_collectives import DEFAULT
from chiplog.dataset.import_values import time, whole
from chiplog.dataset.lines import Where, as_object, other_separator, parse_json
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Series
from chiplog.errors import UsageError
from chiplog.file_kind import BENCH, HEAD_BYTES, RUN, kind_of
from chiplog.fitting.quantities.value_intervals import order_statistics
from chiplog.input_file import read_text
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.convention import TimeConvention

NEEDED = ("operation", "ranks", "message_bytes", "seconds")
COLUMNS = (*NEEDED, "algorithm", "peers")
BENCH_SCHEMA = "chiplog.bench/1"
SEVERAL_SCHEMA = "chiplog.benches/1"
OSU_PROVENANCE = "osu"
MPI_OWN = "mpi"
"""The variant of a bench result that the MPI's own algorithm is."""

Key = tuple[str, str | None, int, int, int | None]
"""Operation, algorithm, ranks, bytes and peers of what samples share."""


def read_anchors(paths: Iterable[str | os.PathLike[str]]) -> tuple[Anchor, ...]:
    """All measured collective operations of some files.

    UsageError for a file that can't be opened or holds none, CorruptFile where one is damaged.
    """
    return tuple(anchor for path in paths for anchor in _of_file(path))


def _of_file(path: str | os.PathLike[str]) -> list[Anchor]:
    name = os.fspath(path)
    kind = kind_of(path)
    if kind is not None and kind[0] == RUN:
        return _of_run(name)
    if kind is not None and kind[0] != BENCH:
        raise UsageError(
            f"--anchor {name}: is {kind[0]}; a result of chiplog bench, a run file with collective operations or "
            "CSV is needed here."
        )
    text = read_text(path)
    importer = importer_of(text[:HEAD_BYTES])
    if importer is not None and importer.name != "csv":
        command = import_command(importer, name)
        raise UsageError(
            f"--anchor {name}: looks like a file for the importer {importer.name}; import it first: {command}"
        )
    return _of_benches(text, name) if text.lstrip()[:1] == "{" else _of_csv(text, name)


def _of_benches(text: str, name: str) -> list[Anchor]:
    """Of a bench, or of one over several numbers of ranks."""
    where = Where(name)
    result = Fields(as_object(parse_json(text.encode(), where), where), where)
    if result.text("schema", among=(BENCH_SCHEMA, SEVERAL_SCHEMA)) == BENCH_SCHEMA:
        return [_of_bench(result, name)]
    return [_of_bench(bench, name) for bench in result.objects("benches")]


def _of_bench(bench: Fields, name: str) -> Anchor:
    """From a common start: the MPI's own time, in the mode to believe."""
    where = bench.where
    bench.text("schema", among=(BENCH_SCHEMA,))
    mode = bench.text("mode")
    row = next(
        (
            fields
            for fields in bench.objects("rows")
            if fields.text("mode") == mode and fields.text("variant") == MPI_OWN
        ),
        None,
    )
    if row is None:
        raise bench.wrong("rows", f"has no time of the MPI's own by {mode}")
    seconds = _positive(row.number("median_seconds"), row.where, "median_seconds")
    ends = row.number("low_seconds"), row.number("high_seconds")
    return Anchor(
        operation=bench.text("operation"),
        ranks=_two_or_more(bench.integer("ranks"), where),
        message_bytes=bench.integer("bytes"),
        seconds=seconds,
        source=name,
        algorithm=bench.text_or_none("algorithm"),
        width=_width(seconds, *ends),
        convention=TimeConvention.COMMON_START,
    )


def _of_run(name: str) -> list[Anchor]:
    """The series of a run that are calls of collective operations."""
    dataset = read_run(name)
    provenance = dataset.header.get("provenance")
    is_osu = isinstance(provenance, dict) and provenance.get("kind") == OSU_PROVENANCE
    samples: dict[Key, list[NDArray[np.float64]]] = defaultdict(list)
    for series in dataset.series:
        if series.pattern in OPERATIONS and series.direction == "call" and series.peers > 1:
            samples[_key_of_series(series)].append(series.seconds)
    if not samples:
        raise UsageError(
            f"--anchor {name}: holds no calls of collective operations between a known number of ranks; "
            f"it holds {dataset.extent}."
        )
    together = {key: np.concatenate(parts) for key, parts in samples.items()}
    convention = TimeConvention.OSU if is_osu else None
    return [_anchor(key, seconds, name, convention) for key, seconds in together.items()]


def _key_of_series(series: Series) -> Key:
    algorithm = None if series.operation.startswith(DEFAULT) else series.operation
    return series.pattern, algorithm, series.peers + 1, series.message_bytes, None


def _of_csv(text: str, name: str) -> list[Anchor]:
    samples: dict[Key, list[float]] = defaultdict(list)
    for key, seconds in _rows(text, name):
        samples[key].append(seconds)
    if not samples:
        raise Where(name, 1).corrupt(None, "there is no row with a time")
    return [_anchor(key, np.array(seconds), name, None) for key, seconds in samples.items()]


def _rows(text: str, name: str) -> Iterator[tuple[Key, float]]:
    """What each row of a CSV file was measured of, and its time; CorruptFile names line and column of what is wrong."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    names: list[str] | None = None
    try:
        for row in reader:
            where = Where(name, reader.line_num)
            if names is None:
                names = _checked_names([column.strip() for column in row], where)
            elif row:
                yield _row(names, row, where)
    except csv.Error as error:
        raise Where(name, reader.line_num).corrupt(None, f"no valid CSV: {error}") from None
    if names is None:
        raise Where(name, 1).corrupt(None, "the file is empty")


def _checked_names(names: list[str], where: Where) -> list[str]:
    for needed in NEEDED:
        if names.count(needed) != 1:
            listed = ", ".join(column[:40] for column in names[:20]) or "none"
            what = f"must be a column, once; the columns are {listed}{other_separator(names)}"
            raise where.corrupt(needed, what)
    return names


def _row(names: Sequence[str], row: Sequence[str], where: Where) -> tuple[Key, float]:
    if len(row) != len(names):
        raise where.corrupt(None, f"the row has {len(row)} fields, the header {len(names)}")
    cells = {name: cell.strip() for name, cell in zip(names, row, strict=True) if name in COLUMNS}
    if cells["operation"] not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise where.corrupt("operation", f"{cells['operation'][:40]!r} is none of {known}")
    peers = cells.get("peers")
    key = (
        cells["operation"],
        cells.get("algorithm") or None,
        whole(cells["ranks"], "ranks", where, minimum=2, maximum=MOST_RANKS),
        whole(cells["message_bytes"], "message_bytes", where),
        whole(peers, "peers", where, minimum=1, maximum=MOST_RANKS) if peers else None,
    )
    return key, _positive(time(cells["seconds"], "seconds", where), where, "seconds")


def _anchor(
    key: Key, seconds: NDArray[np.float64], name: str, convention: TimeConvention | None
) -> Anchor:
    operation, algorithm, ranks, message_bytes, peers = key
    median = _positive(float(np.median(seconds)), Where(name), "seconds")
    return Anchor(
        operation=operation,
        ranks=ranks,
        message_bytes=message_bytes,
        seconds=median,
        source=name,
        algorithm=algorithm,
        peers=peers,
        width=_width(median, *order_statistics(seconds)),
        convention=convention,
    )


def _width(seconds: float, low: float, high: float) -> float:
    """Half of an interval as a logarithm; 0 where it is not known, or reaches 0."""
    if not (0.0 < low <= seconds <= high):
        return 0.0
    return max(math.log(seconds / low), math.log(high / seconds))


def _positive(seconds: float, where: Where, field: str) -> float:
    if not seconds > 0.0:
        raise where.corrupt(field, "must be more than 0")
    return seconds


def _two_or_more(ranks: int, where: Where) -> int:
    if not 2 <= ranks <= MOST_RANKS:
        raise where.corrupt("ranks", f"must be from 2 to {MOST_RANKS}, but is {ranks}")
    return ranks
