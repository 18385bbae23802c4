"""MPICH: a name that ends in .json asks for a tree, others for control variables."""

from __future__ import annotations

from pathlib import Path

from chiplog.measurement.mpis import Mpi
from chiplog.tune.check.proof import MarkedFormat, by_marked_copy
from chiplog.tune.formats import mpich_cvars, mpich_device, mpich_json, one_radix
from chiplog.tune.mpich_tree import device_tree, mpich_here, own_tree
from chiplog.tune.version import Version, parse_version
from chiplog.tune.writer import TuningFormat, TuningWriter, release_of

TREE = MarkedFormat("MPICH's JSON tree", mpich_json.settings, mpich_json.marked)
VARIABLES = MarkedFormat("MPICH's control variables", one_radix.settings, mpich_cvars.marked)


def format_for(path: Path, version: str | None, mpi: str | None) -> tuple[TuningFormat, Version]:
    """By the file's name; a tree is made from that of the library itself, which has to be here."""
    if path.suffix != ".json":
        return mpich_cvars.FORMAT, release_of("mpich", version, mpi)
    asked = parse_version(version) if version else None
    if asked is not None:
        mpich_json.check_version(asked)
    here = mpich_here(asked, mpi)
    return _trees_of(here), parse_version(here.version)


def _trees_of(mpi: Mpi) -> TuningFormat:
    own, device = own_tree(mpi), device_tree(mpi)
    return TuningFormat(
        mpich_json.offered,
        lambda tuning, _: mpich_json.text_from(own, tuning),
        mpich_json.settings,
        companions=lambda tuning, _: mpich_device.companions(device, tuning),
    )


def format_of(text: str) -> MarkedFormat:
    """By the first character: JSON begins with a brace."""
    return TREE if text.lstrip().startswith("{") else VARIABLES


MPICH = TuningWriter(
    name="mpich",
    summary="MPICH 4.1 and later: one radix of the barrier; as *.json also bcast, allreduce, allgather, alltoall",
    format_for=format_for,
    proof=by_marked_copy(format_of),
    mpi="mpich",
)
