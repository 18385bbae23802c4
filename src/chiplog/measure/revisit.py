"""Visiting small sizes again where many met the machine in a slower state than others did.

A state of the machine may outlast all visits of one size and not those of its neighbour: the two are then of different
machines. Only small messages are so short that it shows, and only they are cheap enough.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from chiplog.dataset.series import Dataset, Series
from chiplog.dataset.states import SMALL_BYTES, passing_records, slowed_records
from chiplog.measure.visits import Point, Visits
from chiplog.plan import GRID, PlanOptions, Request

MOST_VISITS = 3
"""Further visits of one size, at most."""
BYTES = 40_000_000
"""For all of them, in addition to the plan's bytes."""
SECONDS = 0.5
"""For all of them, pauses not counted."""
PAUSE_SECONDS = 0.2
"""From one visit to the next: a state may pass."""


class Revisit:
    """A follow-up that asks for one more visit of every such size at a time, a moment after the one before."""

    def __init__(self, options: PlanOptions, pause: Callable[[float], object] = time.sleep) -> None:
        self._visits = Visits(options)
        self._pause = pause
        self._made = 0
        self._seconds, self._bytes = SECONDS, float(BYTES)

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """One more visit of each such size that can be afforded; none when there is none."""
        grid = [
            one
            for one in dataset.select(purpose=GRID).series
            if one.message_bytes <= SMALL_BYTES and one.reference is not None
        ]
        wanted = _unfit_points(grid)
        if not wanted or self._made == MOST_VISITS:
            return ()
        if self._made:
            self._pause(PAUSE_SECONDS)
        self._made += 1
        return self._visits.again(wanted, grid, next_id, seconds=self._seconds, volume=self._bytes)


def _unfit_points(series: Sequence[Series]) -> set[Point]:
    """The points that were measured in a placement that passed only; and those that met slower states only, unless
    most points met the fast one: then it is the run's, and the fit leaves the others out.
    """
    visits: dict[Point, set[int]] = defaultdict(set)
    members: dict[Point, list[Series]] = defaultdict(list)
    for one in series:
        visits[one.pattern, one.message_bytes].add(one.record_id)
        members[one.pattern, one.message_bytes].append(one)
    passing = passing_records(members.values())
    slowed = slowed_records(one for one in series if one.record_id not in passing)
    passed = {point for point, records in visits.items() if records <= passing}
    slow = {point for point, records in visits.items() if records <= passing | slowed}
    return passed if 2 * len(slow - passed) < len(visits) else slow
