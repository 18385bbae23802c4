"""The algorithm that a tree of MPICH's makes it take for a call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from chiplog.collectives.mpis import mpich
from chiplog.collectives.mpis.choice import AlgorithmChoice, CollectiveCall
from chiplog.collectives.shapes import power_of_two_below
from chiplog.errors import CorruptFile
from chiplog.quoting import for_line
from chiplog.tune.mpich_tests import LEAF, PRUNED, TEST
from chiplog.tune.mpich_tree import Tree

BY_BLOCKS = ("reduce_scatter",)
"""Operations whose message is that of all blocks."""


def tree_rules(tree: Tree, path: Path) -> Callable[[CollectiveCall], AlgorithmChoice | None]:
    """What the tree says of a call; an operation that is not there is left to MPICH."""

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        branch = tree.get(f"collective={call.function}")
        if branch is None:
            return None
        leaf = leaf_of(branch, call, path)
        return mpich.choice_of(call, leaf.partition("=")[2].removeprefix("MPIR_"))

    return look_up


def leaf_of(branch: object, call: CollectiveCall, path: Path) -> str:
    """The leaf that a call gets to; CorruptFile where it gets to none, at which MPICH aborts."""
    is_searched = False
    while isinstance(branch, dict):
        keys = [str(key).replace(" ", "") for key in branch]
        leaves = [key for key in keys if key.startswith(LEAF)]
        if leaves:
            return leaves[-1]
        values = branch.values()
        taken = next(
            (
                (key, below)
                for key, below in zip(keys, values, strict=True)
                if _passes(key, call, searched=is_searched)
            ),
            None,
        )
        if taken is None:
            break
        match = TEST.fullmatch(taken[0])
        is_searched |= match is not None and match[1] not in PRUNED
        branch = taken[1]
    raise CorruptFile(
        f"{path}: calls of {call.function} by {call.ranks} ranks with {call.message_bytes} B get to no algorithm: "
        "MPICH aborts at such a call."
    )


def _passes(key: str, call: CollectiveCall, *, searched: bool) -> bool:
    match = TEST.fullmatch(key)
    if key == "any" or (match is not None and match[3] == "any"):
        return True
    if match is None:
        raise CorruptFile(f"the tree tests {for_line(key)}, which chiplog can't look up.")
    name, sign, word = match.groups()
    numbers = _numbers(call)
    if name in numbers and word.isdecimal():
        # csel.c takes comm_size<N for comm_size<=N where a test of the message stands above it.
        includes = sign == "<=" or (name == "comm_size" and searched)
        return numbers[name] <= int(word) if includes else numbers[name] < int(word)
    return bool(_answers(call).get(f"{name}{sign}{word}", False))


def _numbers(call: CollectiveCall) -> dict[str, int]:
    by_blocks = call.operation in BY_BLOCKS
    block = call.message_bytes // call.ranks if by_blocks else call.message_bytes
    return {
        "comm_size": call.ranks,
        "avg_msg_size": block,
        "total_msg_size": call.message_bytes if by_blocks else block * call.ranks,
        "count": call.message_bytes // mpich.ELEMENT_BYTES,
        "comm_avg_ppn": call.ranks // call.nodes if call.nodes else 1,
    }


def _answers(call: CollectiveCall) -> dict[str, bool]:
    """Tests with words; those that are not here fail."""
    return {
        "comm_type=intra": True,
        "comm_size=pow2": call.is_power_of_two,
        "comm_size=node_comm_size": call.nodes == 1,
        "comm_hierarchy=parent": call.shares_nodes,
        "comm_hierarchy=flat": not call.shares_nodes,
        "count<pow2": call.message_bytes // mpich.ELEMENT_BYTES < power_of_two_below(call.ranks),
        "is_commutative=yes": True,
        "is_op_built_in=yes": True,
        "is_sendbuf_inplace=no": True,
        "is_block_regular=yes": True,
        "is_multi_threaded=no": True,
        "is_node_consecutive=yes": call.shares_nodes,
        "is_node_consecutive=no": not call.shares_nodes,
    }
