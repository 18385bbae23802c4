"""Binomial tree: in round r, each of the 2^r ranks that have the message sends it to one that has not.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import binomial_release, shared_binomial_release
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, tree_edges
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """Rank r < 2^k sends to r + 2^k in round k; its sends wait for its receive only."""
    builder = ScheduleBuilder(task.ranks)
    received = builder.nothing_yet()
    for distance in distances(task.ranks):
        parents, children = tree_edges(task.ranks, distance)
        size = task.message_bytes
        builder.send(parents, to=children, message_bytes=size, after=[received[parents]])
        received[children] = builder.receive(children, source=parents, message_bytes=size)
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """Max over m of m T + (K-m) d, at most ceil(log2 P) T where T >= d; exact."""
    return binomial_release(network.message(task.message_bytes), task.ranks)


def shared_seconds(task: Task, network: Network) -> Seconds:
    """K T + K (K-1)/2 d on 2^K ranks: a rank's sends all end with its last one."""
    return shared_binomial_release(network.message(task.message_bytes), task.ranks)


ALGORITHM = Algorithm(
    "bcast",
    "binomial",
    "ceil(log2 P) rounds; who has the message passes it on",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    shared_seconds=shared_seconds,
)
