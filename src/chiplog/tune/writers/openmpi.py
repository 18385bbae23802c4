"""Open MPI's coll/tuned: rules of numbers up to 5.0, as JSON since 6.0."""

from __future__ import annotations

from pathlib import Path

from chiplog.tune.check.proof import MarkedFormat, by_marked_copy
from chiplog.tune.formats import openmpi_classic, openmpi_json
from chiplog.tune.formats.openmpi_rules import FIRST_JSON, settings_alone
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, release_of

CLASSIC = MarkedFormat("Open MPI's classic rules", settings_alone, openmpi_classic.marked)
JSON = MarkedFormat("Open MPI's JSON rules", settings_alone, openmpi_json.marked)


def format_for(path: Path, version: str | None, mpi: str | None) -> tuple[TuningFormat, Version]:
    """By the release."""
    release = release_of("openmpi", version, mpi)
    is_json = release >= FIRST_JSON
    return (openmpi_json if is_json else openmpi_classic).FORMAT, release


def format_of(text: str) -> MarkedFormat:
    """By the first character: JSON begins with a brace."""
    return JSON if text.lstrip().startswith("{") else CLASSIC


OPENMPI = TuningWriter(
    name="openmpi",
    summary="Open MPI 4.1 and later: barrier, bcast, reduce, gather, scatter, allreduce, allgather, alltoall",
    format_for=format_for,
    proof=by_marked_copy(format_of),
    mpi="openmpi",
)
