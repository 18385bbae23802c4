"""MPICH's own choice of algorithms, where no tree of the user's says another one: that of its generic tree.

The trees of 4.0 to 5.0 agree in what is here. Operators are taken to be built in, elements to be of 8 B, and no buffer
to be MPI_IN_PLACE. Where ranks share a node, the device ch4 does some operations through shared memory or node by node:
then the choice is the nearest.

Source: the tree that MPICH's library carries, maint/tuning/coll/mpir/generic.json.
"""

from __future__ import annotations

from chiplog.collectives.mpis.choice import AlgorithmChoice, CollectiveCall
from chiplog.collectives.shapes import power_of_two_below

FIRST_KNOWN = (4, 0)
"""Given: the first release that carries such a tree."""
ELEMENT_BYTES = 8
"""Given: of the elements that are assumed, since no trace tells them."""
BY_NODES = ("allreduce", "barrier", "bcast", "reduce", "scan")
"""What ch4 does by the nodes."""
SCATTERED_AT_ONCE = 32
"""Given: MPICH's scattered alltoall posts messages to so many ranks at a time; MPIR_CVAR_ALLTOALL_THROTTLE."""

ALGORITHMS: dict[str, tuple[str, bool]] = {
    "Bcast_intra_binomial": ("binomial", True),
    "Bcast_intra_scatter_recursive_doubling_allgather": ("scatter-allgather", False),
    "Bcast_intra_scatter_ring_allgather": ("scatter-allgather", True),
    "Allreduce_intra_recursive_doubling": ("recursive-doubling", True),
    "Allreduce_intra_reduce_scatter_allgather": ("rabenseifner", True),
    "Reduce_intra_binomial": ("binomial", True),
    "Reduce_intra_reduce_scatter_gather": ("binomial", False),
    "Allgather_intra_recursive_doubling": ("recursive-doubling", True),
    "Allgather_intra_brucks": ("bruck", True),
    "Allgather_intra_ring": ("ring", True),
    "Allgatherv_intra_recursive_doubling": ("recursive-doubling", True),
    "Allgatherv_intra_brucks": ("bruck", True),
    "Allgatherv_intra_ring": ("ring", True),
    "Reduce_scatter_intra_recursive_halving": ("recursive-halving", True),
    "Reduce_scatter_intra_pairwise": ("pairwise", True),
    "Reduce_scatter_block_intra_recursive_halving": ("recursive-halving", True),
    "Reduce_scatter_block_intra_pairwise": ("pairwise", True),
    "Gather_intra_binomial": ("binomial", True),
    "Gatherv_allcomm_linear": ("linear", True),
    "Scatter_intra_binomial": ("binomial", True),
    "Scatterv_allcomm_linear": ("linear", True),
    "Scan_intra_recursive_doubling": ("recursive-doubling", True),
    "Exscan_intra_recursive_doubling": ("recursive-doubling", True),
    "Barrier_intra_dissemination": ("dissemination", True),
    "Barrier_intra_k_dissemination": ("dissemination", True),
    "Barrier_intra_recexch": ("recursive-doubling", False),
    "Alltoall_intra_brucks": ("bruck", True),
    "Alltoall_intra_scattered": ("linear", True),
    "Alltoall_intra_pairwise": ("pairwise", True),
    "Alltoallv_intra_scattered": ("linear", True),
    "Alltoallw_intra_scattered": ("linear", True),
    "Allreduce_intra_ring": ("ring", True),
}
"""By MPICH's name without "MPIR_": ours, and whether they are the same."""


def choose(call: CollectiveCall) -> AlgorithmChoice:
    """What MPICH takes of itself."""
    choice = choice_of(call, algorithm_taken(call))
    if call.function in BY_NODES and call.shares_nodes:
        return AlgorithmChoice(choice.algorithm, "by nodes (ch4)", is_nearest=True)
    return choice


def choice_of(call: CollectiveCall, native: str) -> AlgorithmChoice:
    """Our algorithm for one of MPICH's; one that is not known is done by what MPICH takes of itself, as the nearest."""
    if native not in ALGORITHMS:
        algorithm, _ = ALGORITHMS[algorithm_taken(call)]
        return AlgorithmChoice(algorithm, native, is_nearest=True)
    algorithm, is_same = ALGORITHMS[native]
    is_same &= not native.endswith("_scattered") or call.ranks <= SCATTERED_AT_ONCE
    return AlgorithmChoice(algorithm, native, not is_same)


def algorithm_taken(call: CollectiveCall) -> str:
    """The name of the algorithm without "MPIR_"."""
    name = call.function.capitalize()
    if call.operation in _BY_SIZE:
        return f"{name}_intra_{_BY_SIZE[call.operation](call)}"
    if call.function in ("gatherv", "scatterv"):
        return f"{name}_allcomm_linear"
    ways = {"gather": "binomial", "scatter": "binomial", "scan": "recursive_doubling"}
    return f"{name}_intra_{ways.get(call.operation, 'dissemination')}"


def _has_many_elements(call: CollectiveCall) -> bool:
    return call.message_bytes // ELEMENT_BYTES >= power_of_two_below(call.ranks)


def _bcast(call: CollectiveCall) -> str:
    if call.ranks < 8 or call.message_bytes <= 12288:  # Given: MPICH's tree, as all below
        return "binomial"
    doubles = call.is_power_of_two and call.message_bytes <= 524288
    return "scatter_recursive_doubling_allgather" if doubles else "scatter_ring_allgather"


def _allreduce(call: CollectiveCall) -> str:
    # Given: MPICH's tree
    is_long = call.message_bytes > 8 and _has_many_elements(call)
    return "reduce_scatter_allgather" if is_long else "recursive_doubling"


def _reduce(call: CollectiveCall) -> str:
    is_long = call.message_bytes > 2048 and _has_many_elements(call)
    return "reduce_scatter_gather" if is_long else "binomial"


def _allgather(call: CollectiveCall) -> str:
    total = call.message_bytes * call.ranks
    if call.is_power_of_two:
        return "recursive_doubling" if total < 524288 else "ring"
    return "brucks" if total < 81920 else "ring"  # Given: MPICH's tree


def _reduce_scatter(call: CollectiveCall) -> str:
    return "recursive_halving" if call.message_bytes < 524288 else "pairwise"


def _alltoall(call: CollectiveCall) -> str:
    if call.function != "alltoall":
        return "scattered"
    # Given: the tree says comm_size<8, which csel.c takes for <= below a test of the buffers.
    if call.ranks > 8 and call.message_bytes <= 256:
        return "brucks"
    return "scattered" if call.message_bytes <= 32768 else "pairwise"


_BY_SIZE = {
    "bcast": _bcast,
    "allreduce": _allreduce,
    "reduce": _reduce,
    "allgather": _allgather,
    "reduce_scatter": _reduce_scatter,
    "alltoall": _alltoall,
}
