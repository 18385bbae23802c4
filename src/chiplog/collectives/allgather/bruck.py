"""Bruck's algorithm: in round r, rank p sends the first blocks it has, 2^r at most, to p - 2^r.

Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in
multiport message-passing systems", IEEE Trans. Parallel and Distributed Systems 8 (1997).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import exchanges
from chiplog.collectives.costs import Network, Seconds, nothing
from chiplog.collectives.shapes import all_ranks, distances
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """The last round carries only the blocks that are missing."""
    steps = Steps(task.ranks, task.ranks * len(list(distances(task.ranks))))
    everybody = all_ranks(task.ranks)
    for distance in distances(task.ranks):
        blocks = min(distance, task.ranks - distance)
        steps.messages(everybody, (everybody - distance) % task.ranks, blocks * task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The sum of T over 1, 2, 4, … blocks, then the missing ones; exact."""
    messages = [
        network.message(min(distance, task.ranks - distance) * task.message_bytes, Traffic.EXCHANGE)
        for distance in distances(task.ranks)
    ]
    return exchanges(messages).free + nothing(network)


ALGORITHM = Algorithm(
    "allgather",
    "bruck",
    "ceil(log2 P) rounds, any P",
    "Bruck et al. 1997",
    schedule,
    seconds,
    everybody_sends=True,
)
