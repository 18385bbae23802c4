"""Pairwise: P - 1 steps; in step k rank p sends to p + k and receives from p - k.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), the algorithm for long messages.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """A step begins when the one before has ended on this rank."""
    steps = Steps(task.ranks, task.ranks * (task.ranks - 1))
    everybody = all_ranks(task.ranks)
    for step in range(1, task.ranks):
        steps.messages(everybody, (everybody + step) % task.ranks, task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """(P-1) T, more only where g + (s-1)G exceeds T; exact."""
    return equal_steps(network.message(task.message_bytes, Traffic.EXCHANGE), task.ranks - 1)


ALGORITHM = Algorithm(
    "alltoall",
    "pairwise",
    "P - 1 steps in pairs",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    everybody_sends=True,
)
