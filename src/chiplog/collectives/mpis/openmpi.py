"""Open MPI's coll/tuned: the algorithm by numbers of ranks and bytes, where no rules file says another one.

Its releases from 4.1.0 to 6.0 have the same rules; those of communicators with one rank a node, which 6.0 adds, are not
here. Operators are taken to be commutative. Scan, Exscan, Gatherv, Scatterv and Alltoallw are coll/basic's.

Source: Open MPI's coll_tuned_decision_fixed.c, compared release by release.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from chiplog.collectives.mpis.choice import AlgorithmChoice, CollectiveCall

FIRST_KNOWN = (4, 1)
"""Given: earlier releases have other rules."""
FIRST_HAN = (5, 0)
"""Given: since then, the component han goes node by node where ranks share nodes of several."""
BY_HAN = ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
Number = int
"""Of an algorithm of coll/tuned; the same in all releases."""

Native = tuple[str, str, bool]
"""Open MPI's name of an algorithm, ours, and whether they are the same."""
_LINEAR_ONLY = {1: ("basic_linear", "linear", True)}
ALGORITHMS: dict[str, dict[Number, Native]] = {
    "allreduce": {
        1: ("basic_linear", "reduce-broadcast", False),
        2: ("nonoverlapping", "reduce-broadcast", False),
        3: ("recursive_doubling", "recursive-doubling", True),
        4: ("ring", "ring", True),
        5: ("segmented_ring", "ring", False),
        6: ("rabenseifner", "rabenseifner", True),
        7: ("allgather_reduce", "recursive-doubling", False),
    },
    "alltoall": {
        1: ("linear", "linear", True),
        2: ("pairwise", "pairwise", True),
        3: ("modified_bruck", "bruck", True),
        4: ("linear_sync", "linear", False),
        5: ("two_proc", "pairwise", True),
    },
    "alltoallv": {1: ("basic_linear", "linear", True), 2: ("pairwise", "pairwise", True)},
    "alltoallw": _LINEAR_ONLY,
    "barrier": {
        1: ("linear", "linear", True),
        2: ("double_ring", "double-ring", True),
        3: ("recursive_doubling", "recursive-doubling", True),
        4: ("bruck", "dissemination", True),
        5: ("two_proc", "dissemination", True),
        6: ("tree", "tree", True),
    },
    "bcast": {
        1: ("basic_linear", "linear", True),
        2: ("chain", "chain", True),
        3: ("pipeline", "chain", True),
        4: ("split_binary_tree", "binomial", False),
        5: ("binary_tree", "binomial", False),
        6: ("binomial", "binomial", True),
        7: ("knomial", "binomial", False),
        8: ("scatter_allgather", "scatter-allgather", False),
        9: ("scatter_allgather_ring", "scatter-allgather", True),
    },
    "reduce": {
        1: ("linear", "linear", True),
        2: ("chain", "binomial", False),
        3: ("pipeline", "binomial", False),
        4: ("binary", "binomial", False),
        5: ("binomial", "binomial", True),
        6: ("in-order_binary", "binomial", False),
        7: ("rabenseifner", "binomial", False),
        8: ("knomial", "binomial", False),
    },
    "reduce_scatter": {
        1: ("non-overlapping", "recursive-halving", False),
        2: ("recursive_halving", "recursive-halving", True),
        3: ("ring", "ring", True),
        4: ("butterfly", "recursive-halving", False),
    },
    "reduce_scatter_block": {
        1: ("basic_linear", "recursive-halving", False),
        2: ("recursive_doubling", "recursive-halving", False),
        3: ("recursive_halving", "recursive-halving", True),
        4: ("butterfly", "recursive-halving", False),
    },
    "allgather": {
        1: ("linear", "ring", False),
        2: ("bruck", "bruck", True),
        3: ("recursive_doubling", "recursive-doubling", True),
        4: ("ring", "ring", True),
        5: ("neighbor", "ring", False),
        6: ("two_proc", "ring", True),
        7: ("sparbit", "bruck", False),
        8: ("direct-messaging", "ring", False),
        9: ("k_bruck", "bruck", False),
    },
    "allgatherv": {
        1: ("default", "ring", False),
        2: ("bruck", "bruck", True),
        3: ("ring", "ring", True),
        4: ("neighbor", "ring", False),
        5: ("two_proc", "ring", True),
        6: ("sparbit", "bruck", False),
    },
    "gather": {
        1: ("basic_linear", "linear", True),
        2: ("binomial", "binomial", True),
        3: ("linear_sync", "linear", False),
    },
    "gatherv": _LINEAR_ONLY,
    "scatter": {
        1: ("basic_linear", "linear", True),
        2: ("binomial", "binomial", True),
        3: ("linear_nb", "linear", True),
    },
    "scatterv": _LINEAR_ONLY,
    "scan": {1: ("linear", "linear", True), 2: ("recursive_doubling", "recursive-doubling", True)},
    "exscan": {
        1: ("linear", "linear", True),
        2: ("recursive_doubling", "recursive-doubling", True),
    },
}
"""By function and number."""


