"""Visiting again the sizes whose medians are not known well enough, as far as the plan's time and bytes reach."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.dataset.series import Dataset
from chiplog.measure.limits import NO_LIMITS, Limits
from chiplog.measure.precision import imprecise_points
from chiplog.measure.visits import Visits
from chiplog.plan import GRID, PlanOptions, Request
from chiplog.plan.plan import seconds_of

MOST_VISITS = 3
"""Further visits of one size, at most."""


class TopUp:
    """A follow-up that asks for one more visit of every imprecise size at a time, the cheapest first."""

    def __init__(self, options: PlanOptions, limits: Limits = NO_LIMITS) -> None:
        self._options = options
        self._limits = limits
        self._visits = Visits(options)
        self._left = MOST_VISITS

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """One more visit of each imprecise size that can be afforded; none when all are precise."""
        if self._left == 0:
            return ()
        self._left -= 1
        grid = dataset.select(purpose=GRID).series
        wanted = {
            (point.pattern, point.message_bytes)
            for point in imprecise_points(grid, self._options.relative_half_width)
        }
        seconds_left = seconds_of(self._options) - sum(series.elapsed_seconds for series in grid)
        return self._visits.again(
            lambda request: any(
                (series.pattern, series.message_bytes) in wanted for series in request.series
            ),
            grid,
            next_id,
            seconds=min(seconds_left, self._limits.seconds_for_visits),
            volume=self._options.budget_bytes - sum(series.bytes_sent for series in grid),
        )
