"""An application's schedules if one of MPI's collective functions took another algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chiplog.application.replay import schedule_of
from chiplog.collectives.mpis.choice import OPERATIONS, AlgorithmChoice, Chooser, CollectiveCall
from chiplog.collectives.registry import algorithms
from chiplog.schedule.arrays import Schedule
from chiplog.tracing.trace import Trace


@dataclass(frozen=True)
class ReplayedAlternative:
    """The replay with all calls of a function done by one algorithm, and all else as it is."""

    function: str
    """MPI's, in lower case and without prefix."""
    algorithm: str
    schedule: Schedule


def with_algorithm(choose: Chooser, function: str, algorithm: str) -> Chooser:
    """The choices of `choose`, but `algorithm` for all calls of `function`."""

    def other(call: CollectiveCall) -> AlgorithmChoice:
        return AlgorithmChoice(algorithm) if call.function == function else choose(call)

    return other


def algorithm_alternatives(
    trace: Trace, choose: Chooser, flops_per_second: float | None = None
) -> Iterator[ReplayedAlternative]:
    """The application's schedule by each algorithm of each collective function that the trace calls.

    One after the other, as they are asked for. Errors are those of `schedule_of`.
    """
    called = {name for rank in trace.ranks for name in rank.call_counts}
    for function, operation in OPERATIONS.items():
        if not called & {f"MPI_{function.capitalize()}", f"MPI_I{function}"}:
            continue
        for algorithm in algorithms(operation):
            replayed = schedule_of(
                trace, flops_per_second, with_algorithm(choose, function, algorithm)
            )
            yield ReplayedAlternative(function, algorithm, replayed.schedule)
