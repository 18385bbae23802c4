"""Visiting sizes again whose delays were not longer than the gap, so that they show no overheads."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.dataset.delays import TRAINS, TrainGaps, kind_of, shows_overhead
from chiplog.dataset.series import Dataset
from chiplog.measure.limits import NO_LIMITS, Limits
from chiplog.measure.visits import Visits
from chiplog.plan import GRID, PlanOptions, Request
from chiplog.plan.plan import seconds_of
from chiplog.plan.request import SeriesRequest

MOST_VISITS = 2
"""Further visits of one size: with PRTT(2,0,s), and with PRTT(3,0,s)."""


class LongerDelays:
    """A follow-up that asks once more for every size where no delay was longer than the gap, the cheapest first.

    The delay itself is chosen when the request is made, by the trains measured until then.
    """

    def __init__(self, options: PlanOptions, limits: Limits = NO_LIMITS) -> None:
        self._options = options
        self._limits = limits
        self._visits = Visits(options)
        self._left = MOST_VISITS

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """One more visit of each such size that can be afforded; none where all delays are long enough."""
        if self._left == 0:
            return ()
        self._left -= 1
        grid = dataset.select(purpose=GRID).series
        gaps = TrainGaps(grid)
        missing: dict[tuple[str, str, int], bool] = {}
        for one_series in grid:
            gap = (
                gaps.at(kind_of(one_series))
                if one_series.pattern == TRAINS and shows_overhead(one_series)
                else None
            )
            if gap is not None:
                place = (one_series.operation, one_series.posting, one_series.message_bytes)
                is_short = not gap.is_surely_below(one_series.delay_seconds)
                missing[place] = missing.get(place, True) and is_short

        def is_missing(series: SeriesRequest) -> bool:
            return (
                series.pattern == TRAINS
                and missing.get((series.operation, series.posting, series.message_bytes), False)
                and series.delay_ns != 0
            )

        seconds_left = seconds_of(self._options) - sum(
            measured.elapsed_seconds for measured in grid
        )
        return self._visits.again(
            lambda request: any(map(is_missing, request.series)),
            grid,
            next_id,
            seconds=min(seconds_left, self._limits.seconds_for_visits),
            volume=self._options.budget_bytes - sum(measured.bytes_sent for measured in grid),
        )
