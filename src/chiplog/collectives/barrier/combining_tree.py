"""Combining tree: each node hears from n children before it tells its parent; the release runs down the same tree.

Source: P.-C. Yew, N.-F. Tzeng, D. H. Lawrie, "Distributing hot-spot addressing in large-scale multiprocessors", IEEE
Trans. Computers C-36 (1987).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.costs import Message, Network, Rank, Seconds, latest, remembered
from chiplog.collectives.shapes import Ranks, all_ranks
from chiplog.collectives.steps import Steps
from chiplog.counts import within
from chiplog.schedule import Schedule


def _levels(ranks: int, children: int) -> list[Ranks]:
    """Ranks by depth: rank r's children are children·r + 1 … children·r + children."""
    levels, first, width = [], 0, 1
    everybody = all_ranks(ranks)
    while first < ranks:
        levels.append(everybody[first : first + width])
        first, width = first + width, width * children
    return levels


def _depth(ranks: int, children: int) -> int:
    """How many levels there are below the root.

    >>> _depth(7, 2), _depth(8, 2), _depth(5, 1)
    (2, 3, 4)
    """
    if children == 1:
        return ranks - 1
    depth, nodes, width = 0, 1, 1
    while nodes < ranks:
        width *= children
        depth, nodes = depth + 1, nodes + width
    return depth


def schedule(task: Task) -> Schedule:
    """`task.peers` is the number of children of a node."""
    within("--ranks", task.ranks)
    steps = Steps(task.ranks)
    levels = _levels(task.ranks, task.peers)[1:]
    groups = [
        [level[place :: task.peers] for place in range(min(task.peers, level.size))]
        for level in levels
    ]
    for level in reversed(groups):
        for nodes in level:
            steps.messages(nodes, (nodes - 1) // task.peers, task.message_bytes)
    for level in groups:
        for nodes in level:
            steps.messages((nodes - 1) // task.peers, nodes, task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """Up and down, subtree by subtree; of full trees of depth D: D (T + (n-1) e) up and D (T + (n-1) d) down.

    Exact where g + (s-1)G <= 2 T, else a lower bound: the way down begins as if all NICs were free.
    """
    message = network.message(task.message_bytes)
    if task.peers == 1:
        return 2 * (task.ranks - 1) * message.one_way
    trees = _Trees(message, task.peers)
    return trees.up(task.ranks).free + trees.down(task.ranks) + 0.0 * message.way


def subtrees(ranks: int, children: int) -> list[tuple[int, int]]:
    """How many subtrees of how many ranks hang below the root, in order; empty ones are left out.

    >>> subtrees(7, 2), subtrees(6, 2), subtrees(3, 4)
    ([(2, 3)], [(1, 3), (1, 2)], [(2, 1)])
    """
    full, width = 1, children
    while full + width <= ranks:
        full, width = full + width, width * children
    deep, rest = divmod(ranks - full, width // children)
    each = (full - 1) // children
    groups = [(deep, each + width // children), (1 if rest else 0, each + rest)]
    groups.append((children - deep - (1 if rest else 0), each))
    return [(count, size) for count, size in groups if count and size]


class _Trees:
    """Times of trees with one number of children and messages of one cost: subtrees of a size are timed once."""

    def __init__(self, message: Message, children: int) -> None:
        self._message, self._children = message, children
        self._up: dict[int, Rank] = remembered(message, "tree up", children)
        self._down: dict[int, Seconds] = remembered(message, "tree down", children)

    def up(self, ranks: int) -> Rank:
        """The root, once the last message has come up."""
        if ranks not in self._up:
            self._up[ranks] = self._root(subtrees(ranks, self._children))
        return self._up[ranks]

    def _root(self, groups: Sequence[tuple[int, int]]) -> Rank:
        rank = Rank()
        if not groups:
            return rank
        arrivals = np.stack([self.up(size).send(self._message)[1] for _, size in groups])
        counts = np.array([count for count, _ in groups])
        for place in np.argsort(arrivals, axis=0, kind="stable"):
            arrival = np.take_along_axis(arrivals, place[np.newaxis], axis=0)[0]
            rank = rank.receive(self._message, arrival, counts[place])
        return rank

    def down(self, ranks: int) -> Seconds:
        """From the root's first message down until the last leaf has it."""
        if ranks not in self._down:
            message = self._message
            ends, sent = [0.0 * message.way], 0
            for count, size in subtrees(ranks, self._children):
                sent += count
                first = (sent - 1) * message.between_sends + message.one_way
                ends.append(first + self.down(size))
            self._down[ranks] = latest(ends)
        return self._down[ranks]


def fan_out(task: Task) -> FanOut:
    """As many rounds up and down as the tree has levels below its root, with n peers."""
    return FanOut(task.peers, 2 * _depth(task.ranks, task.peers))


ALGORITHM = Algorithm(
    "barrier",
    "combining-tree",
    "up a tree of n children a node and down again; --peers n",
    "Yew, Tzeng, Lawrie 1987",
    schedule,
    seconds,
    takes_peers=True,
    fan_out=fan_out,
)
