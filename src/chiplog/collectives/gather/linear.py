"""Linear gather: rank 0 receives a block from each of the others.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.reduce import linear
from chiplog.collectives.reduce.linear import to_root
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """All receives are posted at once."""
    return to_root(task)


def seconds(task: Task, network: Network) -> Seconds:
    """That of the linear reduce."""
    return linear.seconds(task, network)


ALGORITHM = Algorithm(
    "gather", "linear", "rank 0 receives from all others", "Hoefler, Moor 2014", schedule, seconds
)
