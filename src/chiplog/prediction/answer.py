"""How long an algorithm takes, by its closed form or by the simulator, over a set of parameter vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import Evaluate
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.crossing import crosses_others, form_crosses_others
from chiplog.prediction.loggp import SHAPED_BY_COSTS, LogGPSpeaker
from chiplog.prediction.network import Space, Speaker
from chiplog.prediction.sent_sizes import (
    MOST_RANKS_SIMULATED,
    MOST_SEGMENTS_SIMULATED,
    is_simulated_quickly,
)


@dataclass(frozen=True)
class Answer:
    """An algorithm's time over a set of parameter vectors."""

    evaluate: Evaluate
    method: str
    """How it comes about: see `Prediction.method`."""
    quick: Evaluate
    """The closed form, made as long as the simulated time is in the middle of the set."""


def answer(
    speaker: Speaker,
    space: Space,
    algorithm: Algorithm,
    task: Task,
    convention: TimeConvention = TimeConvention.COMMON_START,
) -> Answer:
    """The closed form where it is exact, else what the simulator says where that is quick, else a bound.

    Closed forms know only the last rank, so another convention is always simulated; UsageError where that is not quick.
    A tree that costs shape is that of the middle of the set: it is chosen before anybody knows more.
    """
    needs_every_rank = convention is not TimeConvention.COMMON_START
    if needs_every_rank:
        _refuse_unsimulated(speaker, task)
    if isinstance(speaker, LogGPSpeaker) and algorithm.name in SHAPED_BY_COSTS:
        task = replace(task, costs=speaker.tree_costs(task.message_bytes))

    def closed(fractions: Array, whole: bool) -> Seconds:
        return space.seconds(algorithm, task, fractions, whole)

    is_closed = not needs_every_rank and _is_exact(speaker, algorithm, task)
    if is_closed or not isinstance(speaker, LogGPSpeaker):
        return Answer(closed, "closed-form", closed)
    if not is_simulated_quickly(task):
        return Answer(closed, "bound", closed)
    space.span(closed)  # refuses what nothing bounds, before the simulator takes it
    # Most answers need no simulator, and come sooner without it.
    from chiplog.prediction.simulated import ScheduleTimes

    times = ScheduleTimes(algorithm.schedule(task), speaker, used=space.used, convention=convention)

    @cache
    def in_the_middle() -> float:
        middle = np.full((1, len(space.symbols)), 0.5)
        first = float(closed(middle, False)[0, 0])
        return float(times.evaluate(middle, False)[0, 0]) / first if first > 0 else 1.0

    def quick(fractions: Array, whole: bool) -> Seconds:
        return np.asarray(closed(fractions, whole) * in_the_middle())

    return Answer(times.evaluate, "simulation", quick)


def _refuse_unsimulated(speaker: Speaker, task: Task) -> None:
    """UsageError where nothing tells when each single rank is done."""
    if not isinstance(speaker, LogGPSpeaker):
        raise UsageError(
            f"--as osu: {speaker.fit.model} does not say when each rank is done; a fit of loggops, loggps, loggp or "
            "logp does."
        )
    if not is_simulated_quickly(task):
        raise UsageError(
            f"--as osu: needs the time of every rank, which is simulated up to {MOST_RANKS_SIMULATED} ranks and "
            f"{MOST_SEGMENTS_SIMULATED} segments; --as common-start has no such limit."
        )


def _is_exact(speaker: Speaker, algorithm: Algorithm, task: Task) -> bool:
    """Whether the closed form is the algorithm's time: its longest path is that under costs of one line."""
    if not isinstance(speaker, LogGPSpeaker) or not algorithm.is_simulated:
        return True
    limit, sizes = speaker.largest_eager_bytes, speaker.sizes(algorithm, task)
    waits = limit is not None and max(sizes, default=0) > limit
    is_bent = speaker.follows_measured_times and len(sizes) > 1 and is_simulated_quickly(task)
    passes_over_crossing = (
        speaker.tells_exchanges
        and crosses_others(algorithm, task)
        and not form_crosses_others(algorithm, task)
    )
    return algorithm.exact(task) and not waits and not is_bent and not passes_over_crossing


def sizes_of(speaker: Speaker, algorithm: Algorithm, task: Task) -> set[int]:
    """The sizes of an algorithm's messages in bytes; that of the task where the model does not ask for them."""
    if isinstance(speaker, LogGPSpeaker):
        return speaker.sizes(algorithm, task)
    return {task.message_bytes}
