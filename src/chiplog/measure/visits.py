"""Visiting sizes of the grid once more: which requests that takes, and what can be afforded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chiplog.dataset.operations import INLINE
from chiplog.dataset.series import Series
from chiplog.plan import GRID, PlanOptions, Request, make_plan
from chiplog.plan.assessment import LATE_RECEIVER, without_late_receiver
from chiplog.plan.request import SeriesRequest

Kind = tuple[tuple[object, ...], ...]
"""What one record measures, whenever it does."""


def kind_of(series: Sequence[Series] | Sequence[SeriesRequest]) -> Kind:
    """What a record measures, without what a transport may not have: late receivers and inline messages."""
    return tuple(
        (
            mark.pattern,
            mark.message_bytes,
            mark.train,
            _is_delayed(mark),
            mark.peers,
            mark.pairs,
            mark.operation,
        )
        for mark in series
        if mark.pattern != LATE_RECEIVER and mark.posting != INLINE
    )


def _is_delayed(mark: Series | SeriesRequest) -> bool:
    return mark.delay_seconds > 0.0 if isinstance(mark, Series) else mark.delay_ns != 0


class Visits:
    """The requests of one visit of the grid, the cheapest first."""

    def __init__(self, options: PlanOptions) -> None:
        grid = [
            request for request in make_plan(options).launches[-1] if request.tag["purpose"] == GRID
        ]
        first = [request for request in grid if request.visit == 0]
        self._requests = sorted(first, key=lambda request: request.round_bytes)

    def again(
        self,
        wanted: Callable[[Request], bool],
        grid: Sequence[Series],
        next_id: int,
        *,
        seconds: float,
        volume: float,
        most: int | None = None,
    ) -> list[Request]:
        """One more visit of what is wanted, as far as `seconds`, `volume` (bytes) and `most` (requests) reach.

        `grid` is what was measured so far; ids count from `next_id` on.
        """
        visit = 1 + max((series.visit for series in grid), default=0)
        chosen: list[Request] = []
        for request in filter(wanted, self._requests):
            if len(chosen) == most:
                break
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
        one_series.record_id
        for one_series in series
        if (one_series.pattern, one_series.message_bytes) == (mark.pattern, mark.message_bytes)
    }
    members = [one_series for one_series in series if one_series.record_id in records]
    count = max(1, len(records))
    return (
        sum(member.elapsed_seconds for member in members) / count,
        sum(member.bytes_sent for member in members) / count,
    )
