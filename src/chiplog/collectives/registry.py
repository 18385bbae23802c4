"""Which algorithms there are."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from chiplog.collectives.algorithm import Algorithm
from chiplog.errors import UsageError
from chiplog.plugins import did_you_mean

OPERATIONS = {
    "barrier": "nobody leaves before all have arrived",
    "bcast": "every rank gets the message of rank 0",
    "reduce": "rank 0 gets the sum of all messages",
    "gather": "rank 0 gets a block from each rank",
    "scatter": "each rank gets a block from rank 0",
    "allreduce": "every rank gets the sum of all messages",
    "allgather": "every rank gets a block from each",
    "alltoall": "every rank gets a block of its own from each",
    "reduce_scatter": "every rank gets its block of the sum of all messages",
    "scan": "every rank gets the sum of the messages of the ranks up to it",
    "halo": "neighbours in a periodic grid swap faces",
}

MODULES = {
    "barrier": (
        "linear",
        "central_counter",
        "tree",
        "tournament",
        "combining_tree",
        "recursive_doubling",
        "double_ring",
        "dissemination",
        "n_way_dissemination",
    ),
    "bcast": ("linear", "binomial", "chain", "scatter_allgather", "logp_optimal"),
    "reduce": ("linear", "binomial"),
    "gather": ("linear", "binomial"),
    "scatter": ("linear", "binomial"),
    "allreduce": ("recursive_doubling", "ring", "rabenseifner", "reduce_broadcast"),
    "allgather": ("ring", "recursive_doubling", "bruck"),
    "alltoall": ("linear", "pairwise", "bruck"),
    "reduce_scatter": ("recursive_halving", "pairwise", "ring"),
    "scan": ("linear", "recursive_doubling"),
    "halo": ("direct",),
}
"""A new algorithm is a file in its operation's folder and a name here."""


@cache
def algorithms(operation: str) -> dict[str, Algorithm]:
    """The algorithms of an operation by name; UsageError where there is no such operation."""
    if operation not in MODULES:
        near = did_you_mean(operation, list(MODULES))
        raise UsageError(
            f"there is no operation '{operation}'; there are {', '.join(MODULES)}.{near}"
        )
    modules = [import_module(f"{__package__}.{operation}.{name}") for name in MODULES[operation]]
    return {module.ALGORITHM.name: module.ALGORITHM for module in modules}


def load(operation: str, name: str) -> Algorithm:
    """One algorithm; UsageError says which there are."""
    known = algorithms(operation)
    if name not in known:
        raise UsageError(
            f"--algorithm: '{name}' does no {operation}; there are {', '.join(known)}.{did_you_mean(name, list(known))}"
        )
    return known[name]
