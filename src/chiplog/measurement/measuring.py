"""Measuring a plan, and what is asked for once it is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from chiplog.counts import counted
from chiplog.dataset.series import Dataset
from chiplog.errors import PrecisionNotMet, RunFailed
from chiplog.measurement.groups import between_groups, is_distinct, with_notes
from chiplog.measurement.recorder import NO_CONDITIONS, RunConditions, RunRecorder
from chiplog.measurement.session import Launch, Session
from chiplog.measurement.time_budget import OutOfTime, deadline
from chiplog.plan import GRID, Plan, PlanOptions, Request, make_plan
from chiplog.plan.assessment import within_inline_limit, without_late_receiver
from chiplog.plan.cost import nominal_of, predict
from chiplog.plan.delays import DelayChoice
from chiplog.plan.units import format_bytes

if TYPE_CHECKING:
    from chiplog.measurement.precision import Imprecise


LATER_SHARE = 0.2
"""Given: of the plan's time, what follow-ups add by experience: 0.1 to 0.4."""


class FollowUp(Protocol):
    """Decides, from what was measured so far, what else to measure while the ranks stay up."""

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """The next requests, with ids from `next_id` on; none when there is nothing left to find out."""


@runtime_checkable
class Decider(Protocol):
    """A follow-up that comes to a decision about protocol changes."""

    def changes(self) -> Mapping[str, object] | None:
        """What it decided (chiplog.changes/1), for the run's footer; None where it was not asked."""


FollowUps = Callable[[PlanOptions], Sequence[FollowUp]]
"""The follow-ups of a plan, in the order in which they are asked; called when the plan is measured."""


def nothing_more(options: PlanOptions) -> Sequence[FollowUp]:
    """No follow-ups: the plan is all."""
    return ()


@dataclass(frozen=True)
class MeasuredRun:
    """What a run brought."""

    path: Path
    records: int
    elapsed_seconds: float
    wanted_half_width: float = field(repr=False, compare=False)
    find_imprecise: Callable[[], tuple[Imprecise, ...]] = field(repr=False, compare=False)
    unreached_sizes: tuple[int, ...] = ()
    """Message sizes in bytes that the time did not suffice for: `--resume` measures them."""

    @cached_property
    def imprecise(self) -> tuple[Imprecise, ...]:
        """The points that did not reach the asked precision: found when asked for, since that loads NumPy."""
        return self.find_imprecise()

    def require_precision(self) -> None:
        """Raises PrecisionNotMet where a point did not reach the asked precision."""
        if self.imprecise:
            raise PrecisionNotMet(_not_met(self.imprecise, self.wanted_half_width))

    def to_json(self) -> dict[str, Any]:
        """The result for scripts; a half width that is not known is null."""
        return {
            "schema": "chiplog.measured/1",
            "run": str(self.path),
            "records": self.records,
            "elapsed_seconds": self.elapsed_seconds,
            "imprecise": [
                {
                    "pattern": point.pattern,
                    "message_bytes": point.message_bytes,
                    "relative_half_width": point.known_half_width,
                }
                for point in self.imprecise
            ],
            "unreached_sizes": list(self.unreached_sizes),
        }

    def sentence(self) -> str:
        """The result in one sentence."""
        missed = ""
        if self.imprecise:
            sizes = {point.message_bytes for point in self.imprecise}
            missed = f"; {counted(len(sizes), 'size')} did not reach the asked precision"
        if self.unreached_sizes:
            unreached = counted(len(self.unreached_sizes), "size")
            missed += f"; time did not suffice for {unreached}, which --resume measures"
        return f"{counted(self.records, 'record')} in {self.elapsed_seconds:.1f} s, kept in {self.path}{missed}."


