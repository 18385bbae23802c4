"""Combining tree: each node hears from n children before it tells its parent; the release runs down the same tree.

Source: P.-C. Yew, N.-F. Tzeng, D. H. Lawrie, "Distributing hot-spot addressing in large-scale multiprocessors", IEEE
Trans. Computers C-36 (1987).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import Ranks, all_ranks
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def _levels(ranks: int, children: int) -> list[Ranks]:
    """Ranks by depth: rank r's children are children·r + 1 … children·r + children."""
    levels, first, width = [], 0, 1
    while first < ranks:
        levels.append(all_ranks(ranks)[first : first + width])
        first, width = first + width, width * children
    return levels


def schedule(task: Task) -> Schedule:
    """`task.peers` is the number of children of a node."""
    steps = Steps(task.ranks)
    levels = _levels(task.ranks, task.peers)[1:]
    groups = [
        [level[(level - 1) % task.peers == place] for place in range(task.peers)]
        for level in levels
    ]
    for level in reversed(groups):
        for nodes in level:
            steps.messages(nodes, (nodes - 1) // task.peers, task.message_bytes)
    for level in groups:
        for nodes in level:
            steps.messages((nodes - 1) // task.peers, nodes, task.message_bytes)
    return steps.build()


ALGORITHM = Algorithm(
    "barrier",
    "combining-tree",
    "up a tree of n children a node and down again; --peers n",
    "Yew, Tzeng, Lawrie 1987",
    schedule,
)
