"""Ring: P - 1 steps, in each of which a rank passes on to the next what it got in the step before.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def pass_round(steps: Steps, block_bytes: NDArray[np.int64]) -> None:
    """`block_bytes` of each rank, shape (ranks,): in step k rank p sends block p - k to p + 1."""
    ranks = block_bytes.size
    everybody = all_ranks(ranks)
    for step in range(ranks - 1):
        steps.messages(everybody, (everybody + 1) % ranks, block_bytes[(everybody - step) % ranks])


def schedule(task: Task) -> Schedule:
    """Blocks of `task.message_bytes`."""
    steps = Steps(task.ranks, task.ranks * (task.ranks - 1))
    pass_round(steps, np.full(task.ranks, task.message_bytes))
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """(P-1) T, more only where g + (s-1)G exceeds T; exact."""
    return equal_steps(network.message(task.message_bytes, Traffic.EXCHANGE), task.ranks - 1)


ALGORITHM = Algorithm(
    "allgather",
    "ring",
    "P - 1 steps of one block each",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    everybody_sends=True,
)
