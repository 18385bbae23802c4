"""What was measured, one table a pattern: each says what its pattern is about, and by which convention.

A pattern's tables are a function `tables(run) -> tuple[Table, ...]` in a module here, and an entry of `TABLES` below.
The command `measure`, the terminal, Markdown and the page show the same tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chiplog.dataset.operations import NORMAL, OPERATIONS, operation_text
from chiplog.dataset.patterns import OVERLAP, OVERLAP_RECEIVE
from chiplog.dataset.series import Dataset
from chiplog.fitting.caution import usable
from chiplog.fitting.choice import with_receives
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.report.document import Table
from chiplog.report.patterns import (
    all_pairs,
    calls,
    exchange,
    incast,
    other,
    overlap,
    pairs,
    peers,
    round_trips,
)
from chiplog.report.patterns.run import PatternRun

PatternTables = Callable[[PatternRun], tuple[Table, ...]]

TABLES: tuple[tuple[tuple[str, ...], PatternTables], ...] = (
    (("prtt", "ping_pong"), round_trips.tables),
    (("send_overhead",), calls.sends),
    (("receive_overhead",), calls.receives),
    (("flood",), calls.floods),
    (("late_receiver",), calls.late_receivers),
    (("one_to_many",), peers.one_to_many),
    (("pairs",), pairs.tables),
    (("exchange",), exchange.tables),
    ((OVERLAP, OVERLAP_RECEIVE), overlap.tables),
    (("barrier",), peers.barriers),
    ((INCAST,), incast.tables),
    (("all_pairs",), all_pairs.tables),
)
"""The patterns that tables are about, in the order in which they are shown. Others are shown as they were measured."""
KNOWN = frozenset(name for names, _ in TABLES for name in names)
"""The patterns that have tables of their own."""
PART = ("operation", "posting", "placement")
"""What the series of one table have in common."""
STATISTIC, SEED = "median", 0
"""Given: as fits have them by default, so that both show the same intervals."""


def pattern_tables(
    dataset: Dataset, *, most_rows: int, most_columns: int, beside: Dataset | None = None
) -> tuple[Table, ...]:
    """The tables of all patterns of each operation, posting and placement.

    Each has at most `most_rows` rows, and one over two numbers at most `most_columns` columns of times. `beside` has
    further series of the run, which have no table here and which tables compare with.
    """
    return tuple(
        table
        for run in pattern_runs(dataset, most_rows, most_columns, beside)
        for table in _tables(run)
    )


def pattern_runs(
    dataset: Dataset, most_rows: int, most_columns: int, beside: Dataset | None = None
) -> list[PatternRun]:
    """The measured times of each operation, posting and placement; parameters as of `pattern_tables`."""
    timed = _timed(dataset)
    parts = timed.apart(*PART)
    parts_beside = parts if beside is None else _timed(beside).apart(*PART)
    several = _several(list(parts))
    return [
        PatternRun(
            MeasuredSeries(usable(with_receives(timed, part)).placed.dataset, STATISTIC, SEED),
            _of(key, several),
            most_rows,
            most_columns,
            timed.header,
            part,
            parts_beside[key],
        )
        for key, part in parts.items()
    ]


def _timed(dataset: Dataset) -> Dataset:
    return replace(
        dataset, series=tuple(series for series in dataset.series if series.seconds.size)
    )


def _tables(run: PatternRun) -> tuple[Table, ...]:
    made = tuple(table for _, tables in TABLES for table in tables(run))
    return (*made, *other.tables(run, KNOWN))


def _several(keys: list[tuple[object, ...]]) -> bool:
    """Whether operation and posting need to be said: not of sends alone, nor of calls that have no operation."""
    one_sided = {name for name in OPERATIONS if name != "send"}
    return len(keys) > 1 or any(key[0] in one_sided or key[1] != NORMAL for key in keys)


def _of(key: tuple[object, ...], several: bool) -> str:
    """Operation, posting and placement in words, where they need to be said."""
    operation, posting, placement = key
    if not several:
        return ""
    words = operation_text(str(operation), str(posting))
    return words if placement in (None, "none", "filled") else f"{words}, {placement}"
