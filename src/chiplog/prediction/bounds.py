"""Lower bounds: no algorithm can be faster on this network.

Two reasons, of which the stronger counts: news of one rank must reach all (the LogP-optimal tree), and a rank must take
in its bytes (as if in one message).

Source: R. M. Karp, A. Sahay, E. E. Santos, K. E. Schauser, "Optimal broadcast and summation in the LogP model", SPAA
1993, for the tree; E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, "Collective communication: theory, practice,
and experience", Concurrency and Computation 19 (2007), table of lower bounds, for the bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chiplog.collectives.algorithm import Task, TreeCosts
from chiplog.collectives.bcast.logp_optimal import latest_ways
from chiplog.collectives.costs import Seconds, latest
from chiplog.collectives.halo.direct import neighbours
from chiplog.prediction.network import BoundedNetwork


def lower_bounds(operation: str, task: Task, network: BoundedNetwork, points: int) -> Seconds:
    """The operation's bound in seconds at each of the network's points, shape (points, draws)."""
    received = RECEIVED_BYTES[operation](task)
    whole = network.fastest(max(1, received)).one_way.reshape(points, -1)
    if task.ranks == 1:
        return 0.0 * whole
    if operation == "halo":
        return whole
    return np.maximum(_news(task, network, points, receiving=operation in TAKES_TURNS), whole)


TAKES_TURNS = ("reduce", "gather")
"""Up a tree the receives take turns, where elsewhere the sends do."""


def _news(task: Task, network: BoundedNetwork, points: int, *, receiving: bool) -> Seconds:
    """Down the LogP-optimal tree of each point with messages of one byte, or up it."""
    message = network.fastest(1)
    between = message.between_receives if receiving else message.between_sends
    rows = zip(between.reshape(points, -1), message.one_way.reshape(points, -1), strict=True)
    return np.stack([_news_at_point(task, *row) for row in rows])


def _news_at_point(task: Task, between: Seconds, one_way: Seconds) -> Seconds:
    costs = TreeCosts(float(between[0]), float(one_way[0]))
    return latest([i * between + j * one_way for i, j in latest_ways(task.ranks, costs)])


def _all_blocks(task: Task) -> int:
    return (task.ranks - 1) * task.message_bytes


RECEIVED_BYTES: dict[str, Callable[[Task], int]] = {
    "barrier": lambda task: task.message_bytes,
    "bcast": lambda task: task.message_bytes,
    "reduce": lambda task: task.message_bytes,
    "gather": _all_blocks,
    "scatter": lambda task: task.message_bytes,
    # Derived: each byte is received once to be reduced, once more as the result.
    "allreduce": lambda task: 2 * _all_blocks(task) // task.ranks,
    "allgather": _all_blocks,
    "alltoall": _all_blocks,
    "reduce_scatter": lambda task: _all_blocks(task) // task.ranks,
    "scan": lambda task: task.message_bytes,
    "halo": lambda task: neighbours(task) * task.message_bytes,
}
"""The least that the busiest rank has to receive, by operation."""
