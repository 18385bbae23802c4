"""Binomial tree: in each round, half of the ranks that are left send their partial result and are done.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import binomial_combine
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, tree_edges
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """The tree of the broadcast, upwards: r + 2^k sends to r < 2^k. The time of the reduction itself is not in it."""
    builder = ScheduleBuilder(task.ranks)
    received = builder.nothing_yet()
    for distance in reversed(list(distances(task.ranks))):
        parents, children = tree_edges(task.ranks, distance)
        size = task.message_bytes
        builder.send(children, to=parents, message_bytes=size, after=[received[children]])
        received[parents] = builder.receive(
            parents, source=children, message_bytes=size, after=[received[parents]]
        )
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """T + (log2 P - 1) max(T, e) on powers of two, else by halves; exact."""
    return binomial_combine(network.message(task.message_bytes), task.ranks)


ALGORITHM = Algorithm(
    "reduce",
    "binomial",
    "ceil(log2 P) rounds up a tree",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
)
