"""Visiting again the sizes whose medians are not known well enough, as far as the plan's time and bytes reach.

So are sizes that met the machine in a slower state only: their medians may be known well, but are another machine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chiplog.dataset.series import Dataset, Series
from chiplog.dataset.states import slowed_records
from chiplog.measure.precision import imprecise_points
from chiplog.plan import GRID, PlanOptions, Request, make_plan
from chiplog.plan.assessment import without_late_receiver
from chiplog.plan.plan import seconds_of

MOST_VISITS = 3
"""Further visits of one size, at most."""


class TopUp:
    """A follow-up that asks for one more visit of every such size at a time, the cheapest first."""

    def __init__(self, options: PlanOptions) -> None:
        self._options = options
        grid = [one for one in make_plan(options).launches[-1] if one.tag["purpose"] == GRID]
        self._grid = [one for one in grid if one.visit == 0]
        self._visit = options.visits

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """One more visit of each such size that can be afforded; none when there is none."""
        if self._visit >= self._options.visits + MOST_VISITS:
            return ()
        chosen = self._affordable(dataset)
        visit, self._visit = self._visit, self._visit + 1
        return [
            replace(request, id=next_id + index, visit=visit)
            for index, request in enumerate(chosen)
        ]

    def _affordable(self, dataset: Dataset) -> list[Request]:
        grid = dataset.select(purpose=GRID).series
        wanted = {
            (point.pattern, point.message_bytes)
            for point in imprecise_points(grid, self._options.relative_half_width)
        } | _slowed_points(grid)
        seconds_left = seconds_of(self._options) - sum(one.elapsed_seconds for one in grid)
        bytes_left = float(self._options.budget_bytes) - sum(one.bytes_sent for one in grid)
        chosen = []
        for request in sorted(self._grid, key=lambda one: one.round_bytes):
            asked = {(one.pattern, one.message_bytes) for one in request.series}
            if not asked & wanted:
                continue
            seconds, volume = _cost_before(grid, request)
            if seconds <= seconds_left and volume <= bytes_left:
                chosen.append(request)
                seconds_left -= seconds
                bytes_left -= volume
        return chosen


def _slowed_points(series: Sequence[Series]) -> set[tuple[str, int]]:
    """Pattern and size of the points that were only measured in a slower state of the machine."""
    slowed = slowed_records(series)
    seen: dict[tuple[str, int], bool] = {}
    for one in series:
        point = (one.pattern, one.message_bytes)
        seen[point] = seen.get(point, True) and one.record_id in slowed
    return {point for point, always in seen.items() if always}


def _cost_before(series: Sequence[Series], request: Request) -> tuple[float, float]:
    """Seconds and bytes that this request's size has taken, a visit on average."""
    mark = without_late_receiver(request).series[-1]
    records = {
        one.record_id
        for one in series
        if (one.pattern, one.message_bytes) == (mark.pattern, mark.message_bytes)
    }
    members = [one for one in series if one.record_id in records]
    count = max(1, len(records))
    return (
        sum(one.elapsed_seconds for one in members) / count,
        sum(one.bytes_sent for one in members) / count,
    )
