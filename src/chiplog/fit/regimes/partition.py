"""The segments of a fit: all regimes of all its quantities, with borders that the quantities share.

Each quantity has regimes of its own. Borders of two quantities that are the same border, give or take one size, are put
in one place; protocol changes, which are known to the byte or nearly so, come first, then the borders of the half round
trip, whose noise is least. A segment lies between two neighbouring borders of any quantity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.quantity import Quantity
from chiplog.fit.regimes.find import Regimes, find_regimes
from chiplog.fit.segments import segment_ranges

TRAIN_STEPS = 9
"""A gap is judged as the part of a train of ten that it makes: nine of them follow one half round trip each way."""
OVERHEAD_SHARE = 0.1
"""Share of the half round trip below which the errors of an overhead do not matter."""
SLOPE, PROTOCOL = "slope", "protocol"

Range = tuple[int, int]
"""First and last size in bytes."""


@dataclass(frozen=True)
class Partition:
    """The segments of a fit, ascending in size."""

    ranges: tuple[Range, ...]
    borders: tuple[str | None, ...]
    """What the lower end of each segment is: see `Segment.border`."""
    own: Mapping[str, tuple[Range, ...]]
    """By quantity: the range of its own regime that each segment lies in."""
    regimes: Mapping[str, Regimes]
    """By quantity, as they were found; none of quantities with too few sizes."""


def whole(sizes: NDArray[np.int64]) -> Partition:
    """One segment over all `sizes`."""
    only = (int(sizes[0]), int(sizes[-1]))
    return Partition((only,), (None,), {}, {})


def partition(quantities: Sequence[Quantity], half: Quantity, limits: Sequence[int]) -> Partition:
    """The segments of `quantities`, those with the least noise first; `half` is the half round trip.

    `limits` are the last sizes in bytes before each protocol change.
    """
    measured = [one for one in quantities if one.value.size]
    sizes = np.unique(np.concatenate([one.message_bytes for one in measured]))
    inside = tuple(limit for limit in sorted(set(limits)) if sizes[0] <= limit < sizes[-1])
    borders = dict.fromkeys(inside, PROTOCOL)
    regimes, own = {}, {}
    for one in measured:
        found = find_regimes(
            one.message_bytes, one.value, one.sigma, _scale(one, half), _inner(inside, one)
        )
        regimes[one.name] = found
        own[one.name] = [_placed(border, found.sizes, borders) for border in found.limits]
    ranges = segment_ranges(sizes, list(borders))
    lasts = [last for _, last in ranges]
    return Partition(
        ranges,
        (None, *(borders[last] for last in lasts[:-1])),
        {name: _own_ranges(ranges, ends) for name, ends in own.items()},
        regimes,
    )


def _scale(one: Quantity, half: Quantity) -> NDArray[np.float64]:
    """What the misses of a quantity are judged against, in seconds, shape (sizes,)."""
    if one.name == half.name or not half.value.size:
        return np.abs(one.value)
    whole_way = np.interp(one.message_bytes, half.message_bytes, half.value)
    if one.name == "gap":
        return np.asarray(np.abs(one.value) + 2.0 * whole_way / TRAIN_STEPS)
    return np.asarray(np.abs(one.value) + OVERHEAD_SHARE * whole_way)


def _inner(limits: Sequence[int], one: Quantity) -> tuple[int, ...]:
    return tuple(x for x in limits if one.message_bytes[0] <= x < one.message_bytes[-1])


def _placed(border: Range, sizes: NDArray[np.int64], borders: dict[int, str]) -> int:
    """The known border that `border` is, give or take one of `sizes`; itself, as a new one, where it is none."""
    low, high = (int(np.searchsorted(sizes, size)) for size in border)
    lowest, highest = sizes[max(low - 1, 0)], sizes[min(high + 1, sizes.size - 1)]
    near = [one for one in borders if lowest <= one < highest]
    if not near:
        borders[border[0]] = SLOPE
        return border[0]
    middle = np.log(max(border[0], 1)) / 2 + np.log(border[1]) / 2
    return min(near, key=lambda one: abs(float(np.log(max(one, 1)) - middle)))


def _own_ranges(ranges: Sequence[Range], ends: Sequence[int]) -> tuple[Range, ...]:
    """By segment, the range of the regime that it lies in; regimes end at `ends`."""
    found = []
    for first, last in ranges:
        below = [end for end in ends if end < first]
        above = [end for end in ends if end >= last]
        low = next(one for one, _ in ranges if not below or one > max(below))
        found.append((low, min(above, default=ranges[-1][1])))
    return tuple(found)
