"""Sizes that never met the state of the machine that most points met: drawn, but no line goes through them.

A state may outlast all visits of one size, further ones included, and not those of its neighbour. A line through both
speaks of neither state, and how much of each is in it differs from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.quantities.methods.quantities import MethodQuantities

MIN_SIZES = 5
"""Given: sizes of a segment that must be left."""
MIN_SHARE = 0.25
"""Given: share of a segment's sizes that must be left."""
MAX_FACTOR = 2
"""Given: between a segment's first size and the first one left, and between the last ones."""


def without_unlike(
    quantities: MethodQuantities, ranges: Sequence[tuple[int, int]], unlike: frozenset[int]
) -> MethodQuantities:
    """The quantities without the `unlike` sizes of those `ranges` (first and last bytes) that keep enough others."""
    sizes = quantities.half_round_trip.message_bytes
    left_out: set[int] = set()
    for first, last in ranges:
        range_sizes = sizes[(sizes >= first) & (sizes <= last)]
        of_range = unlike.intersection(range_sizes.tolist())
        if of_range and _enough(np.setdiff1d(range_sizes, list(of_range)), range_sizes):
            left_out |= of_range
    return quantities.without(left_out) if left_out else quantities


def _enough(kept: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
    if kept.size < max(MIN_SIZES, MIN_SHARE * sizes.size):
        return False
    return bool(kept[0] <= MAX_FACTOR * sizes[0] and sizes[-1] <= MAX_FACTOR * kept[-1])
