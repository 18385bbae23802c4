"""k pairs of processes at once: the slowest pair's time, what a node sends in all, and what a process sends."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.fitting.pairs.table import half_round_trips, is_pair_point
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.report import format
from chiplog.report.document import Inline, Table, line
from chiplog.report.patterns.run import (
    BySizeAndNumber,
    PatternRun,
    ShownValue,
    by_size_and_number,
    grid,
    rate_cell,
    time_grid,
    values_by_number,
)

MOST_COLUMNS = 4
"""Given: of rates of a node and of a process: what 80 columns have room for."""


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


def pair_times(part: Dataset, statistic: str) -> BySizeAndNumber:
    """The slowest pair's time one way by message size in bytes and k."""
    return values_by_number(half_round_trips(MeasuredSeries(part, statistic, 0)))


def _of_part(run: PatternRun, part: Dataset, direction: str, between: object) -> tuple[Table, ...]:
    times = pair_times(part, run.measured.statistic)
    groups = " to ".join(map(str, between)) if isinstance(between, tuple) else ""
    where = f", {groups}" if groups else ""
    time = (
        "half round trip" if direction == "round-trip" else "one-way time per message of a window"
    )
    convention = f"{time}, the slowest pair's; {run.intervals}"
    title = f"k pairs at once{where}"
    if len(times) <= run.most_rows:

        def both_rates(size: int, pairs: int) -> tuple[Inline, ...]:
            value = times[size, pairs]
            return rate_cell(size, value), rate_cell(pairs * size, value)

        heads = ("k", "time", "95 % interval", "a process", "the node")
        caption = run.caption(title, f"{convention}; rates one way")
        return (by_size_and_number(caption, heads, times, both_rates),)
    run = replace(run, most_columns=min(run.most_columns, MOST_COLUMNS))
    rates = {key: _rates(*key, value) for key, value in times.items()}
    of_rates = run.caption(
        f"Rate of a node with k pairs{where}",
        "k sizes over that time, one way; in parentheses the rate of a process",
    )
    return (
        time_grid(run, run.caption(title, convention), "k", times),
        grid(run, of_rates, "k", rates),
    )


def _rates(size: int, pairs: int, value: ShownValue) -> Inline:
    """The node's rate, and that of a process in the same unit."""
    if not size or not value.seconds > 0:
        return line(format.NOTHING)
    node = pairs * size / value.seconds
    scale = format.scale_for(node, "B/s")
    shown, process = (format.brief(rate / scale.factor, "1") for rate in (node, node / pairs))
    return line(f"{shown} ({process}) {scale.unit}")
