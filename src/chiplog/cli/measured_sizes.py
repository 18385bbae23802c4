"""What `chiplog measure` prints at its end: one line a size, as one reads osu_latency."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.fit.quantities.measured import Measured
from chiplog.fit.quantities.over_sizes import series_quantity
from chiplog.plan.units import format_bytes
from chiplog.report import format
from chiplog.report.input import TargetReport
from chiplog.report.measured import is_bare_round_trip
from chiplog.report.sections.warnings import notice_sentence, notices

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset, Series

MOST_ROWS = 24
MOST_WARNINGS = 3


def sizes_table(dataset: Dataset) -> list[str]:
    """Medians with 95 % intervals by size: half round trips if there are any, else what most series are of.

    Of many sizes the powers of two; the last line says so.
    """
    title, share, mine = _chosen(dataset)
    if not mine:
        return []
    part = replace(dataset, series=mine)
    quantity = series_quantity(Measured(part, "median", seed=0), title, lambda _: True)
    low, high = np.percentile(quantity.draws, (2.5, 97.5), axis=1)
    rows = []
    for at, size in enumerate(quantity.message_bytes.tolist()):
        seconds, least, most = (share * float(one[at]) for one in (quantity.value, low, high))
        value, interval = format.value_and_interval(seconds, least, most, "s")
        rate = format.value(size / seconds, "B/s", digits=3) if size and seconds > 0 else "-"
        rows.append((size, (format_bytes(size), value, interval, rate)))
    powers = [row for row in rows if row[0] & (row[0] - 1) == 0]
    shown = rows if len(rows) <= MOST_ROWS else powers[-MOST_ROWS:] or rows[:MOST_ROWS]
    lines = [_line("size", title, "95 % interval", "bandwidth"), *(_line(*row) for _, row in shown)]
    if len(shown) < len(rows):
        lines.append(f"{len(shown)} of {len(rows)} sizes; chiplog report shows all")
    return lines


def header_warnings(dataset: Dataset) -> list[str]:
    """What the machine did beside the measurement: each a fact, a number and a remedy; at most MOST_WARNINGS."""
    target = TargetReport(str(dataset.header.get("target", "")), dataset)
    return [notice_sentence(one) for one in notices(target)[:MOST_WARNINGS]]


def _line(size: str, value: str, interval: str, rate: str) -> str:
    return f"{size:>9}  {value:>22}  {interval:>24}  {rate:>10}".replace("µ", "u")


def _chosen(dataset: Dataset) -> tuple[str, float, tuple[Series, ...]]:
    """What to show, the share of a sample that it is, and the series."""
    bare = tuple(one for one in dataset.series if is_bare_round_trip(one) and one.pairs == 1)
    if bare:
        share = 0.5 if bare[0].direction == "round-trip" else 1.0
        return (
            "half round trip",
            share,
            tuple(one for one in bare if one.direction == bare[0].direction),
        )
    kinds = Counter(_kind(one) for one in dataset.series if one.seconds.size)
    if not kinds:
        return "", 1.0, ()
    (most, _), *_ = kinds.most_common(1)
    mine = tuple(one for one in dataset.series if one.seconds.size and _kind(one) == most)
    return mine[0].pattern.replace("_", " "), 1.0, mine


def _kind(one: Series) -> tuple[object, ...]:
    delayed = one.delay_seconds > 0
    return (one.pattern, one.operation, one.posting, one.train, one.pairs, one.peers, delayed)
