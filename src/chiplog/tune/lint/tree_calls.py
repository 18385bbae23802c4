"""Which call gets to a leaf of MPICH's tree?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chiplog.tune.lint.calls import CALLED, MOST_BYTES, MOST_RANKS_HERE, Call
from chiplog.tune.lint.mpich_tree_rules import Leaf
from chiplog.tune.mpich_tests import WITHOUT_END, YES_NO, State

REDUCTIONS = (*("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),)
MAYBE_IN_PLACE = ("alltoall", "alltoallv")
COUNTED_IN_ALL = ("allgatherv", "reduce_scatter")
MOST_RANKS = 64
"""Calls with more ranks are not tried, whatever the launcher."""


def call_for(leaf: Leaf, most_ranks: int = MOST_RANKS_HERE) -> Call | None:
    """The first call that gets to the leaf; None where none of those that are tried does."""
    return next(calls_for(leaf, most_ranks), None)


def calls_for(leaf: Leaf, most_ranks: int = MOST_RANKS_HERE) -> Iterator[Call]:
    """Calls that get to the leaf: numbers of ranks that are powers of two or not, in place or not, all operations."""
    state = leaf.state
    if leaf.collective not in CALLED or "_inter_" in leaf.algorithm:
        return
    if "intra" not in state.facts.get("comm_type", {"intra"}):
        return
    if "no" not in state.facts.get("is_multi_threaded", YES_NO):
        return
    if "yes" not in state.facts.get("is_block_regular", YES_NO):
        return
    for flags in _flags(leaf.collective, state):
        for ranks in _ranks(state, most_ranks):
            size = _bytes(leaf.collective, state, ranks)
            if size is not None:
                yield Call(leaf.collective, ranks, size, flags)


def _flags(operation: str, state: State) -> Sequence[str]:
    if operation in MAYBE_IN_PLACE:
        answers = state.facts.get("is_sendbuf_inplace", YES_NO)
        return [flag for flag, answer in (("", "no"), ("i", "yes")) if answer in answers]
    if operation not in REDUCTIONS:
        return [""]
    commutes = state.facts.get("is_commutative", YES_NO)
    built_in = state.facts.get("is_op_built_in", YES_NO)
    known = (("", "yes", "yes"), ("u", "yes", "no"), ("n", "no", "no"))
    return [flag for flag, first, second in known if first in commutes and second in built_in]


def _ranks(state: State, most_ranks: int) -> Sequence[int]:
    """The fewest ranks, and the fewest that are no power of two where the fewest are one, and the other way round."""
    low, high = state.range("comm_size")
    answers = state.facts.get("comm_size pow2", YES_NO)
    fewest: dict[bool, int] = {}
    for ranks in range(max(low, 2), min(high, most_ranks) + 1):
        is_power = ranks & (ranks - 1) == 0
        if ("yes" if is_power else "no") in answers:
            fewest.setdefault(is_power, ranks)
    return list(fewest.values())


def _bytes(operation: str, state: State, ranks: int) -> int | None:
    """The smallest block that passes all tests of sizes; 1 byte is one element."""
    if operation == "barrier":
        return 0
    scales = {
        "avg_msg_size": 1,
        "total_msg_size": ranks,
        "count": ranks if operation in COUNTED_IN_ALL else 1,
    }
    low, high = 0, MOST_BYTES // ranks
    for name, scale in scales.items():
        first, last = state.range(name)
        low = max(low, -(-first // scale))
        high = min(high, last // scale if last < WITHOUT_END else high)
    power = 1 << (ranks.bit_length() - 1)
    answers = state.facts.get("count pow2", YES_NO)
    if "no" not in answers:
        high = min(high, (power - 1) // scales["count"])
    elif "yes" not in answers:
        low = max(low, -(-power // scales["count"]))
    best = max(low, 1) if high >= 1 else low
    return best if best <= high else None