def measure(
    target: str,
    options: PlanOptions,
    out: str | os.PathLike[str],
    launch: Launch,
    *,
    conditions: RunConditions = NO_CONDITIONS,
    follow_ups: FollowUps = nothing_more,
) -> MeasuredRun:
    """Measure the plan that `options` make and write the run file `out`.

    Follow-ups are asked after the last launch's plan, while its ranks are up. When the time of the limits is over, what
    is left of the plan is not measured; a size that was not reached leaves the run incomplete.

    Raises UsageError where `out` exists (or, to resume, is another target's), RunFailed where a peer or the disk is
    lost, KeyboardInterrupt when interrupted; all finished records are kept.
    """
    began = time.monotonic()
    recorder = RunRecorder(target, Path(out), launch, conditions)
    run = _PlanRun(recorder, options)
    try:
        # The guard within the deadline: it lets the deadline's signal through where it does no harm.
        with deadline(conditions.limits.stop), recorder:
            recorder.begin(run.read_plan)
            run.measure(follow_ups)
    except OutOfTime:
        if time.monotonic() < conditions.limits.stop:
            raise  # another deadline, which is not about measuring alone
        run.stopped()
    return MeasuredRun(
        Path(out),
        recorder.records,
        time.monotonic() - began,
        run.options.relative_half_width,
        run.imprecise,
        tuple(sorted(run.unreached_sizes)),
    )


def _not_met(points: Sequence[Imprecise], wanted: float) -> str:
    worst = max(points, key=lambda point: point.relative_half_width)
    missed = counted(len(points), "point")
    return (
        f"--strict: {missed} did not reach the relative half width {wanted:g}; worst is {worst.pattern} "
        f"at {format_bytes(worst.message_bytes)} with {worst.relative_half_width:.2g}: "
        "allow more time with --budget, more --visits, or a wider --precision."
    )


