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
from chiplog.predict.network import BoundedNetwork


def lower_bound(operation: str, task: Task, network: BoundedNetwork) -> Seconds:
    """The operation's bound in seconds, shape (draws,)."""
    none = 0.0 * network.fastest(1).way
    received = RECEIVED_BYTES[operation](task)
    if task.ranks == 1:
        return none
    whole = network.fastest(max(1, received)).one_way
    if operation == "halo":
        return whole
    return np.maximum(_news(task, network, receiving=operation in ("reduce", "gather")), whole)


def _news(task: Task, network: BoundedNetwork, *, receiving: bool) -> Seconds:
    """Down the LogP-optimal tree with messages of one byte, or up it, where receives are what takes turns."""
    message = network.fastest(1)
    between = message.between_receives if receiving else message.between_sends
    costs = TreeCosts(float(between[0]), float(message.one_way[0]))
    ends = [i * between + j * message.one_way for i, j in latest_ways(task.ranks, costs)]
    return latest(ends)


def _all_blocks(task: Task) -> int:
    return (task.ranks - 1) * task.message_bytes


RECEIVED_BYTES: dict[str, Callable[[Task], int]] = {
    "barrier": lambda task: task.message_bytes,
    "bcast": lambda task: task.message_bytes,
    "reduce": lambda task: task.message_bytes,
    "gather": _all_blocks,
    "scatter": lambda task: task.message_bytes,
    "allreduce": lambda task: 2 * _all_blocks(task) // task.ranks,
    "allgather": _all_blocks,
    "alltoall": _all_blocks,
    "halo": lambda task: neighbours(task) * task.message_bytes,
}
"""The least that the busiest rank has to receive, by operation."""
