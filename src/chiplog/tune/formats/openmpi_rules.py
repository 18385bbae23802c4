"""What the two formats of Open MPI's coll/tuned share: its algorithms' names and numbers, and its units of size."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog.collectives.algorithm import Task
from chiplog.collectives.mpis import openmpi
from chiplog.collectives.mpis.openmpi import numbers_of
from chiplog.errors import UsageError
from chiplog.tune.choice import Native
from chiplog.tune.ranges import Key
from chiplog.tune.version import Version, version_text

OPERATIONS = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier"),
    *("bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "scatter", "scatterv", "neighbor_allgather", "neighbor_allgatherv"),
    *("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
"""By the number in classic rules; the same in all releases, and no program prints them."""
FIRST_JSON = (6, 0)
"""Given: the release whose rules are JSON."""
OWN_DECISION = 0
"""Given: the number of no algorithm, with which coll/tuned decides by itself."""
TWO_PROCESSES = numbers_of("barrier")["two_proc"]
"""The barrier of two processes: refuses other numbers of ranks."""
MODELLED = (
    *("barrier", "bcast", "reduce", "gather", "scatter", "allreduce", "allgather", "alltoall"),
)
"""The operations that rules are written for."""


def _same(operation: str) -> dict[str, Native]:
    """By our name, coll/tuned's algorithm that is the same; the first of several."""
    natives: dict[str, Native] = {}
    for number, (name, our_name, is_same) in openmpi.ALGORITHMS[operation].items():
        if is_same:
            natives.setdefault(our_name, Native(name, number))
    return natives


ALGORITHMS = {operation: _same(operation) for operation in MODELLED}
"""By operation and our name, with the segments in which the model sends. What is not here has no counterpart."""
ALGORITHMS["bcast"]["chain"] = Native(
    "pipeline", numbers_of("bcast")["pipeline"], Task.segment_bytes
)

BY_ALL_BLOCKS = (
    *("gather", "scatter", "allgather", "alltoall", "reduce_scatter", "reduce_scatter_block"),
)
"""The size that these look up is a block's times the number of ranks."""


def check_version(version: Version) -> None:
    """UsageError below 4.1."""
    if version < openmpi.FIRST_KNOWN:
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
    if version >= openmpi.FIRST_HAN:
        environment["OMPI_MCA_coll_han_priority"] = "0"
    return environment
