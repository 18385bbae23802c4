"""Recursive halving: in each round, two ranks exchange those halves of their partial results that the other one needs.

Ranks beyond the largest power of two give their message to a partner first, and get their block from it last.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), the algorithm for short messages.
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import exchanges
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks, distances, power_of_two_below, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """Blocks of `distance` ranks pass between ranks `distance` apart, largest first, each with its extra rank's."""
    steps = Steps(task.ranks, task.ranks * len(list(distances(task.ranks))) + task.ranks)
    core = all_ranks(power_of_two_below(task.ranks))
    extra = all_ranks(task.ranks)[core.size :]
    blocks = share_bytes(task.message_bytes, task.ranks)
    steps.messages(extra, extra - core.size, task.message_bytes)
    of_core = blocks[: core.size].copy()
    of_core[: extra.size] += blocks[core.size :]
    before = np.concatenate([[0], np.cumsum(of_core)])
    for distance in reversed(list(distances(core.size))):
        first = (core ^ distance) // distance * distance
        steps.messages(core, core ^ distance, before[first + distance] - before[first])
    steps.messages(extra - core.size, extra, blocks[extra])
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The sum of T over s/2, s/4, … s/P; exact on powers of two that divide s, for the largest block where they don't.

    Off powers of two a lower bound: the way of an extra rank's part through all rounds, or what its partner takes in.
    """
    core = power_of_two_below(task.ranks)
    block = -(-task.message_bytes // task.ranks)
    halves = [
        network.message(distance * block, Traffic.EXCHANGE)
        for distance in reversed(list(distances(core)))
    ]
    if task.ranks == core and halves:
        return exchanges(halves).free
    whole = network.message(task.message_bytes)
    if task.ranks == core:
        return 0.0 * whole.way
    block_way = network.message(block).one_way
    if not halves:
        return whole.one_way + block_way
    gaps = whole.gap + sum(half.gap for half in halves[:-1])
    through = whole.one_way + sum(half.one_way for half in halves)
    return np.maximum(through, whole.way + gaps + halves[-1].receive_busy + block_way)


def exact(task: Task) -> bool:
    """On powers of two that divide the message."""
    return task.ranks == power_of_two_below(task.ranks) and task.message_bytes % task.ranks == 0


ALGORITHM = Algorithm(
    "reduce_scatter",
    "recursive-halving",
    "log2 P exchanges, each of half as much",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
