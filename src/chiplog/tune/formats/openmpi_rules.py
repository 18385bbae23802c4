"""What the two formats of Open MPI's coll/tuned share: its algorithms' names and numbers, and its units of size."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.tune.choice import Native
from chiplog.tune.formats import openmpi_han
from chiplog.tune.ranges import Key
from chiplog.tune.version import Version, version_text

OPERATIONS = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier"),
    *("bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "scatter", "scatterv", "neighbor_allgather", "neighbor_allgatherv"),
    *("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
"""By the number in classic rules; the same in all releases, and no program prints them."""
FIRST_VERSION = (4, 1)
FIRST_JSON = (6, 0)
"""The release whose rules are JSON."""
SEGMENT_BYTES = 8192
OWN_DECISION = 0
"""The number of no algorithm: coll/tuned decides by itself."""
TWO_PROCESSES = 5
"""The barrier of two processes: refuses other numbers of ranks."""


ALGORITHMS: Mapping[str, Mapping[str, Native]] = {
    "barrier": {
        "linear": Native("linear", 1),
        "double-ring": Native("double_ring", 2),
        "recursive-doubling": Native("recursive_doubling", 3),
        "dissemination": Native("bruck", 4),
        "tree": Native("tree", 6),
    },
    "bcast": {
        "linear": Native("basic_linear", 1),
        "chain": Native("pipeline", 3, SEGMENT_BYTES),
        "binomial": Native("binomial", 6),
        "scatter-allgather": Native("scatter_allgather_ring", 9),
    },
    "reduce": {"linear": Native("linear", 1), "binomial": Native("binomial", 5)},
    "gather": {"linear": Native("basic_linear", 1), "binomial": Native("binomial", 2)},
    "scatter": {"linear": Native("basic_linear", 1), "binomial": Native("binomial", 2)},
    "allreduce": {
        "recursive-doubling": Native("recursive_doubling", 3),
        "ring": Native("ring", 4),
        "rabenseifner": Native("rabenseifner", 6),
    },
    "allgather": {
        "bruck": Native("bruck", 2),
        "recursive-doubling": Native("recursive_doubling", 3),
        "ring": Native("ring", 4),
    },
    "alltoall": {
        "linear": Native("linear", 1),
        "pairwise": Native("pairwise", 2),
        "bruck": Native("modified_bruck", 3),
    },
}
"""By operation and our name, with the segments in which the model sends; the same from 4.1 to 6.0. What is not here has
no counterpart."""

BY_ALL_BLOCKS = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
"""The size that these look up is a block's times the number of ranks."""


def check_version(version: Version) -> None:
    """UsageError below 4.1."""
    if version < FIRST_VERSION:
        raise UsageError(
            f"--version {version_text(version)}: rules are written for Open MPI 4.1 and later."
        )


def offered(operation: str, version: Version) -> Collection[str]:
    """Our names of what coll/tuned has."""
    check_version(version)
    if operation not in ALGORITHMS:
        raise UsageError(
            f"--operation {operation}: Open MPI's rules are written for {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[operation]


def native_of(operation: str, key: Key) -> Native:
    """coll/tuned's algorithm for ours, or the one that was measured."""
    if key.native is not None and key.native.number is not None:
        return key.native
    return ALGORITHMS[operation][key.algorithm]


def looked_up_bytes(operation: str, ranks: int, message_bytes: int) -> int:
    """The size as coll/tuned counts it, for the first number of ranks of a rule."""
    return message_bytes * ranks if operation in BY_ALL_BLOCKS else message_bytes


def settings(path: Path, version: Version) -> Mapping[str, str]:
    """The switch and the file."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path.absolute()),
    }


def settings_alone(path: Path, version: Version) -> Mapping[str, str]:
    """The environment for a rules file that has no second one: it turns han off, which may come before tuned."""
    environment = dict(settings(path, version))
    if version >= openmpi_han.FIRST_VERSION:
        environment["OMPI_MCA_coll_han_priority"] = "0"
    return environment
