"""Bruck's algorithm: in round r, a rank sends the blocks whose way has bit r set to p + 2^r, for others to pass on.

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
    """The block for p + w goes w ranks far, in steps of the powers of two that make w."""
    steps = Steps(task.ranks, task.ranks * len(list(distances(task.ranks))))
    everybody = all_ranks(task.ranks)
    for distance in distances(task.ranks):
        blocks = blocks_of_round(task.ranks, distance)
        steps.messages(everybody, (everybody + distance) % task.ranks, blocks * task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The sum of T over the blocks of each round, about P/2; exact."""
    messages = [
        network.message(
            blocks_of_round(task.ranks, distance) * task.message_bytes, Traffic.EXCHANGE
        )
        for distance in distances(task.ranks)
    ]
    return exchanges(messages).free + nothing(network)


def blocks_of_round(ranks: int, distance: int) -> int:
    """How many ways 0..P-1 have the bit of `distance`.

    >>> [blocks_of_round(6, distance) for distance in (1, 2, 4)]
    [3, 2, 2]
    """
    whole, rest = divmod(ranks, 2 * distance)
    return whole * distance + max(0, rest - distance)


ALGORITHM = Algorithm(
    "alltoall",
    "bruck",
    "ceil(log2 P) rounds of combined blocks",
    "Bruck et al. 1997",
    schedule,
    seconds,
    everybody_sends=True,
)