def numbers_of(function: str) -> dict[str, Number]:
    """The numbers of coll/tuned's algorithms of a function, by name; empty where it has none."""
    return {name: number for number, (name, *_) in ALGORITHMS.get(function, {}).items()}


_RULES = {
    "allgather": """
        2: 0:6
        3: 0:3
        32: 0:3 1024:5 65536:4
        64: 0:3 512:5 65536:4
        128: 0:3 512:5 131072:4 524288:5 1048576:4
        256: 0:3 32:2 128:3 1024:5 131072:4 524288:5 1048576:4
        512: 0:3 64:2 256:3 2048:5
        1024: 0:3 4:2 8:3 16:2 32:3 256:2 512:3 4096:5
        2048: 0:2 32:3 128:2 512:3 4096:5
        4096: 0:3 2:2 8:3 16:2 512:3 4096:5
    """,
    "allgatherv": """
        2: 0:3 2048:5 4096:3 8192:5
        3: 0:1 256:4 4096:3 8192:4 16384:2 262144:4
        8: 0:1 1024:2
        16: 0:1 128:2 262144:3
        32: 0:1 256:2 8192:3
        64: 0:1 256:2 4096:3
        128: 0:2 1024:4 65536:3
        256: 0:2 1024:3
        512: 0:2 512:1 1024:2 4096:4 1048576:3
        1024: 0:2 4096:4
    """,
    "allreduce": """
        2: 0:4 8:3 4096:4 8192:3 16384:4 65536:5 262144:6
        4: 0:4 16:3 8192:6
        8: 0:3 8192:6
        16: 0:5 64:3 4096:6
        32: 0:5 128:6
        64: 0:3 262144:6
        128: 0:2 131072:3 262144:6
        256: 0:2 4096:6
        512: 0:2 2048:3 16384:6
        2048: 0:2 2048:5 4096:3 16384:6
        4096: 0:2 2048:5 16384:3 32768:6
    """,
    "alltoall": """
        2: 0:2 2:5 4:2 16:5 64:2 256:5 4096:2 32768:4 262144:5 1048576:2
        3: 0:4 8192:1 16384:4 65536:1 524288:2 1048576:1
        8: 0:4 262144:1
        16: 0:4 4:3 512:4 8192:1 32768:4 262144:1 524288:4
        32: 0:3 512:1 524288:4
        64: 0:3 1024:1 2048:4 4096:1 262144:2
        128: 0:3 1024:4 2048:1 262144:2
        256: 0:3 1024:4 8192:1 32768:2
        512: 0:3 512:4 8192:1 16384:4 131072:1 262144:2
        1024: 0:3 512:4 1024:1 2048:4 16384:1 262144:4
        2048: 0:3 1024:4 4096:1 8192:4 131072:1
        4096: 0:3 2048:4 8192:1 16384:4 32768:1 65536:4
    """,
    "alltoallv": """
        2: 0:2
        4: 0:1
        64: 0:2
        128: 0:1
        256: 0:2
        1024: 0:1
    """,
    "barrier": """
        2: 0:3
        4: 0:1
        8: 0:3
        64: 0:4
        256: 0:6
        512: 0:4
        1024: 0:6
        4096: 0:4
    """,
    "bcast": """
        2: 0:3 32:5 256:3 512:7 1024:1 32768:5 131072:2 262144:1 524288:6 1048576:5
        4: 0:5 64:6 128:5 2048:6 8192:1 1048576:2
        8: 0:7 8:5 64:7 4096:5 16384:6 32768:1
        16: 0:7 4096:6 1048576:8
        32: 0:6 2048:7
        64: 0:7
        128: 0:6 2:5 16384:1 32768:5 65536:7
        256: 0:7 16384:4 32768:7
        1024: 0:7 524288:8
        2048: 0:7 262144:8
        4096: 0:7 8192:5 16384:7 262144:8
    """,
    "gather": """
        2: 0:3 2:1 4:2 32768:1 65536:2 131072:3
        4: 0:2 1024:1 8192:2 32768:1 262144:3
        8: 0:2
        256: 0:2 2048:1 8192:2
        512: 0:2
    """,
    "reduce": """
        2: 0:7 8:4 16:3 32:1 262144:3 524288:2 1048576:3
        4: 0:4 4096:2 65536:5 262144:1 524288:5 1048576:1
        8: 0:4 8192:5
        16: 0:4 4096:5
        32: 0:5
        256: 0:5 8192:6 16384:5
        512: 0:5
        2048: 0:5 512:6 1024:5 8192:6 16384:5
        4096: 0:5 16:6 32:5 1024:6 2048:5 8192:6 16384:5
    """,
    "reduce_scatter": """
        2: 0:3 65536:4 131072:3
        4: 0:1 8:2 262144:3
        8: 0:2 262144:3
        32: 0:1 64:2 2048:4 524288:3
        64: 0:1 256:2 512:4 2048:2 4096:4
        128: 0:1 256:2 512:4
        256: 0:1 256:2 1024:4
        512: 0:1 512:2 2048:4 8192:2 16384:4
        1024: 0:1 512:2 4096:4 16384:2 32768:4
        2048: 0:1 512:2 4096:4
        4096: 0:1 1024:2 8192:4
    """,
    "reduce_scatter_block": """
        2: 0:2 4:4 8:3 16:4 128:3 256:4 4096:3 8192:4 131072:1
        4: 0:3 8:2 32:4 256:3 8192:4 16384:3 1048576:1
        8: 0:1 4:3 32:4 128:3 524288:1 4194304:4
        16: 0:1 32:3 524288:1 2097152:3 4194304:4
        32: 0:3 4:1 16:4 65536:1 262144:4
    """,
    "scatter": """
        2: 0:3 2:1 131072:3 262144:1
        4: 0:2 2048:1 4096:2 8192:1 32768:3 1048576:1
        8: 0:2 16384:3 1048576:1
        16: 0:2 16384:1 32768:3
        32: 0:2 512:3 8192:2 16384:3
        64: 0:2 512:3
    """,
}
"""By function, lines of the first number of ranks that they are for: from so many bytes on, this algorithm."""
WITHOUT_SIZE = ("barrier", "alltoallv")
"""Functions that a file of rules is asked for at 0 bytes."""
BY_ALL_BLOCKS = ("gather", "scatter", "allgather", "alltoall")
"""Functions that a file of rules is asked for at a block's bytes times the ranks."""
SUMMED = ("reduce_scatter",)
"""The bytes are those of the whole message; elsewhere those of a block, where there are blocks."""


