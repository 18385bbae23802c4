"""Two runs of the same measurement: `chiplog compare RUN_A RUN_B` as a function."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace

from chiplog.comparison.chance import in_common_state
from chiplog.comparison.differences import Differences, differences
from chiplog.comparison.points import Key, rows_of
from chiplog.comparison.ranges import Level
from chiplog.comparison.reasons import (
    advice,
    judge,
    judge_whole,
    load_text,
    noise_text,
    other_state,
    placement_doubt,
    posts_text,
    row_text,
)
from chiplog.comparison.result import Compared, RatioRange, RunRow
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.statistics import NO_DIFFERENCE


def compare_runs(
    a: Dataset, b: Dataset, *, tolerance: float = NO_DIFFERENCE, statistic: str = "median"
) -> tuple[RunRow, ...]:
    """The ratio of B's times to A's, for all that is `Compared`, by size, and over all of them in the last row.

    The noise of both runs (`chiplog.comparison.differences`) says how far they lie apart by chance. Sizes that differ
    alike are a range, whose level and interval decide about its rows; a row that follows no range is judged alone. The
    last row is the weighted mean of the others' logarithms: the less noise a row has, the more it weighs.

    Series with a delay are left out: the delay, not the machine, makes their time. Records count that the machine was
    in one state in. Of a machine that has not changed, all intervals together hold the truth in 99 of 100 comparisons.
    A verdict is `faster` or `slower` if the interval excludes 1 and the ratio is off by `tolerance` or more, `same` if
    the whole interval is within `tolerance`, else `unclear`.

    Raises UsageError if the runs have no series in common.
    """
    key_of = _key_of(a, b)
    runs = in_common_state(*(_compared(run) for run in (a, b)))
    every = [rows_of(run, key_of, statistic) for run in runs]
    common = sorted(every[0].keys() & every[1].keys())
    if not common:
        raise UsageError(f"{a.source} and {b.source} have no series without delay in common.")
    further, doubt = placement_doubt(a, b)
    diffs = differences(runs, [{key: rows[key] for key in common} for rows in every], further)
    why = doubt + advice(runs, diffs.common)
    rows = []
    range_of: dict[Key, RatioRange] = {}
    for level in diffs.levels:
        range_of |= dict.fromkeys(level.keys, _range(diffs, level))
    for key in common:
        row = _row(diffs, key, tolerance, range_of.get(key))
        if row.verdict == "unclear":
            posts = posts_text(runs) if key in diffs.by_place else ""
            alone = row_text(diffs.noise, runs) if row.range is None else ""
            row = replace(row, reason=row.reason + doubt + posts + alone)
        rows.append(row)
    whole = judge_whole(_whole_row(diffs, common[0][0].operation, tolerance), rows)
    reason = whole.reason + load_text((a, b)) + noise_text(diffs.noise, runs) + other_state(a, b)
    reason += why if whole.verdict == "unclear" else ""
    return (*rows, replace(whole, reason=reason))


def _key_of(a: Dataset, b: Dataset) -> Callable[[Series], Key]:
    """What a series is compared as, and its size: with the placement of its ranks where either run has several."""
    several = any(len({series.placement for series in run.series}) > 1 for run in (a, b))

    def key_of(series: Series) -> Key:
        placement = (series.placement or "") if several else ""
        return Compared(*series.kind, placement), series.message_bytes

    return key_of


def _compared(run: Dataset) -> Dataset:
    chosen = tuple(
        series for series in run.series if series.delay_seconds == 0 and series.seconds.size > 0
    )
    if not chosen:
        raise UsageError(
            f"{run.source} holds only series with a delay, and their times are the delay's own."
        )
    return Dataset(run.header, chosen, run.complete, run.source)


def _row(diffs: Differences, key: Key, tolerance: float, sizes: RatioRange | None) -> RunRow:
    """One row: judged by the range of sizes that it follows, if there is one."""
    if sizes is None:
        ratio, low, high = _interval(diffs.logs[key], diffs.half_width_of_row(key))
        return RunRow(*key, ratio, low, high, *judge(ratio, low, high, tolerance))
    ratio = math.exp(diffs.logs[key])
    verdict, reason = judge(sizes.ratio, sizes.low, sizes.high, tolerance)
    where = f"from {sizes.first_bytes} to {sizes.last_bytes} B"
    reason = f"{sizes.rows} rows {where} differ alike, by {reason}"
    low, high = min(sizes.low, ratio), max(sizes.high, ratio)
    return RunRow(*key, ratio, low, high, verdict, reason, sizes)


def _whole_row(diffs: Differences, operation: str, tolerance: float) -> RunRow:
    """The last row, which is about all others."""
    ratio, low, high = _interval(diffs.whole, diffs.half_width_of_whole)
    what = Compared("all", operation, train=0)
    return RunRow(what, None, ratio, low, high, *judge(ratio, low, high, tolerance))


def _range(diffs: Differences, level: Level) -> RatioRange:
    sizes = [size for _, size in level.keys]
    interval = _interval(level.log_ratio, diffs.half_width_of_level(level))
    return RatioRange(min(sizes), max(sizes), len(sizes), *interval)


def _interval(log_ratio: float, half_width: float) -> tuple[float, float, float]:
    """The ratio and the ends of its interval."""
    high = log_ratio + half_width
    is_known = high < math.log(sys.float_info.max)
    return (
        math.exp(log_ratio),
        math.exp(log_ratio - half_width),
        math.exp(high) if is_known else math.inf,
    )
