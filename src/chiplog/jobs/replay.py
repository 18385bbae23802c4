"""An application's time by a model: its trace as a schedule, simulated."""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.application.replay import ReplayedTrace
from chiplog.application.result import AppResult, Replay
from chiplog.errors import CorruptFile, RunFailed
from chiplog.fitting.verdict import rejection
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.simulation import Conditions, LogGOPS
from chiplog.simulation import simulate as run
from chiplog.simulation.simulate import PLAIN

PS_PER_SECOND = 1e12


@dataclass(frozen=True)
class ReplayBy:
    """By what a trace is replayed: a fit, or parameters that are given."""

    fitted: FittedParameters | None = None
    parameters: LogGOPS | None = None
    conditions: Conditions = PLAIN
    trace: str = "the trace"
    """Its name, for errors."""


def replay(costs: AppResult, replayed: ReplayedTrace, by: ReplayBy) -> Replay:
    """The time of the schedule of a trace, with the interval that the fit leaves.

    CorruptFile where the trace's messages wait for each other for ever, RunFailed where times are too long.
    """
    beyond = rejected = None
    try:
        if by.fitted is not None:
            found = by.fitted.simulate(replayed.schedule, conditions=by.conditions, follow=True)
            parameters = by.fitted.in_the_middle(replayed.schedule)
            simulation, ends_ps = found.simulation, (found.low_ps, found.high_ps)
            beyond, rejected = by.fitted.beyond(replayed.schedule), rejection(by.fitted.fit)
        else:
            assert by.parameters is not None
            parameters = by.parameters
            simulation = run(
                replayed.schedule, by.parameters, conditions=by.conditions, follow=True
            )
            ends_ps = (simulation.makespan_ps,) * 2
    except RunFailed as error:
        kind = CorruptFile if "can't finish" in str(error) else RunFailed
        raise kind(f"{by.trace} can't be replayed: {error}") from error
    seconds, low, high = (time / PS_PER_SECOND for time in (simulation.makespan_ps, *ends_ps))
    path = simulation.critical_path
    assert path is not None
    return Replay(
        seconds,
        low,
        high,
        costs.seconds if costs.has_times else None,
        replayed.algorithms,
        replayed.notes,
        beyond,
        rejected,
        path.shares(replayed.schedule, simulation.makespan_ps) if seconds else None,
        path.slopes(parameters),
    )
