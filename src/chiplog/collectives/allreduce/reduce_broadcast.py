"""Reduce and broadcast: up a binomial tree to rank 0, then down again.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), as what is to be beaten.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier import tree
from chiplog.collectives.costs import Network, Seconds
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """The pattern of the tree barrier, with the whole message."""
    return tree.schedule(task)


def seconds(task: Task, network: Network) -> Seconds:
    """That of the tree barrier, with the whole message."""
    return tree.seconds(task, network)


ALGORITHM = Algorithm(
    "allreduce",
    "reduce-broadcast",
    "up a binomial tree and down again",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
)
