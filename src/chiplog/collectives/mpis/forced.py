"""The environment in which an MPI does a collective operation by a given algorithm."""

from __future__ import annotations

from collections.abc import Mapping

from chiplog.collectives.mpis import mpich, openmpi
from chiplog.collectives.mpis.known import MpiRelease

OPEN_MPI_SETTINGS = {
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
    "OMPI_MCA_coll_han_priority": "0",
    "OMPI_MCA_coll_hcoll_enable": "0",
    "OMPI_MCA_coll_ucc_enable": "0",
}
"""Forced algorithms count with the first only; the others stand before coll/tuned where they are there."""
MPICH_SETTINGS = {
    "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
    "MPIR_CVAR_COLLECTIVE_FALLBACK": "error",
}
"""The device does not decide, and an algorithm that can't serve a call says so."""


def settings_forcing(release: MpiRelease, operation: str, algorithm: str) -> Mapping[str, str]:
    """The variables that make the release do the operation by chiplog's `algorithm`; empty where it has no such one.

    >>> from chiplog.collectives.mpis.known import release_named
    >>> settings_forcing(release_named("mpich-4.0"), "allgather", "ring")["MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM"]
    'ring'
    """
    if release.kind == "mpich":
        return _of_mpich(operation, algorithm)
    return _of_open_mpi(operation, algorithm)


def _of_open_mpi(operation: str, algorithm: str) -> Mapping[str, str]:
    """The lowest number is the one that any number of ranks may have."""
    natives = openmpi.ALGORITHMS.get(operation, {})
    numbers = [number for number, (_, ours, same) in natives.items() if same and ours == algorithm]
    if not numbers:
        return {}
    variable = f"OMPI_MCA_coll_tuned_{operation}_algorithm"
    return {**OPEN_MPI_SETTINGS, variable: str(min(numbers))}


def _of_mpich(operation: str, algorithm: str) -> Mapping[str, str]:
    """The first of MPICH's names that is not one of several numbers of peers."""
    stem = f"{operation.capitalize()}_intra_"
    names = [
        native.removeprefix(stem)
        for native, (ours, same) in mpich.ALGORITHMS.items()
        if native.startswith(stem) and same and ours == algorithm
    ]
    if not names:
        return {}
    return {**MPICH_SETTINGS, f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM": names[0]}
