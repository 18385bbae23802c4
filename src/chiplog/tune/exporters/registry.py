"""Which files can be written: a new format is a module here and a line in `exporter_for`."""

from __future__ import annotations

from pathlib import Path

from chiplog.errors import UsageError
from chiplog.measure.mpis import find_mpis, identify_mpi
from chiplog.tune.exporter import Exporter
from chiplog.tune.exporters import (
    chiplog_library,
    mpich_cvars,
    mpich_json,
    openmpi_classic,
    openmpi_json,
    ucc,
)
from chiplog.tune.mpich_tree import mpich_here, own_tree
from chiplog.tune.version import Version, parse_version

TARGETS = ("chiplog", "openmpi", "mpich", "ucc")
NO_VERSION: Version = (0, 0)


def exporter_for(
    target: str, out: Path, version: str | None = None, mpi: str | None = None
) -> tuple[Exporter, Version]:
    """The exporter of `target` (of TARGETS) for a file `out`, and the release that it is for.

    The release is `version`, else that of the compiler wrapper `mpi`, else that of the first such MPI found here. For
    MPICH a name that ends in .json asks for a tree, others for control variables. Raises UsageError.
    """
    if target not in TARGETS:
        raise UsageError(f"--for: '{target}' is unknown; it accepts {', '.join(TARGETS)}.")
    if target == "chiplog":
        return chiplog_library.EXPORTER, NO_VERSION
    if target == "ucc":
        return ucc.EXPORTER, NO_VERSION
    asked = parse_version(version) if version else None
    if target == "openmpi":
        release = asked or _version_here(target, mpi)
        is_json = release >= openmpi_classic.FIRST_JSON_VERSION
        return (openmpi_json if is_json else openmpi_classic).EXPORTER, release
    if out.suffix != ".json":
        return mpich_cvars.EXPORTER, asked or _version_here(target, mpi)
    if asked is not None and asked < mpich_json.FIRST_VERSION:
        mpich_json.offered("barrier", asked)
    here = mpich_here(asked, mpi)
    return mpich_json.exporter(own_tree(here)), parse_version(here.version)


def _version_here(kind: str, mpi: str | None) -> Version:
    found = [identify_mpi(mpi)] if mpi else [one for one in find_mpis() if one.kind == kind]
    if not found or found[0].kind != kind:
        raise UsageError(
            f"--version: there is no {kind} here to ask; give the release the file is for."
        )
    return parse_version(found[0].version)
