"""What other programs call the algorithms of an MPI, and what its tuning files call them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chiplog.collectives.mpis import openmpi
from chiplog.tune.choice import Native
from chiplog.tune.measured.openmpi import CHAINS

FAN_OUT = 4
"""Given: of chains, where nothing is said: coll/tuned's own default."""
SPELLED: Mapping[str, Mapping[str, str]] = {
    "bcast": {"linear": "basic_linear", "binary": "binary_tree", "split_binary": "split_binary_tree"},
    "reduce": {"in_order": "in-order_binary", "in_order_binary": "in-order_binary"},
    "gather": {"linear": "basic_linear", "linear_synch": "linear_sync"},
    "scatter": {"linear": "basic_linear"},
    "allreduce": {
        "linear": "basic_linear", "ring_segmented": "segmented_ring", "non_overlapping": "nonoverlapping",
    },
    "alltoall": {"linear_synch": "linear_sync", "bruck": "modified_bruck"},
    "reduce_scatter": {"non_overlapping": "non-overlapping", "nonoverlapping": "non-overlapping"},
}  # fmt: skip
"""PICO's names of Open MPI's algorithms, without their ending, where they are not Open MPI's own."""
MPICH: Mapping[str, Mapping[str, str]] = {
    "allreduce": {"rabenseifner": "reduce_scatter_allgather"},
    "reduce": {"rabenseifner": "reduce_scatter_gather"},
}
"""PICO's names of MPICH's algorithms, without their ending, where they are not MPICH's own."""
_NUMBERED = re.compile(r"algorithm-(\d{1,3})", re.ASCII)
"""How ompi-collectives-tuning's numbers are imported."""


def native_name(program: str, operation: str, algorithm: str) -> Native | None:
    """How the program's tuning files name an algorithm of a job; None where they can't, or the name is not known.

    A segment's bytes stand behind a slash.

    >>> native_name("openmpi", "bcast", "pipeline_ompi/8192")
    Native(name='pipeline', number=3, segment_bytes=8192, fan_out=0)
    """
    name, _, segment = algorithm.partition("/")
    segment_bytes = _bytes(segment)
    if program == "mpich":
        plain = name.removesuffix("_mpich")
        if plain == name or segment_bytes:
            return None
        leaf = MPICH.get(operation, {}).get(plain, plain)
        return Native(f"MPIR_{operation.capitalize()}_intra_{leaf}")
    numbers = openmpi.numbers_of(operation) if program == "openmpi" else {}
    plain = name.removesuffix("_ompi")
    plain = SPELLED.get(operation, {}).get(plain, plain)
    if match := _NUMBERED.fullmatch(plain):
        plain = next((name for name, number in numbers.items() if number == int(match[1])), plain)
    if plain not in numbers:
        return None
    fan_out = FAN_OUT if plain in CHAINS else 0
    return Native(plain, numbers[plain], segment_bytes, fan_out)


def _bytes(segment: str) -> int:
    """The segment's bytes; a race writes 8K."""
    return int(segment.removesuffix("K")) * (1024 if segment.endswith("K") else 1) if segment else 0
