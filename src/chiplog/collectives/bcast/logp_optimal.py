"""LogP-optimal tree: whoever has the message sends it on as fast as it can, so nobody could have it earlier.

A rank that has the message at time t reaches one rank at t + until_received, the next one between_sends later, and so
on; ranks are numbered in the order in which they get it.

Source: R. M. Karp, A. Sahay, E. E. Santos, K. E. Schauser, "Optimal broadcast and summation in the LogP model", SPAA
1993.
"""

from __future__ import annotations

import heapq

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.shapes import Ranks, all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def parents(ranks: int, costs: TreeCosts) -> Ranks:
    """The parent of each rank but rank 0, shape (ranks - 1,).

    >>> parents(6, TreeCosts(between_sends=1.0, until_received=1.0)).tolist()
    [0, 0, 1, 0, 1]
    """
    found = []
    offers = [(costs.until_received, 0)]
    for child in range(1, ranks):
        arrival, parent = heapq.heappop(offers)
        found.append(parent)
        heapq.heappush(offers, (arrival + costs.between_sends, parent))
        heapq.heappush(offers, (arrival + costs.until_received, child))
    return np.array(found, dtype=np.int64)


def schedule(task: Task) -> Schedule:
    """`task.costs` shapes the tree; with both equal it is the binomial one."""
    builder = ScheduleBuilder(task.ranks)
    children = all_ranks(task.ranks)[1:]
    sources = parents(task.ranks, task.costs)
    received = builder.nothing_yet()
    received[1:] = builder.receive(children, source=sources, message_bytes=task.message_bytes)
    builder.send(sources, to=children, message_bytes=task.message_bytes, after=[received[sources]])
    return builder.build()


ALGORITHM = Algorithm(
    "bcast",
    "logp-optimal",
    "nobody could have the message earlier; shaped by --L --o --g --G",
    "Karp, Sahay, Santos, Schauser 1993",
    schedule,
)
