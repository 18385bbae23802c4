"""The delay ladder of Bell et al.: at which delay between the sends does the train begin to take longer?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.plan.patterns.pattern import train_length
from chiplog.plan.request import Request, SeriesRequest, StopRule

BELL = "bell"
RUNGS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Given: delays as multiples of the gap found before; below gap - o_s the train's duration stays the same."""
LEAST_GAP_SHARE = 0.05
"""Given: share of a round trip below which no gap is taken to be, so that the rungs stay apart."""
LADDER_SIZES = 5
"""Given: sizes at which the ladder is measured."""


def ladder_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """A few sizes spread over the plan's, both ends included."""
    ordered = sorted(set(sizes))
    if len(ordered) <= LADDER_SIZES:
        return tuple(ordered)
    step = (len(ordered) - 1) / (LADDER_SIZES - 1)
    return tuple(ordered[round(index * step)] for index in range(LADDER_SIZES))


def ladder(request_id: int, message_bytes: int, gap_seconds: float, stop: StopRule) -> Request:
    """PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s) for delays d around the gap, taken in turn."""
    train = train_length(message_bytes)
    delays_ns = [max(1.0, round(rung * gap_seconds * 1e9, ndigits=1)) for rung in RUNGS]
    series = (
        SeriesRequest("prtt", message_bytes),
        SeriesRequest("prtt", message_bytes, train),
        *(SeriesRequest("prtt", message_bytes, train, delay_ns) for delay_ns in delays_ns),
    )
    return Request(request_id, 0, series, stop, {"purpose": BELL})


class BellLadders:
    """A follow-up that asks once for a ladder at a few sizes, around the gap that the grid has found there.

    `stop` bounds each ladder; a size without a train in the dataset is left out.
    """

    def __init__(self, sizes: Sequence[int], stop: StopRule) -> None:
        self._sizes = ladder_sizes(sizes)
        self._stop = stop

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """The ladders, unless the dataset has some already."""
        if dataset.select(purpose=BELL).series:
            return ()
        gaps = {size: _gap_seconds(dataset, size) for size in self._sizes}
        measured_gaps = [(size, gap) for size, gap in gaps.items() if gap is not None]
        return [
            ladder(next_id + index, size, gap, self._stop)
            for index, (size, gap) in enumerate(measured_gaps)
        ]


def _gap_seconds(dataset: Dataset, message_bytes: int) -> float | None:
    """The time that one more message in a train costs, from medians; None where there is no such pair of series."""
    bare = dataset.select(pattern="prtt", message_bytes=message_bytes, delayed=False).series
    singles = [series.median for series in bare if series.train == 1]
    trains = [(series.median, series.train) for series in bare if series.train > 1]
    if not singles or not trains:
        return None
    single = float(np.median(singles))
    per_message = [(median - single) / (train - 1) for median, train in trains]
    return max(float(np.median(per_message)), LEAST_GAP_SHARE * single)
