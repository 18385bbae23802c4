"""Sizes that never met the state of the machine that most points met: drawn, but no line goes through them.

A state may outlast all visits of one size, further ones included, and not those of its neighbour. A line through both
speaks of neither state, and how much of each is in it differs from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.quantities.methods.quantities import MethodQuantities

FEWEST_SIZES = 5
"""Of a segment, that must be left."""
LEAST_SHARE = 0.25
"""Of a segment's sizes, that must be left."""
FARTHEST = 2
"""Factor between a segment's first size and the first one left, and between the last ones, at most."""


def without_unlike(
    quantities: MethodQuantities, ranges: Sequence[tuple[int, int]], unlike: frozenset[int]
) -> MethodQuantities:
    """The quantities without the `unlike` sizes of those `ranges` (first and last bytes) that keep enough others."""
    sizes = quantities.half_round_trip.message_bytes
    left_out: set[int] = set()
    for first, last in ranges:
        mine = sizes[(sizes >= first) & (sizes <= last)]
        of_range = unlike.intersection(mine.tolist())
        if of_range and _enough(np.setdiff1d(mine, list(of_range)), mine):
            left_out |= of_range
    return quantities.without(left_out) if left_out else quantities


def _enough(left: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
    if left.size < max(FEWEST_SIZES, LEAST_SHARE * sizes.size):
        return False
    return bool(left[0] <= FARTHEST * sizes[0] and sizes[-1] <= FARTHEST * left[-1])
