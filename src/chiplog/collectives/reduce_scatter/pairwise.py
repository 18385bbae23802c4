"""Pairwise: P - 1 steps; in step k rank p sends p + k its share of that rank's block, and adds what p - k sends.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), the algorithm for long messages.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """A step begins when the one before has ended on this rank. The time of the reduction itself is not in it."""
    steps = Steps(task.ranks, task.ranks * (task.ranks - 1))
    everybody = all_ranks(task.ranks)
    blocks = share_bytes(task.message_bytes, task.ranks)
    for step in range(1, task.ranks):
        targets = (everybody + step) % task.ranks
        steps.messages(everybody, targets, blocks[targets])
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """(P-1) T for blocks of s/P: exact where P divides s, else for the largest block."""
    block = -(-task.message_bytes // task.ranks)
    return equal_steps(network.message(block, Traffic.EXCHANGE), task.ranks - 1)


def exact(task: Task) -> bool:
    """Where all blocks have the same size."""
    return task.message_bytes % task.ranks == 0


ALGORITHM = Algorithm(
    "reduce_scatter",
    "pairwise",
    "P - 1 steps in pairs, a block each",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
