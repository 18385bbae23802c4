"""Visiting sizes again until nine tenths of them were met in one state of the machine.

A state may outlast all visits of one size and not those of its neighbour: the two are then of different machines, and
no line goes through both.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chiplog.dataset.series import Dataset, Series
from chiplog.machine_state.main_state import WANTED_MET
from chiplog.machine_state.states import states_of
from chiplog.measure.limits import NO_LIMITS, Limits
from chiplog.measure.visits import Kind, Visits, kind_of
from chiplog.plan import GRID, PlanOptions, Request
from chiplog.plan.plan import seconds_of

AT_A_TIME = 40
"""Records from one look at the states to the next: a state may pass meanwhile."""
LASTING_SHARE = 0.5
"""Of what the main state has met: a state that has met as much has lasted, and may become the main one."""
PAUSE_SECONDS = 0.2
"""Before the main state is waited for in another one."""
SECONDS = 1.0
"""For all of it where the user gave no time."""
BYTES = 40_000_000
"""At least, in addition to what the grid has left of the plan's bytes."""


@dataclass
class _Met:
    """What each state has met."""

    kinds: dict[int, set[Kind]] = field(default_factory=lambda: defaultdict(set))
    all_kinds: set[Kind] = field(default_factory=set)
    now: int = 0
    """The state of the last record."""


class Revisit:
    """A follow-up that asks for what one state has not met, while the machine is in it, or comes back to it.

    Without a time in `options` or `limits` it takes a second at most.
    """

    def __init__(
        self,
        options: PlanOptions,
        limits: Limits = NO_LIMITS,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._options = options
        self._limits = limits
        self._visits = Visits(options)
        self._pause = pause
        self._began: tuple[float, float] | None = None

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """The next visits that can be afforded; none when nine tenths have met one state."""
        grid = dataset.select(purpose=GRID).series
        seconds, volume = self._left(grid)
        met = _met(dataset.series)
        if seconds <= 0.0 or len(met.kinds[0]) >= WANTED_MET * len(met.all_kinds):
            return ()
        lasting = len(met.kinds[met.now]) >= LASTING_SHARE * len(met.kinds[0])
        if not lasting:
            self._pause(min(PAUSE_SECONDS, seconds))
        missing = met.all_kinds - met.kinds[met.now if lasting else 0]
        return self._visits.again(
            lambda request: kind_of(request.series) in missing,
            grid,
            next_id,
            seconds=seconds,
            volume=volume,
            most=AT_A_TIME,
        )

    def _left(self, grid: Sequence[Series]) -> tuple[float, float]:
        """Seconds and bytes for further visits."""
        used_seconds = sum(series.elapsed_seconds for series in grid)
        used_bytes = sum(series.bytes_sent for series in grid)
        if self._began is None:
            planned = seconds_of(self._options) - used_seconds
            if self._options.budget_seconds is None:
                planned = min(planned, SECONDS)
            self._began = (
                time.monotonic() + planned,
                used_bytes + max(self._options.budget_bytes - used_bytes, BYTES),
            )
        until, bytes_in_all = self._began
        seconds = min(until - time.monotonic(), self._limits.seconds_for_visits)
        return seconds, bytes_in_all - used_bytes


def _met(series: Sequence[Series]) -> _Met:
    """What each state has met of the grid; nothing is missing where there are no indicators."""
    state = states_of(series).of_record
    records: dict[int, list[Series]] = defaultdict(list)
    for one_series in series:
        if one_series.tag.get("purpose") == GRID:
            records[one_series.record_id].append(one_series)
    met = _Met()
    for number, record in records.items():
        if number in state:
            kind = kind_of(record)
            met.kinds[state[number]].add(kind)
            met.all_kinds.add(kind)
            met.now = state[number]
    return met
