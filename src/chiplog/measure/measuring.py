"""Measuring a plan: every record goes to the run file before anything else is done with it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from chiplog.dataset.run_file import RunWriter, refuse_existing
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import PrecisionNotMet, RunFailed, UsageError
from chiplog.measure.deadline import OutOfTime, deadline
from chiplog.measure.groups import between_groups, is_distinct, with_notes
from chiplog.measure.interrupt import InterruptGuard
from chiplog.measure.limits import NO_LIMITS, Limits
from chiplog.measure.progress import Silent, Watcher
from chiplog.measure.session import Session
from chiplog.plan import GRID, Plan, PlanOptions, Request, make_plan
from chiplog.plan.assessment import within_inline_limit, without_late_receiver
from chiplog.plan.cost import nominal_of, predict
from chiplog.plan.delays import DelayChoice
from chiplog.plan.units import format_bytes

if TYPE_CHECKING:
    from chiplog.measure.precision import Imprecise


LATER_SHARE = 0.2
"""Of the plan's time, what follow-ups add by experience: 0.1 to 0.4."""


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

Launch = Callable[[int], Session]
"""Starts the probe for the launch of that number."""


def nothing_more(options: PlanOptions) -> Sequence[FollowUp]:
    """No follow-ups: the plan is all."""
    return ()


@dataclass(frozen=True)
class MeasuredRun:
    """What a run brought."""

    path: Path
    records: int
    elapsed_seconds: float
    find_imprecise: Callable[[], tuple[Imprecise, ...]] = field(repr=False, compare=False)
    unreached_sizes: tuple[int, ...] = ()
    """Message sizes in bytes that the time did not suffice for: `--resume` measures them."""

    @cached_property
    def imprecise(self) -> tuple[Imprecise, ...]:
        """The points that did not reach the asked precision: found when asked for, since that loads NumPy."""
        return self.find_imprecise()

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
            missed = f"; {_sizes(len(sizes))} did not reach the asked precision"
        if self.unreached_sizes:
            missed += f"; time did not suffice for {_sizes(len(self.unreached_sizes))}, which --resume measures"
        return (
            f"{self.records} records in {self.elapsed_seconds:.1f} s, kept in {self.path}{missed}."
        )


def _sizes(count: int) -> str:
    return "1 size" if count == 1 else f"{count} sizes"


def measure(
    target: str,
    options: PlanOptions,
    out: str | os.PathLike[str],
    launch: Launch,
    *,
    resume: bool = False,
    strict: bool = False,
    follow_ups: FollowUps = nothing_more,
    watcher: Watcher | None = None,
    limits: Limits = NO_LIMITS,
) -> MeasuredRun:
    """Measure the plan that `options` make and write the run file `out`.

    With `resume`, exactly the points missing in `out` are measured, by the plan that it was begun with. Follow-ups
    are asked after the last launch's plan, while its ranks are up. When the time of `limits` is over, what is left of
    the plan is not measured; a size that was not reached leaves the run incomplete.

    Raises UsageError where `out` exists (or, with `resume`, is another target's), RunFailed where a peer or the disk
    is lost, KeyboardInterrupt when interrupted, PrecisionNotMet with `strict`; all finished records are kept.
    """
    began = time.monotonic()
    run: _GrowingRunFile | None = None
    try:
        # The guard within the deadline: it lets the deadline's signal through where it does no harm.
        with deadline(limits.stop), InterruptGuard() as guard:
            run = _GrowingRunFile(
                target, options, Path(out), launch, guard, watcher or Silent(), limits
            )
            run.begin(resume=resume)
            run.measure(follow_ups)
    except OutOfTime:
        if time.monotonic() < limits.stop:
            raise  # another deadline, which is not about measuring alone
        if run is None:
            raise _nothing_measured(options) from None
        run.stopped()
    measured = MeasuredRun(
        Path(out),
        run.records,
        time.monotonic() - began,
        run.imprecise,
        tuple(sorted(run.unreached_sizes)),
    )
    if strict and measured.imprecise:
        raise PrecisionNotMet(_not_met(measured.imprecise, run.options.relative_half_width))
    return measured


