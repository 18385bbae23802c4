"""Which sizes an algorithm's messages have: one source for predictions and simulations, and their intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Network
from chiplog.prediction.network import Recorder
from chiplog.schedule.arrays import SEND, Schedule
from chiplog.schedule.traffic import are_confirmations

MOST_RANKS_SIMULATED = 128
"""Given: of more ranks the sizes are those that fewer send."""
MOST_SEGMENTS_SIMULATED = 1024
"""Given: of more segments likewise."""


def message_counts(schedule: Schedule) -> dict[int, int]:
    """How many messages of a schedule there are of each size in bytes, sizes ascending."""
    sends = (schedule.operations["kind"] == SEND) & ~are_confirmations(schedule)
    sizes, counts = np.unique(schedule.operations["amount"][sends], return_counts=True)
    return dict(zip(sizes.tolist(), counts.tolist(), strict=True))


def sizes_sent(algorithm: Algorithm, task: Task, network: Network) -> set[int]:
    """The sizes of the algorithm's messages in bytes, which do not depend on the peers of a round.

    An exact closed form asks the network for each of them. A bound may ask for the largest share in place of all, so
    the schedule tells them, as far as it is quick to simulate.
    """
    if algorithm.takes_peers:
        task = replace(task, peers=1)
    if not algorithm.exact(task) and is_simulated_quickly(task):
        return set(message_counts(algorithm.schedule(task)))
    return sizes_asked_for(algorithm, task, network)


def sizes_asked_for(algorithm: Algorithm, task: Task, network: Network) -> set[int]:
    """The sizes in bytes that the algorithm's closed form, or bound, asks the network for."""
    if algorithm.takes_peers:
        task = replace(task, peers=1)
    recorder = Recorder(network)
    algorithm.seconds(task, recorder)
    return recorder.sizes


def is_simulated_quickly(task: Task) -> bool:
    """Is the task's schedule short enough to be simulated many times?"""
    most_bytes = MOST_SEGMENTS_SIMULATED * task.segment_bytes
    return task.ranks <= MOST_RANKS_SIMULATED and task.message_bytes <= most_bytes
