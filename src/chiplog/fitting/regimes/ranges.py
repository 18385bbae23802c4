"""The protocols' ranges of sizes, from the last sizes before each change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import UsageError


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
