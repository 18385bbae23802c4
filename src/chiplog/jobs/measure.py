"""`chiplog measure` as a function: plan, measure, and measure again around each protocol change."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from chiplog.measurement.measuring import Decider, FollowUp, MeasuredRun
from chiplog.measurement.measuring import measure as measure_plan
from chiplog.measurement.progress import ProgressBar
from chiplog.measurement.recorder import RunConditions
from chiplog.measurement.start import Start, launch_of, transport_of
from chiplog.measurement.time_budget import NO_LIMITS, Limits, latest_end, slowness, within
from chiplog.plan import PlanOptions
from chiplog.plan.plan import MAX_SAMPLES, MIN_SAMPLES
from chiplog.plan.request import Request, SeriesRequest, StopRule

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset

SIMULATED = "sim"
FORKED = Start()
LADDER_BUDGET_NS, LADDER_SAMPLES = 100_000_000, 60
"""Given: what one step of a ladder may cost, of which Bell's method needs a median only."""


@dataclass(frozen=True)
class InOneWay:
    """A follow-up whose questions are asked of one operation with one posting."""

    follow_up: FollowUp
    operation: str
    posting: str

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """Its next requests."""
        return [
            replace(request, series=tuple(map(self._in_this_way, request.series)))
            for request in self.follow_up.requests(dataset, next_id)
        ]

    def changes(self) -> Mapping[str, object] | None:
        """Its decisions, with the operation and posting that they are about."""
        decided = self.follow_up.changes() if isinstance(self.follow_up, Decider) else None
        way = {"operation": self.operation, "posting": self.posting}
        return None if decided is None else {**decided, **way}

    def _in_this_way(self, series: SeriesRequest) -> SeriesRequest:
        return replace(series, operation=self.operation, posting=self.posting)


def measure(
    target: str,
    out: str | os.PathLike[str],
    options: PlanOptions,
    *,
    start: Start = FORKED,
    refine: bool = True,
    resume: bool = False,
    limits: Limits | None = None,
    progress: ProgressBar | None = None,
) -> MeasuredRun:
    """Measure `target` by the plan that `options` make and write the run file `out`.

    Without `limits`, the budget of `options` bounds everything, as of a command that begins now (`budget_limits`).
    `refine` asks for more points around each protocol change until its size is known to the byte. `progress` shows what
    happens meanwhile, by default a bar. See `chiplog.measurement.measuring.measure` for `resume` and what is raised,
    and `chiplog.measurement.start` for how the ranks are started.
    """
    if limits is None:
        limits = budget_limits(target, options.budget_seconds, time.monotonic())
    launch = launch_of(
        target,
        options.ranks,
        start,
        seed=options.seed,
        placements=options.placements,
        meanwhile=partial(follow_ups, options, refine=refine, limits=limits),
    )
    with progress or ProgressBar(target) as watcher:
        return measure_plan(
            target,
            options,
            out,
            launch,
            conditions=RunConditions(resume, watcher, limits),
            follow_ups=partial(follow_ups, refine=refine, limits=limits),
        )


def budget_limits(target: str, budget: float | None, began: float) -> Limits:
    """The limits of a command that began at a time of `time.monotonic`: later starts of the ranks count as well.

    What still runs when the command should be over is stopped. There are no limits without a budget, and on `sim`,
    where the same seed gives the same samples however busy the machine is.
    """
    if not budget or transport_of(target) == SIMULATED:
        return NO_LIMITS
    slow = slowness()
    return within(budget, latest_end(began, budget, slow), slow)


def follow_ups(
    options: PlanOptions, *, refine: bool, limits: Limits = NO_LIMITS
) -> Sequence[FollowUp]:
    """What to ask once the grid is measured.

    Sizes whose delays were too short to show overheads, what is not precise yet, what met the machine in another state
    than most, protocol changes, and Bell's ladders. The last two take one operation and posting at a time, so a plan
    with several goes without them.
    """
    # NumPy and SciPy, which take longer to load than a point: the ranks have begun by now, or a launcher starts them.
    from chiplog.measurement.followups import LongerDelays, Revisit, TopUp

    chosen: list[FollowUp] = [
        LongerDelays(options, limits),
        TopUp(options, limits),
        Revisit(options, limits),
    ]
    if len(options.ways) > 1:
        return chosen
    if refine and len(options.sizes) > 1:
        from chiplog.jobs.refine import Refine

        chosen.append(Refine())
    if {"prtt", "flood"} <= set(options.patterns):
        from chiplog.plan.bell import BellLadders

        stop = StopRule(
            options.relative_half_width,
            MIN_SAMPLES,
            min(MAX_SAMPLES, LADDER_SAMPLES),
            LADDER_BUDGET_NS,
        )
        chosen.append(BellLadders(options.sizes, stop))
    return [InOneWay(follow_up, *options.ways[0]) for follow_up in chosen]
