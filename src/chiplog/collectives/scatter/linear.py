"""Linear scatter: rank 0 sends each of the others its block.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.bcast import linear
from chiplog.collectives.costs import Network, Seconds
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """The pattern of the linear broadcast."""
    return linear.schedule(task)


def seconds(task: Task, network: Network) -> Seconds:
    """That of the linear broadcast."""
    return linear.seconds(task, network)


ALGORITHM = Algorithm(
    "scatter",
    "linear",
    "rank 0 sends to all others in turn",
    "Hoefler, Moor 2014",
    schedule,
    seconds,
)