@cache
def _rules(function: str) -> tuple[list[int], list[tuple[list[int], list[Number]]]]:
    """The rules of a function: first numbers of ranks, and for each the first bytes with the algorithms."""
    first_ranks, rows = [], []
    for line in _RULES[function].split("\n"):
        ranks, _, pairs = line.strip().partition(": ")
        if pairs:
            sizes, numbers = zip(
                *(map(int, pair.split(":")) for pair in pairs.split()), strict=True
            )
            first_ranks.append(int(ranks))
            rows.append((list(sizes), list(numbers)))
    return first_ranks, rows


def bytes_in_rules(call: CollectiveCall) -> int:
    """The size that coll/tuned looks up in a file of rules."""
    if call.function in WITHOUT_SIZE:
        return 0
    if call.operation == "scan":
        return 8 * call.ranks  # Given: an element for each rank, however many there are
    return call.message_bytes * call.ranks if call.function in BY_ALL_BLOCKS else call.message_bytes


def _bytes_by_itself(call: CollectiveCall) -> int:
    """The size by which coll/tuned decides by itself."""
    by_block = call.operation == "reduce_scatter" and call.function not in SUMMED
    return call.message_bytes // call.ranks if by_block else call.message_bytes


def number_taken(call: CollectiveCall) -> Number:
    """The algorithm that coll/tuned takes of itself; 1 where only coll/basic has the function, or for one rank."""
    if call.function not in _RULES or call.ranks < 2:
        return 1
    first_ranks, rows = _rules(call.function)
    sizes, numbers = rows[bisect_right(first_ranks, call.ranks) - 1]
    return numbers[bisect_right(sizes, _bytes_by_itself(call)) - 1]


def choice_of(call: CollectiveCall, number: Number, segment_bytes: int = 0) -> AlgorithmChoice:
    """Our algorithm for one of coll/tuned's; the default, as nearest, for a number that is not known."""
    native, algorithm, is_same = ALGORITHMS[call.function].get(
        number, (f"algorithm {number}", next(iter(ALGORITHMS[call.function].values()))[1], False)
    )
    if (
        algorithm == "recursive-doubling"
        and call.operation == "allgather"
        and not call.is_power_of_two
    ):
        algorithm = "bruck"  # which coll/tuned takes, too
    # Off powers of two, coll/tuned's rabenseifner halves the messages of ranks beyond them, too.
    is_same &= algorithm != "rabenseifner" or call.is_power_of_two
    return AlgorithmChoice(algorithm, native, not is_same, segment_bytes)


def choose(call: CollectiveCall, release: tuple[int, ...]) -> AlgorithmChoice:
    """What a release takes of itself."""
    choice = choice_of(call, number_taken(call))
    if release >= FIRST_HAN and call.function in BY_HAN and call.nodes > 1 and call.shares_nodes:
        return AlgorithmChoice(choice.algorithm, "node by node (han)", is_nearest=True)
    return choice
