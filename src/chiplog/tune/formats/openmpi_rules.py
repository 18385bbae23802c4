"""What the two formats of Open MPI's coll/tuned share: its algorithms' names and numbers, and its units of size."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.tune.formats import openmpi_han
from chiplog.tune.ranges import Key
from chiplog.tune.version import Version, version_text

FIRST_VERSION = (4, 1)
SEGMENT_BYTES = 8192
OWN_DECISION = 0
"""The number of no algorithm: coll/tuned decides by itself."""
TWO_PROCESSES = 5
"""The barrier of two processes: refuses other numbers of ranks."""


@dataclass(frozen=True)
class Theirs:
    """An algorithm of coll/tuned: its number, its name, and the segments in which the model sends."""

    number: int
    name: str
    segment_bytes: int = 0
    fan_out: int = 0


ALGORITHMS: Mapping[str, Mapping[str, Theirs]] = {
    "barrier": {
        "linear": Theirs(1, "linear"),
        "double-ring": Theirs(2, "double_ring"),
        "recursive-doubling": Theirs(3, "recursive_doubling"),
        "dissemination": Theirs(4, "bruck"),
        "tree": Theirs(6, "tree"),
    },
    "bcast": {
        "linear": Theirs(1, "basic_linear"),
        "chain": Theirs(3, "pipeline", SEGMENT_BYTES),
        "binomial": Theirs(6, "binomial"),
        "scatter-allgather": Theirs(9, "scatter_allgather_ring"),
    },
    "reduce": {"linear": Theirs(1, "linear"), "binomial": Theirs(5, "binomial")},
    "gather": {"linear": Theirs(1, "basic_linear"), "binomial": Theirs(2, "binomial")},
    "scatter": {"linear": Theirs(1, "basic_linear"), "binomial": Theirs(2, "binomial")},
    "allreduce": {
        "recursive-doubling": Theirs(3, "recursive_doubling"),
        "ring": Theirs(4, "ring"),
        "rabenseifner": Theirs(6, "rabenseifner"),
    },
    "allgather": {
        "bruck": Theirs(2, "bruck"),
        "recursive-doubling": Theirs(3, "recursive_doubling"),
        "ring": Theirs(4, "ring"),
    },
    "alltoall": {
        "linear": Theirs(1, "linear"),
        "pairwise": Theirs(2, "pairwise"),
        "bruck": Theirs(3, "modified_bruck"),
    },
}
"""By operation and our name; the same from 4.1 to 6.0. What is not here has no counterpart."""

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


def theirs(operation: str, key: Key) -> Theirs:
    """Their algorithm for ours, or the one that was measured."""
    if key.native is not None and key.native.number is not None:
        native = key.native
        return Theirs(key.native.number, native.name, native.segment_bytes, native.fan_out)
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
