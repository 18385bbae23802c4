"""Binomial tree: a rank passes on half of the blocks it has, and again, until it has its own only.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import run_release
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, low_bit_edges
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def scatter(steps: Steps, block_bytes: NDArray[np.int64]) -> None:
    """`block_bytes` of each rank, shape (ranks,): r sends those of r + d … r + 2d - 1 to r + d, d shrinking."""
    ranks = block_bytes.size
    before = np.concatenate([[0], np.cumsum(block_bytes)])
    for distance in reversed(list(distances(ranks))):
        parents, children = low_bit_edges(ranks, distance)
        run_bytes = before[np.minimum(children + distance, ranks)] - before[children]
        steps.messages(parents, children, run_bytes)


def schedule(task: Task) -> Schedule:
    """Blocks of `task.message_bytes`."""
    steps = Steps(task.ranks)
    scatter(steps, np.full(task.ranks, task.message_bytes))
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """By runs of ranks, the largest first; exact."""
    return run_release(lambda blocks: network.message(blocks * task.message_bytes), task.ranks)


ALGORITHM = Algorithm(
    "scatter",
    "binomial",
    "halves of the blocks down a tree",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
)
