"""Visiting sizes of the grid once more: which requests that takes, and what can be afforded."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from chiplog.dataset.series import Series
from chiplog.plan import GRID, PlanOptions, Request, make_plan
from chiplog.plan.assessment import without_late_receiver

Point = tuple[str, int]
"""Pattern and message size in bytes."""


class Visits:
    """The requests of one visit of the grid, the cheapest first."""

    def __init__(self, options: PlanOptions) -> None:
        grid = [one for one in make_plan(options).launches[-1] if one.tag["purpose"] == GRID]
        first = [one for one in grid if one.visit == 0]
        self._requests = sorted(first, key=lambda one: one.round_bytes)

    def again(
        self,
        wanted: Set[Point],
        grid: Sequence[Series],
        next_id: int,
        *,
        seconds: float,
        volume: float,
    ) -> list[Request]:
        """One more visit of the wanted points, as far as `seconds` and `volume` (bytes) reach.

        `grid` is what was measured so far; ids count from `next_id` on.
        """
        visit = 1 + max((one.visit for one in grid), default=0)
        chosen: list[Request] = []
        for request in self._requests:
            if not wanted & {(one.pattern, one.message_bytes) for one in request.series}:
                continue
            takes_seconds, takes_bytes = _cost_before(grid, request)
            if takes_seconds <= seconds and takes_bytes <= volume:
                chosen.append(replace(request, id=next_id + len(chosen), visit=visit))
                seconds -= takes_seconds
                volume -= takes_bytes
        return chosen


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
