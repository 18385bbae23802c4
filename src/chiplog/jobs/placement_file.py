"""How ranks are put on nodes by the launchers of MPIs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from chiplog.application.placement import blocks_of, is_alike, turns_of
from chiplog.counts import counted, number_ranges

MOST_NODES_NAMED = 3
"""Given: what a sentence has room for."""


def how_to_place(groups: Sequence[int]) -> str:
    """In words, with the launchers' options; `groups` are the node of each rank."""
    nodes = _ranks_of_nodes(groups)
    named = "; ".join(number_ranges(ranks) for ranks in nodes[:MOST_NODES_NAMED])
    rest = len(nodes) - MOST_NODES_NAMED
    more = f"; and {counted(rest, 'more node')}" if rest > 0 else ""
    way = _option(groups) or (
        "Open MPI: --map-by rankfile:file=FILE (--rankfile FILE before 5.0) with the rankfile below; srun: "
        "SLURM_HOSTFILE in this order and --distribution=arbitrary"
    )
    return f"together on a node: {named}{more}. {way}"


def _option(groups: Sequence[int]) -> str | None:
    """The launchers' options that place ranks so, if there are any."""
    if is_alike(groups, blocks_of(np.array(groups))):
        return "Open MPI: --map-by slot; srun --distribution=block; MPICH: -ppn with the ranks of a node"
    if is_alike(groups, turns_of(np.array(groups))):
        return "Open MPI: --map-by node; srun --distribution=cyclic; MPICH: -ppn 1"
    return None


def rankfile(groups: Sequence[int]) -> str | None:
    """Open MPI's rankfile, in which +n0 is the first node of the allocation; None where an option does it."""
    if _option(groups) is not None:
        return None
    slots: dict[int, int] = defaultdict(int)
    lines = []
    for rank, node in enumerate(groups):
        lines.append(f"rank {rank}=+n{node} slot={slots[node]}\n")
        slots[node] += 1
    return "".join(lines)


def _ranks_of_nodes(groups: Sequence[int]) -> list[list[int]]:
    nodes: dict[int, list[int]] = defaultdict(list)
    for rank, node in enumerate(groups):
        nodes[node].append(rank)
    return list(nodes.values())
