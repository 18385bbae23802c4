"""The segments of a fit: all regimes of all its quantities, with borders that the quantities share.

Each quantity has regimes of its own. Borders of two quantities that are the same border, give or take one size, are put
in one place; protocol changes, which are known to the byte or nearly so, come first, then the borders of the half round
trip, whose noise is least. A segment lies between two neighbouring borders of any quantity. Where trains end below the
half round trips, a segment ends with them: what they tell is not carried on to sizes without any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import UsageError
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes.find import Border, Regimes, find_regimes
from chiplog.fitting.regimes.settings import OVERHEAD_SHARE, TRAIN_STEPS
from chiplog.fitting.settings import FEWEST_SIZES, SEEN_SHARE
from chiplog.statistics import NO_DIFFERENCE

SLOPE, PROTOCOL = "slope", "protocol"
HALF, GAP, SEND, RECEIVE = "half_round_trip", "gap", "o_s", "o_r"
EXCHANGE = "exchange"

Range = tuple[int, int]
"""First and last size in bytes."""


@dataclass(frozen=True)
class Partition:
    """The segments of a fit, ascending in size."""

    ranges: tuple[Range, ...]
    borders: tuple[str | None, ...]
    """What the lower end of each segment is: see `Segment.border`; None also where trains end below it."""
    own: Mapping[str, tuple[Range, ...]]
    """By quantity: the range of its own regime that each segment lies in."""
    regimes: Mapping[str, Regimes]
    """By quantity, as they were found; none of quantities with too few sizes."""


def whole(sizes: NDArray[np.int64]) -> Partition:
    """One segment over all `sizes`."""
    only = (int(sizes[0]), int(sizes[-1]))
    return Partition((only,), (None,), {}, {})


def partition(quantities: Sequence[Quantity], limits: Sequence[int]) -> Partition:
    """The segments of `quantities`: the half round trip, then the overheads, then the gap; any may be missing.

    `limits` are the last sizes in bytes before each protocol change; of those that no measured size separates, the last
    one counts, since nothing was measured of the protocols between them. Where overheads hide the gap, it has no
    regimes: a train's time bends where the gap begins to exceed them, and that is in the model.
    """
    measured = [quantity for quantity in quantities if quantity.value.size]
    sizes = np.unique(np.concatenate([quantity.message_bytes for quantity in measured]))
    inside = _separated(limits, sizes)
    borders: dict[int, str | None] = dict.fromkeys(inside, PROTOCOL)
    half = next((quantity for quantity in measured if quantity.name == HALF), None)
    regimes: dict[str, Regimes] = {}
    for quantity in measured:
        shown = _seen(quantity, half, regimes) if quantity.name == GAP else quantity
        regimes[quantity.name] = find_regimes(
            shown.message_bytes,
            shown.value,
            shown.sigma,
            _scale(shown, half),
            _inner(inside, shown),
            _inner(_suggested(regimes, inside), shown),
        )
    placed = _placed(regimes, borders)
    covered = _last_train(measured, sizes)
    for last in covered:
        borders.setdefault(last, None)
    ranges = segment_ranges(sizes, list(borders))
    lasts = [last for _, last in ranges]
    return Partition(
        ranges,
        (None, *(borders[last] for last in lasts[:-1])),
        {
            name: _own_ranges(ranges, [*ends, *inside, *(covered if name != HALF else ())])
            for name, ends in placed.items()
        },
        regimes,
    )


def _last_train(measured: Sequence[Quantity], sizes: NDArray[np.int64]) -> tuple[int, ...]:
    """The last size of the trains, where other quantities go on beyond it; none where they don't."""
    lasts = [int(quantity.message_bytes[-1]) for quantity in measured if quantity.name == GAP]
    return tuple(last for last in lasts if last < sizes[-1])


def _separated(limits: Sequence[int], sizes: NDArray[np.int64]) -> tuple[int, ...]:
    """The limits below the last of the sizes, ascending, with a measured size before, between and after them."""
    place = {int(np.searchsorted(sizes, limit, side="right")): limit for limit in sorted(limits)}
    return tuple(limit for before, limit in place.items() if 0 < before < sizes.size)


def _suggested(regimes: Mapping[str, Regimes], limits: Sequence[int]) -> list[int]:
    """The borders of the half round trip, whose noise is least, beside the protocol changes."""
    if HALF not in regimes:
        return []
    lasts = [border.last_before for border in regimes[HALF].borders]
    return [last for last in lasts if last not in limits]


