"""An application's time by a model: its trace as a schedule, simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.application.replay import ReplayedTrace
from chiplog.application.result import Alternative, AppResult, Replay
from chiplog.errors import CorruptFile, RunFailed
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.verdict import rejection
from chiplog.jobs.class_draws import ClassDraws, FittedClasses
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.network_change import UNCHANGED, NetworkChange
from chiplog.prediction.simulated import MOST_EVENTS, PS_PER_SECOND
from chiplog.schedule.arrays import SEND, Schedule
from chiplog.simulation import Conditions, LogGOPS
from chiplog.simulation import simulate as run
from chiplog.simulation.conditions import PairClasses
from chiplog.simulation.result import Range
from chiplog.simulation.simulate import PLAIN

EVENTS_A_MESSAGE = 3
"""Given: its send, its arrival and its receive."""


@dataclass(frozen=True)
class ReplayBy:
    """By what a trace is replayed: a fit, or parameters that are given."""

    fitted: FittedParameters | None = None
    parameters: LogGOPS | None = None
    conditions: Conditions = PLAIN
    trace: str = "the trace"
    """Its name, for errors."""
    classes: FittedClasses | None = None
    """Those of the conditions' classes of pairs that come from fits."""

    def simulate(self, schedule: Schedule, change: NetworkChange = UNCHANGED) -> Range:
        """The time of the schedule of a trace, with the interval that the fit leaves, and its critical path.

        CorruptFile where the trace's messages wait for each other for ever, RunFailed where times are too long.
        """
        try:
            if self.fitted is not None:
                return self.fitted.simulate(
                    schedule, conditions=self.conditions, follow=True, change=change
                )
            assert self.parameters is not None
            simulation = run(
                change.of_schedule(schedule),
                change.of_parameters(self.parameters),
                conditions=change.of_conditions(self.conditions),
                follow=True,
            )
        except RunFailed as error:
            kind = CorruptFile if "can't finish" in str(error) else RunFailed
            raise kind(f"{self.trace} can't be replayed: {error}") from error
        makespan = simulation.makespan_ps
        draws = self.class_draws(schedule)
        if draws is None:
            return Range(simulation, makespan, makespan)
        span = draws.span(lambda drawn: self.seconds_by(drawn, schedule, change))
        low, high = (round(end * PS_PER_SECOND) for end in (span.low, span.high))
        return Range(simulation, min(low, makespan), max(high, makespan))

    def class_draws(self, schedule: Schedule) -> ClassDraws | None:
        """What the fits of classes leave open; None where there are none."""
        if self.classes is None or not self.classes.is_open:
            return None
        events = EVENTS_A_MESSAGE * np.count_nonzero(schedule.operations["kind"] == SEND)
        return ClassDraws(self.classes, schedule, bool(events > MOST_EVENTS))

    def seconds_by(
        self,
        drawn: Sequence[PairClasses],
        schedule: Schedule,
        change: NetworkChange = UNCHANGED,
        group_of_rank: tuple[int, ...] | None = None,
    ) -> Array:
        """The time by each of some classes of pairs."""
        times = []
        for pairs in drawn:
            conditions = replace(self.conditions, pairs=pairs)
            by = replace(self, conditions=conditions)
            times.append(given_seconds(schedule, by, change, group_of_rank))
        return np.array(times)

    def parameters_of(self, schedule: Schedule) -> LogGOPS:
        """The parameters in the middle of what is known."""
        if self.fitted is not None:
            return self.fitted.in_the_middle(schedule)
        assert self.parameters is not None
        return self.parameters


def given_seconds(
    schedule: Schedule,
    by: ReplayBy,
    change: NetworkChange = UNCHANGED,
    group_of_rank: tuple[int, ...] | None = None,
) -> float:
    """The time by given parameters, perhaps with other groups of ranks; endless beyond the simulator's clock."""
    assert by.parameters is not None
    conditions = by.conditions
    if group_of_rank is not None and conditions.pairs is not None:
        pairs = replace(conditions.pairs, group_of_rank=group_of_rank)
        conditions = replace(conditions, pairs=pairs)
    try:
        simulation = run(
            change.of_schedule(schedule),
            change.of_parameters(by.parameters),
            conditions=change.of_conditions(conditions),
        )
    except RunFailed as error:
        if "106 days" in str(error):
            return math.inf
        raise
    return simulation.makespan_ps / PS_PER_SECOND


def replay(costs: AppResult, replayed: ReplayedTrace, by: ReplayBy) -> Replay:
    """The application's time; errors as of `ReplayBy.simulate`."""
    schedule = replayed.schedule
    answer = by.simulate(schedule)
    seconds, low, high = seconds_of(answer)
    simulation = answer.simulation
    path = simulation.critical_path
    assert path is not None
    return Replay(
        seconds=seconds,
        low=low,
        high=high,
        traced_seconds=costs.seconds if costs.has_times else None,
        start_and_end_seconds=replayed.start_and_end_seconds,
        algorithms=replayed.algorithms,
        notes=replayed.notes,
        extrapolated=_beyond(replayed, by),
        rejected=rejection(by.fitted.fit) if by.fitted else None,
        critical_path=path.shares(simulation.schedule, simulation.makespan_ps) if seconds else None,
        slopes=None
        if by.conditions.pairs
        else path.slopes(simulation.schedule, by.parameters_of(schedule)),
    )


def _beyond(replayed: ReplayedTrace, by: ReplayBy) -> str | None:
    """What the model does not know of the trace's messages, ranks, processors and threads."""
    beyond = by.fitted.beyond(replayed.schedule) if by.fitted else None
    return "; ".join(reason for reason in (beyond, *replayed.unmodelled) if reason) or None


def alternative(what: str, other: Range, saves: AnswerSpan) -> Alternative:
    """What another network, or another model, makes of a replay."""
    return Alternative(what, *seconds_of(other), saves.value, saves.low, saves.high)


def saves_by(answer: Replay, other: Range) -> AnswerSpan:
    """Which share of a replay's time another model takes less, whose errors have nothing to do with the first one's."""
    seconds, low, high = seconds_of(other)
    if not (answer.low > 0.0 and low > 0.0):
        return AnswerSpan(0.0, 0.0, 0.0)
    ratio = seconds / answer.seconds
    below = math.hypot(math.log(seconds / low), math.log(answer.high / answer.seconds))
    above = math.hypot(math.log(high / seconds), math.log(answer.seconds / answer.low))
    return AnswerSpan(1.0 - ratio, 1.0 - ratio * math.exp(above), 1.0 - ratio * math.exp(-below))


def seconds_of(answer: Range) -> tuple[float, float, float]:
    """The makespan in seconds, and the ends of its interval."""
    low, high = answer.low_ps / PS_PER_SECOND, answer.high_ps / PS_PER_SECOND
    return answer.simulation.makespan_ps / PS_PER_SECOND, low, high
