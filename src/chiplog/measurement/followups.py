"""Follow-ups that visit sizes of the grid once more: which requests that takes, and what can be afforded."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from chiplog.dataset.delays import TRAINS, TrainGaps, kind_of, shows_overhead
from chiplog.dataset.operations import INLINE
from chiplog.dataset.series import Dataset, Series
from chiplog.machine_state.states import WANTED_MET, states_of
from chiplog.measurement.precision import imprecise_points
from chiplog.measurement.time_budget import NO_LIMITS, Limits
from chiplog.plan import GRID, PlanOptions, Request, make_plan
from chiplog.plan.assessment import LATE_RECEIVER, without_late_receiver
from chiplog.plan.plan import seconds_of
from chiplog.plan.request import SeriesRequest

AT_A_TIME = 40
"""Given: records from one look at the states to the next: a state may pass meanwhile."""
LASTING_SHARE = 0.5
"""Given: of what the main state has met: a state that has met as much has lasted, and may become the main one."""
PAUSE_SECONDS = 0.2
"""Given: how long is waited for the main state in another one."""
SECONDS = 1.0
"""Given: for all of it where the user gave no time."""
BYTES = 40_000_000
"""Given: at least, in addition to what the grid has left of the plan's bytes."""
Kind = tuple[tuple[object, ...], ...]
"""What one record measures, whenever it does."""


def measured_kind(series: Sequence[Series] | Sequence[SeriesRequest]) -> Kind:
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
    ) -> list[Request]:
        """One more visit of what is wanted, as far as `seconds` and `volume` (bytes) reach.

        `grid` is what was measured so far; ids count from `next_id` on.
        """
        visit = 1 + max((series.visit for series in grid), default=0)
        chosen: list[Request] = []
        for request in filter(wanted, self._requests):
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


class _FurtherVisits:
    """A follow-up that asks for one more visit at a time of the sizes that lack something, the cheapest first."""

    most_visits: int
    """Further visits of one size, at most."""

    def __init__(self, options: PlanOptions, limits: Limits = NO_LIMITS) -> None:
        self._options = options
        self._limits = limits
        self._visits = Visits(options)
        self._left = self.most_visits

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """One more visit of each such size that can be afforded; none where no size lacks anything."""
        if self._left == 0:
            return ()
        self._left -= 1
        grid = dataset.select(purpose=GRID).series
        seconds_left = seconds_of(self._options) - sum(series.elapsed_seconds for series in grid)
        is_lacking = self._lacking(grid)
        return self._visits.again(
            lambda request: any(map(is_lacking, request.series)),
            grid,
            next_id,
            seconds=min(seconds_left, self._limits.seconds_for_visits),
            volume=self._options.budget_bytes - sum(series.bytes_sent for series in grid),
        )

    def _lacking(self, grid: Sequence[Series]) -> Callable[[SeriesRequest], bool]:
        """Which series lack it, by what was measured so far."""
        raise NotImplementedError


class TopUp(_FurtherVisits):
    """Asks for the sizes whose medians are not known well enough."""

    most_visits = 3  # Given

    def _lacking(self, grid: Sequence[Series]) -> Callable[[SeriesRequest], bool]:
        wanted = {
            (point.pattern, point.message_bytes)
            for point in imprecise_points(grid, self._options.relative_half_width)
        }
        return lambda series: (series.pattern, series.message_bytes) in wanted


class LongerDelays(_FurtherVisits):
    """Asks for the sizes where no delay was longer than the gap, so that they show no overheads.

    The delay itself is chosen when the request is made, by the trains measured until then.
    """

    most_visits = 2
    """Derived: with PRTT(2,0,s), and with PRTT(3,0,s)."""

    def _lacking(self, grid: Sequence[Series]) -> Callable[[SeriesRequest], bool]:
        gaps = TrainGaps(grid)
        missing: dict[tuple[str, str, int], bool] = {}
        for series in grid:
            is_shown = series.pattern == TRAINS and shows_overhead(series)
            gap = gaps.at(kind_of(series)) if is_shown else None
            if gap is not None:
                place = (series.operation, series.posting, series.message_bytes)
                is_short = not gap.is_surely_below(series.delay_seconds)
                missing[place] = missing.get(place, True) and is_short
        return lambda series: (
            series.pattern == TRAINS
            and missing.get((series.operation, series.posting, series.message_bytes), False)
            and series.delay_ns != 0
        )


@dataclass
class _Met:
    """What each state has met."""

    kinds: dict[int, set[Kind]] = field(default_factory=lambda: defaultdict(set))
    all_kinds: set[Kind] = field(default_factory=set)
    now: int = 0
    """Given where no record has one: the state of the last record."""


class Revisit:
    """A follow-up that asks for what one state has not met, while the machine is in it, or comes back to it.

    It ends once nine tenths of the sizes were met in one state. A state may outlast all visits of one size and not
    those of its neighbour: the two are then of different machines, and no line goes through both.

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
        affordable = self._visits.again(
            lambda request: measured_kind(request.series) in missing,
            grid,
            next_id,
            seconds=seconds,
            volume=volume,
        )
        return affordable[:AT_A_TIME]

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
            kind = measured_kind(record)
            met.kinds[state[number]].add(kind)
            met.all_kinds.add(kind)
            met.now = state[number]
    return met