def _seen(gap: Quantity, half: Quantity | None, regimes: Mapping[str, Regimes]) -> Quantity:
    """The gap where overheads do not hide it; at all sizes where overheads do not explain the others."""
    overhead = np.zeros(gap.value.size)
    for name in (SEND, RECEIVE):
        if name in regimes:
            lines = regimes[name].lines
            overhead = np.maximum(overhead, lines.at(gap.message_bytes.astype(np.float64)))
    seen = gap.value > overhead * (1.0 + SEEN_SHARE) + gap.sigma
    if np.all(seen) or np.count_nonzero(seen) < FEWEST_SIZES:
        return gap
    hidden = gap.subset(~seen)
    off = np.abs(hidden.value - overhead[~seen])
    allowed = np.hypot(2.0 * hidden.sigma, NO_DIFFERENCE * _scale(hidden, half))
    return gap.subset(seen) if np.median(off / allowed) <= 1.0 else gap


def _scale(quantity: Quantity, half: Quantity | None) -> NDArray[np.float64]:
    """What the misses of a quantity are judged against, in seconds, shape (sizes,)."""
    if half is None or quantity.name == HALF:
        return np.abs(quantity.value)
    whole_way = np.interp(quantity.message_bytes, half.message_bytes, half.value)
    if quantity.name == GAP:
        return np.asarray(np.abs(quantity.value) + 2.0 * whole_way / TRAIN_STEPS)
    return np.asarray(np.abs(quantity.value) + OVERHEAD_SHARE * whole_way)


def _inner(limits: Sequence[int], quantity: Quantity) -> tuple[int, ...]:
    return tuple(x for x in limits if quantity.message_bytes[0] <= x < quantity.message_bytes[-1])


def _placed(regimes: Mapping[str, Regimes], borders: dict[int, str | None]) -> dict[str, list[int]]:
    """The place of each border of each quantity, among `borders`, to which new ones are added.

    The borders whose place is known best come first; one whose place is uncertain is put where another one is, if it
    may lie there.
    """
    ends: dict[str, list[int]] = {name: [] for name in regimes}
    every = [
        (_span(border, regime.sizes), border, name)
        for name, regime in regimes.items()
        for border in regime.borders
    ]
    for (low, high), border, name in sorted(
        every, key=lambda entry: entry[0][1] / max(entry[0][0], 1)
    ):
        near = [last for last in borders if low <= last < high]
        if not near:
            borders[border.last_before] = SLOPE
            near = [border.last_before]
        middle = np.log(max(border.last_before, 1))
        ends[name].append(min(near, key=lambda last: abs(float(np.log(max(last, 1)) - middle))))
    return ends


def _span(border: Border, sizes: NDArray[np.int64]) -> Range:
    """The sizes between which a border may lie, one further on either side: sizes differ between quantities."""
    low = int(np.searchsorted(sizes, border.lowest))
    high = int(np.searchsorted(sizes, border.highest)) + 1
    return int(sizes[max(low - 1, 0)]), int(sizes[min(high + 1, sizes.size - 1)])


def _own_ranges(ranges: Sequence[Range], ends: Sequence[int]) -> tuple[Range, ...]:
    """By segment, the range of the regime that it lies in; regimes end at `ends`."""
    regime_ranges = []
    for first, last in ranges:
        below = [end for end in ends if end < first]
        above = [end for end in ends if end >= last]
        low = next(start for start, _ in ranges if not below or start > max(below))
        regime_ranges.append((low, min(above, default=ranges[-1][1])))
    return tuple(regime_ranges)


def segment_ranges(
    sizes: NDArray[np.int64], boundaries: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """First and last size in bytes of each protocol; `sizes` are the measured ones, ascending.

    A protocol begins at the smallest measured size above the boundary before it and ends at its own boundary.
    Raises UsageError for a boundary with no measured size on one of its sides.

    >>> segment_ranges(np.array([1, 8, 64, 512]), [8])
    ((1, 8), (64, 512))
    """
    limits = sorted(set(boundaries))
    ranges = []
    below = -1
    for limit in [*limits, int(sizes[-1])]:
        inside = sizes[(sizes > below) & (sizes <= limit)]
        if inside.size == 0:
            raise UsageError(
                f"boundaries: no size was measured above {below} B and up to {limit} B; sizes run from "
                f"{sizes[0]} to {sizes[-1]} B."
            )
        ranges.append((int(inside[0]), limit))
        below = limit
    return tuple(ranges)


def joined(
    chosen: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The `chosen` ones of all `ranges`, neighbouring ones as one.

    >>> joined([(1, 8), (9, 64)], [(1, 8), (9, 64), (65, 512)])
    [(1, 64)]
    """
    place = {segment: number for number, segment in enumerate(ranges)}
    merged: list[tuple[int, int]] = []
    previous = -2
    for segment in chosen:
        if place[segment] == previous + 1:
            merged[-1] = (merged[-1][0], segment[1])
        else:
            merged.append(segment)
        previous = place[segment]
    return merged
