"""Where a closed form is only a bound, small cases are simulated instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.costs import Seconds
from chiplog.fit.predictions.known import Array
from chiplog.fit.predictions.regime import Vectors
from chiplog.predict.loggp import SHAPED_BY_COSTS, LogGPSpeaker
from chiplog.simulate import LogGOPS, simulate
from chiplog.simulate.parameters import NO_LIMIT_BYTES, MessageTimes

PS_PER_SECOND = 1e12


def simulated_seconds(
    algorithm: Algorithm, task: Task, speaker: LogGPSpeaker, used: tuple[int, ...]
) -> Callable[[Array], Seconds]:
    """The makespan of the algorithm's schedule at each of some points of the set, in seconds, shape (points,).

    The fractions are those of the regimes `used`.
    """
    limit = speaker.largest_eager_bytes

    def seconds(fractions: Array) -> Seconds:
        found = []
        for one in fractions:
            vectors = speaker.vectors(used, one[np.newaxis], False)
            asked = task
            if algorithm.name in SHAPED_BY_COSTS:
                message = speaker.network(used, one[np.newaxis], False).message(task.message_bytes)
                costs = TreeCosts(float(message.between_sends[0]), float(message.one_way[0]))
                asked = replace(task, costs=costs)
            schedule = algorithm.schedule(asked)
            parameters = LogGOPS(
                message_times(speaker, vectors), NO_LIMIT_BYTES if limit is None else limit
            )
            found.append(simulate(schedule, parameters).makespan_ps / PS_PER_SECOND)
        return np.array(found)

    return seconds


def message_times(speaker: LogGPSpeaker, vectors: dict[int, Vectors]) -> tuple[MessageTimes, ...]:
    """What the simulator takes, of each regime in `vectors`; the first one's holds below it, too."""
    return tuple(
        MessageTimes.from_seconds(
            0 if place == 0 else speaker.regimes[segment].first_bytes,
            {name: float(values[0]) for name, values in one.items()},
            receiver_keeps_up=speaker.regimes[segment].receiver_keeps_up,
        )
        for place, (segment, one) in enumerate(vectors.items())
    )
