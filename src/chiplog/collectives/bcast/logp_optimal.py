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
from chiplog.collectives.costs import Network, Seconds, latest
from chiplog.collectives.shapes import Ranks, all_ranks
from chiplog.counts import within
from chiplog.schedule import Schedule, ScheduleBuilder


def parents(ranks: int, costs: TreeCosts) -> Ranks:
    """The parent of each rank but rank 0, shape (ranks - 1,).

    >>> parents(6, TreeCosts(between_sends=1.0, until_received=1.0)).tolist()
    [0, 0, 1, 0, 1]
    """
    parent_of = []
    offers = [(costs.until_received, 0)]
    for child in range(1, ranks):
        arrival, parent = heapq.heappop(offers)
        parent_of.append(parent)
        heapq.heappush(offers, (arrival + costs.between_sends, parent))
        heapq.heappush(offers, (arrival + costs.until_received, child))
    return np.array(parent_of, dtype=np.int64)


def schedule(task: Task) -> Schedule:
    """`task.costs` shapes the tree; with both equal, as by default, it is the binomial one."""
    within("--ranks", task.ranks)
    builder = ScheduleBuilder(task.ranks)
    children = all_ranks(task.ranks)[1:]
    sources = parents(task.ranks, task.costs or TreeCosts(1.0, 1.0))
    received = builder.nothing_yet()
    received[1:] = builder.receive(children, source=sources, message_bytes=task.message_bytes)
    builder.send(sources, to=children, message_bytes=task.message_bytes, after=[received[sources]])
    return builder.build()


def latest_ways(ranks: int, costs: TreeCosts) -> list[tuple[int, int]]:
    """Who gets the message last: waits for earlier sends and hops, one pair a number of hops.

    Counts ranks by (waits, hops), of which there are far fewer than ranks.

    >>> latest_ways(6, TreeCosts(between_sends=1.0, until_received=1.0))
    [(1, 1), (1, 2), (0, 3)]
    """
    if ranks < 2:
        return []
    if costs.between_sends <= 0:
        return [(ranks - 2, 1)]
    informed, last = 1, dict[int, int]()
    counts = {(0, 1): 1}
    offers = [(costs.until_received, 0, 1)]
    while informed < ranks:
        _, waits, hops = heapq.heappop(offers)
        count = counts.pop((waits, hops))
        informed += count
        last[hops] = waits
        for key in ((waits + 1, hops), (waits, hops + 1)):
            if key not in counts:
                time = key[0] * costs.between_sends + key[1] * costs.until_received
                heapq.heappush(offers, (time, *key))
            counts[key] = counts.get(key, 0) + count
    return [(waits, hops) for hops, waits in last.items()]


def tree_costs(network: Network, message_bytes: int) -> TreeCosts:
    """What shapes the best tree on `network`, by its first draw."""
    message = network.message(message_bytes)
    return TreeCosts(float(message.between_sends[0]), float(message.one_way[0]))


def seconds(task: Task, network: Network) -> Seconds:
    """Max of i d + j T over the waits i and hops j in the tree of `task.costs`; exact.

    Without them it is the tree that is best by the network's first draw.
    """
    message = network.message(task.message_bytes)
    costs = task.costs or tree_costs(network, task.message_bytes)
    ends = [
        waits * message.between_sends + hops * message.one_way
        for waits, hops in latest_ways(task.ranks, costs)
    ]
    return latest([0.0 * message.way, *ends])


ALGORITHM = Algorithm(
    "bcast",
    "logp-optimal",
    "nobody could have the message earlier; shaped by --L --o --g --G",
    "Karp, Sahay, Santos, Schauser 1993",
    schedule,
    seconds,
)
