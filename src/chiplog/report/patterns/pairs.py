"""k pairs of processes at once: the slowest pair's time, what a node sends in all, and what a process sends."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.fitting.pairs.table import half_round_trips, is_pair_point
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.patterns.run import (
    PatternRun,
    ShownValue,
    grid,
    interval_cells,
    missing_intervals,
    rate_cell,
    share_cell,
    values,
)

MOST_COLUMNS = 4
"""Of rates of a node and of a process: what 80 columns have room for."""


def tables(run: PatternRun) -> tuple[Table, ...]:
    """By size and k, of each two groups of ranks and each direction."""
    parts = pair_parts(run)
    several = len({between for between, _ in parts}) > 1
    return tuple(
        table
        for (between, direction), part in parts.items()
        for table in _of_part(run, part, str(direction), between if several else None)
    )


def pair_parts(run: PatternRun) -> dict[tuple[object, ...], Dataset]:
    """The series of k pairs by the two groups of ranks that they ran between, and by direction."""
    points = tuple(series for series in run.part.series if is_pair_point(series))
    return replace(run.part, series=points).apart("between", "direction")


def pair_times(part: Dataset, statistic: str) -> dict[tuple[int, int], ShownValue]:
    """The slowest pair's time one way by message size in bytes and k."""
    return {
        (size, pairs): value
        for pairs, quantity in half_round_trips(MeasuredSeries(part, statistic, 0)).items()
        for size, value in values(quantity).items()
    }


def _of_part(run: PatternRun, part: Dataset, direction: str, between: object) -> tuple[Table, ...]:
    times = pair_times(part, run.measured.statistic)
    groups = " to ".join(map(str, between)) if isinstance(between, tuple) else ""
    where = f", {groups}" if groups else ""
    time = (
        "half round trip" if direction == "round-trip" else "one-way time per message of a window"
    )
    convention = f"{time}, the slowest pair's; {run.intervals}"
    if len(times) <= run.most_rows:
        return (_list(run, times, f"k pairs at once{where}", convention),)
    run = replace(run, most_columns=min(run.most_columns, MOST_COLUMNS))
    shares = {key: share_cell(value) for key, value in times.items()}
    rates = {key: _rates(*key, value) for key, value in times.items()}
    return (
        grid(
            run,
            run.caption(f"k pairs at once{where}", convention),
            "k",
            shares,
            missing_intervals(list(times.values())),
        ),
        grid(
            run,
            run.caption(
                f"Rate of a node with k pairs{where}",
                "k sizes over that time, one way; in parentheses the rate of a process",
            ),
            "k",
            rates,
        ),
    )


def _list(
    run: PatternRun, times: dict[tuple[int, int], ShownValue], title: str, convention: str
) -> Table:
    rows = tuple(
        (
            line(format.message_size(size)),
            line(str(pairs)),
            *interval_cells(value),
            rate_cell(size, value),
            rate_cell(pairs * size, value),
        )
        for (size, pairs), value in sorted(times.items())
    )
    heads = number_columns("size", "k", "time", "95 % interval", "a process", "the node")
    said = f"{convention}; rates one way"
    return Table(run.caption(title, said), heads, rows, missing_intervals(list(times.values())))


def _rates(size: int, pairs: int, value: ShownValue) -> Inline:
    """The node's rate, and that of a process in the same unit."""
    if not size or not value.seconds > 0:
        return line(format.NOTHING)
    node = pairs * size / value.seconds
    scale = format.scale_for(node, "B/s")
    shown, process = (
        format.value(rate / scale.factor, "1", digits=3) for rate in (node, node / pairs)
    )
    return line(f"{shown} ({process}) {scale.unit}")