@dataclass
class _PlanRun:
    """A plan while it is measured."""

    recorder: RunRecorder
    options: PlanOptions
    delays: DelayChoice = field(default_factory=DelayChoice)
    changes: Mapping[str, object] | None = None
    unreached_sizes: set[int] = field(default_factory=set)

    def read_plan(self, stored: object) -> None:
        """Goes on with the plan that a file was begun with."""
        self.delays = DelayChoice(self.recorder.series)
        if isinstance(stored, dict):
            self.options = PlanOptions.from_json(stored, str(self.recorder.out))

    def measure(self, follow_ups: FollowUps) -> None:
        """All launches in turn, those without a missing point left out; the last one stays for the follow-ups."""
        recorder = self.recorder
        if recorder.is_complete:
            return
        plan = make_plan(self.options)
        todo = [
            [r for r in requests if r.id not in recorder.finished] for requests in plan.launches
        ]
        nominal = nominal_of(self.options.transport)
        recorder.watcher.expect(*(predict(r, nominal).seconds for launch in todo for r in launch))
        self._tell_end(LATER_SHARE)
        with recorder.recording():
            for number, requests in enumerate(todo):
                if not is_distinct(number, self.options, recorder.header):
                    continue
                if requests or number == self._last(plan):
                    is_last = self._launch(number, requests, plan, follow_ups)
                    if is_last:
                        break
        recorder.finish(unreached="sizes" if self.unreached_sizes else None, changes=self.changes)

    def stopped(self) -> None:
        """Names what is missing after a deadline; RunFailed where that is everything."""
        if not self.recorder.records:
            raise RunFailed(
                f"the budget of {self.options.budget_seconds:g} s was over before a point was measured: give it more "
                "of --budget."
            )
        reached = {series.message_bytes for series in self.recorder.series}
        self.unreached_sizes.update(size for size in self.options.sizes if size not in reached)

    def _launch(
        self, number: int, requests: Sequence[Request], plan: Plan, follow_ups: FollowUps
    ) -> bool:
        """Measures one launch, and the follow-ups in the last one, for which there is time; whether this was it."""
        recorder = self.recorder
        until, is_first_start = self._end_of_launch(number, plan), not recorder.has_started
        with recorder.ranks(self._label(number)) as session:
            if is_first_start:
                until = self._end_of_launch(number, plan)
                self._tell_end(LATER_SHARE)
            if not recorder.has_file:
                recorder.create(with_notes(session.header, self.options))
            self._visit(session, requests, number, until)
            is_last = number == self._last(plan) or recorder.limits.seconds_for_visits <= 0.0
            if is_last and recorder.limits.has_time_for_more:
                self._tell_end(0.0)
                for follow_up in follow_ups(self.options):
                    self._follow(session, follow_up, plan)
        return is_last

    def _end_of_launch(self, number: int, plan: Plan) -> float:
        """Until when a launch may visit sizes more than once: all have equal shares of the time."""
        now = time.monotonic()
        return now + self.recorder.limits.seconds_for_visits / (len(plan.launches) - number)

    def _visit(
        self, session: Session, requests: Sequence[Request], launch: int, until: float
    ) -> None:
        """Takes the requests of one launch, those after its first visit until its share of the time is over.

        The first visit of the first launch is taken as long as there is any time: a run has each point at least once
        if it can, and one point in any case.
        """
        for request in requests:
            if launch == 0 and request.visit == 0:
                is_over = self.recorder.limits.is_past_last and bool(self.recorder.records)
                if is_over:
                    self.unreached_sizes.update(series.message_bytes for series in request.series)
            elif request.visit == 0:
                is_over = self.recorder.limits.seconds_for_visits <= 0.0
            else:
                is_over = time.monotonic() >= until
            if not is_over:
                self._record(session, request)

    def _last(self, plan: Plan) -> int:
        """The launch after which follow-ups are asked."""
        numbers = range(len(plan.launches))
        return max(
            number for number in numbers if is_distinct(number, self.options, self.recorder.header)
        )

    def _label(self, number: int) -> int:
        """The number of this start of the ranks: a resumed launch is another one, of the same placement."""
        used = {series.launch for series in self.recorder.series}
        while number in used:
            number += len(self.options.placements)
        return number

    def _follow(self, session: Session, follow_up: FollowUp, plan: Plan) -> None:
        nominal = nominal_of(self.options.transport)
        planned = {request.id for request in plan.requests}
        while True:
            next_id = max(planned | self.recorder.finished) + 1
            requests = follow_up.requests(self.recorder.dataset(), next_id)
            if not requests or self.recorder.limits.is_over:
                if isinstance(follow_up, Decider):
                    self.changes = follow_up.changes() or self.changes
                return
            self.recorder.watcher.expect(
                *(predict(request, nominal).seconds for request in requests)
            )
            for request in requests:
                if not self.recorder.limits.is_over:
                    self._record(session, request)

    def _record(self, session: Session, request: Request) -> None:
        if not self._capabilities.get("synchronises"):
            request = without_late_receiver(request)
        request = within_inline_limit(request, self._capabilities.get("max_inline_bytes") or 0)
        request = between_groups(request, self.recorder.header, every=self.options.every_two_nodes)
        request = self.delays.applied(request)
        began = time.monotonic()
        series = self.recorder.record(partial(session.measure, request))
        self.delays.learn(series)
        self.recorder.watcher.measured(series)
        seconds = predict(request, nominal_of(self.options.transport)).seconds
        size = format_bytes(request.series[0].message_bytes)
        self.recorder.watcher.done(seconds, size, time.monotonic() - began)

    def _tell_end(self, later_share: float) -> None:
        """Tells the watcher until when this may go on, and what share of the plan's time follow-ups may add."""
        self.recorder.watcher.ends_by(self.recorder.limits.end, later_share)

    @property
    def _capabilities(self) -> dict[str, Any]:
        capabilities = self.recorder.header.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    def imprecise(self) -> tuple[Imprecise, ...]:
        from chiplog.measurement.precision import imprecise_points

        grid = [series for series in self.recorder.series if series.tag.get("purpose") == GRID]
        clock = self.recorder.header.get("clock")
        resolution_ns = clock.get("resolution_ns") if isinstance(clock, dict) else 0.0
        return imprecise_points(
            grid, self.options.relative_half_width, (resolution_ns or 0.0) * 1e-9
        )