def _nothing_measured(options: PlanOptions) -> RunFailed:
    return RunFailed(
        f"the budget of {options.budget_seconds:g} s was over before a point was measured: give it more of --budget."
    )


def _not_met(points: Sequence[Imprecise], wanted: float) -> str:
    worst = max(points, key=lambda point: point.relative_half_width)
    return (
        f"--strict: {len(points)} points did not reach the relative half width {wanted:g}; worst is {worst.pattern} "
        f"at {format_bytes(worst.message_bytes)} with {worst.relative_half_width:.2g}: "
        "allow more time with --budget, more --visits, or a wider --precision."
    )


class _GrowingRunFile:
    """One run file while it grows."""

    def __init__(
        self,
        target: str,
        options: PlanOptions,
        out: Path,
        launch: Launch,
        guard: InterruptGuard,
        watcher: Watcher,
        limits: Limits,
    ) -> None:
        self.target = target
        self.options = options
        self.out = out
        self.launch = launch
        self.guard = guard
        self.watcher = watcher
        self.limits = limits
        self.writer: RunWriter | None = None
        self.header: dict[str, Any] = {}
        self.series: list[Series] = []
        self.delays = DelayChoice()
        self.changes: Mapping[str, object] | None = None
        self.unreached_sizes: set[int] = set()
        self.first_start = True

    @property
    def records(self) -> int:
        return self.writer.records if self.writer else 0

    def begin(self, *, resume: bool) -> None:
        """Open the file that is there, or make sure that there is none."""
        if not resume:
            refuse_existing(self.out)
            return
        self.writer = RunWriter.resume(self.out)
        kept = self.writer.kept
        assert kept is not None
        self.series = list(kept.series)
        self.delays = DelayChoice(self.series)
        self.header = dict(kept.header)
        stored = self.header.get("plan")
        if self.header["target"] != self.target:
            self.writer.close()
            raise UsageError(
                f"--resume: {self.out} was measured on {self.header['target']}, not on {self.target}."
            )
        if isinstance(stored, dict):
            self.options = PlanOptions.from_json(stored, str(self.out))

    def measure(self, follow_ups: FollowUps) -> None:
        """All launches in turn, those without a missing point left out; the last one stays for the follow-ups."""
        if self.writer is not None and self.writer.complete:
            self.writer.close()
            return
        plan = make_plan(self.options)
        finished = self.writer.finished if self.writer else frozenset()
        todo = [[r for r in requests if r.id not in finished] for requests in plan.launches]
        nominal = nominal_of(self.options.transport)
        self.watcher.expect(*(predict(r, nominal).seconds for launch in todo for r in launch))
        self._tell_end(LATER_SHARE)
        try:
            for number, requests in enumerate(todo):
                if not is_distinct(number, self.options, self.header):
                    continue
                if requests or number == self._last(plan):
                    is_last = self._launch(number, requests, plan, follow_ups)
                    if is_last:
                        break
        except BaseException as error:
            if self.writer is not None:
                self.writer.__exit__(type(error), error, error.__traceback__)
                if isinstance(error, UsageError) and not self.records:
                    self.out.unlink(missing_ok=True)  # refused at once: nothing was measured
            raise
        assert self.writer is not None
        done = not self.unreached_sizes
        reason = "done" if done else "time did not suffice for all sizes"
        self.writer.finish(complete=done, reason=reason, changes=self.changes)

    def stopped(self) -> None:
        """Names what is missing after a deadline; RunFailed where that is everything."""
        if not self.records:
            raise _nothing_measured(self.options)
        reached = {series.message_bytes for series in self.series}
        self.unreached_sizes.update(size for size in self.options.sizes if size not in reached)

    def _launch(
        self, number: int, requests: Sequence[Request], plan: Plan, follow_ups: FollowUps
    ) -> bool:
        """Measures one launch, and the follow-ups in the last one, for which there is time; whether this was it."""
        until = self._end_of_launch(number, plan)
        began = time.monotonic()
        with self.guard.waiting():
            session = self.launch(self._label(number)).__enter__()
        if self.first_start:
            self.first_start = False
            self.limits = self.limits.after_start(time.monotonic() - began)
            until = self._end_of_launch(number, plan)
            self._tell_end(LATER_SHARE)
        try:
            if self.writer is None:
                self.header = with_notes(session.header, self.options)
                self.writer = RunWriter.create(self.out, self.header)
            self._visit(session, requests, number, until)
            is_last = number == self._last(plan) or self.limits.seconds_for_visits <= 0.0
            if is_last and self.limits.has_time_for_more:
                self._tell_end(0.0)
                for follow_up in follow_ups(self.options):
                    self._follow(session, follow_up, plan)
        except BaseException as error:
            session.__exit__(type(error), error, error.__traceback__)
            raise
        session.__exit__(None, None, None)
        return is_last

    def _end_of_launch(self, number: int, plan: Plan) -> float:
        """Until when a launch may visit sizes more than once: all have equal shares of the time."""
        now = time.monotonic()
        return now + self.limits.seconds_for_visits / (len(plan.launches) - number)

    def _visit(
        self, session: Session, requests: Sequence[Request], launch: int, until: float
    ) -> None:
        """Takes the requests of one launch, those after its first visit until its share of the time is over.

        The first visit of the first launch is taken as long as there is any time: a run has each point at least once
        if it can, and one point in any case.
        """
        for request in requests:
            if launch == 0 and request.visit == 0:
                is_over = self.limits.is_past_last and bool(self.records)
                if is_over:
                    self.unreached_sizes.update(series.message_bytes for series in request.series)
            elif request.visit == 0:
                is_over = self.limits.seconds_for_visits <= 0.0
            else:
                is_over = time.monotonic() >= until
            if not is_over:
                self._record(session, request)

    def _last(self, plan: Plan) -> int:
        """The launch after which follow-ups are asked."""
        numbers = range(len(plan.launches))
        return max(number for number in numbers if is_distinct(number, self.options, self.header))

    def _label(self, number: int) -> int:
        """The number of this start of the ranks: a resumed launch is another one, of the same placement."""
        used = {series.launch for series in self.series}
        while number in used:
            number += len(self.options.placements)
        return number

    def _follow(self, session: Session, follow_up: FollowUp, plan: Plan) -> None:
        nominal = nominal_of(self.options.transport)
        planned = {request.id for request in plan.requests}
        while True:
            assert self.writer is not None
            next_id = max(planned | self.writer.finished) + 1
            requests = follow_up.requests(self.dataset(), next_id)
            if not requests or self.limits.is_over:
                if isinstance(follow_up, Decider):
                    self.changes = follow_up.changes() or self.changes
                return
            self.watcher.expect(*(predict(request, nominal).seconds for request in requests))
            for request in requests:
                if not self.limits.is_over:
                    self._record(session, request)

    def _record(self, session: Session, request: Request) -> None:
        assert self.writer is not None
        if not self._capabilities.get("synchronises"):
            request = without_late_receiver(request)
        request = within_inline_limit(request, self._capabilities.get("max_inline_bytes") or 0)
        request = between_groups(request, self.header, every=self.options.every_two_nodes)
        request = self.delays.applied(request)
        began = time.monotonic()
        with self.guard.waiting():
            line = session.measure(request)
        series = self.writer.append_raw(line)
        self.series += series
        self.delays.learn(series)
        self.watcher.measured(series)
        seconds = predict(request, nominal_of(self.options.transport)).seconds
        size = format_bytes(request.series[0].message_bytes)
        self.watcher.done(seconds, size, time.monotonic() - began)

    def _tell_end(self, later_share: float) -> None:
        """Tells the watcher until when this may go on, and what share of the plan's time follow-ups may add."""
        self.watcher.ends_by(self.limits.end, later_share)

    @property
    def _capabilities(self) -> dict[str, Any]:
        capabilities = self.header.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    def dataset(self) -> Dataset:
        """All that is in the file so far."""
        return Dataset(self.header, tuple(self.series), False, str(self.out))

    def imprecise(self) -> tuple[Imprecise, ...]:
        from chiplog.measure.precision import imprecise_points

        grid = [series for series in self.series if series.tag.get("purpose") == GRID]
        clock = self.header.get("clock")
        resolution_ns = clock.get("resolution_ns") if isinstance(clock, dict) else 0.0
        return imprecise_points(
            grid, self.options.relative_half_width, (resolution_ns or 0.0) * 1e-9
        )
