"""Binomial tree: a rank collects the blocks of a run of ranks, doubling it each round, and passes them on.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import run_combine
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, low_bit_edges
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """In round k, rank r + 2^k sends the blocks of r + 2^k … r + 2^(k+1) - 1 to r."""
    steps = Steps(task.ranks)
    for distance in distances(task.ranks):
        parents, children = low_bit_edges(task.ranks, distance)
        blocks = np.minimum(distance, task.ranks - children)
        steps.messages(children, parents, blocks * task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """By runs of ranks: each rank hears from runs of 1, 2, 4, … blocks; exact."""
    return run_combine(lambda blocks: network.message(blocks * task.message_bytes), task.ranks)


ALGORITHM = Algorithm(
    "gather",
    "binomial",
    "blocks of growing runs of ranks up a tree",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
)
