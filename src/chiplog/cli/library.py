"""`chiplog library build`."""

from __future__ import annotations

from typing import Annotated

from chiplog.cli.output import note_build, say
from chiplog.cli.parameters import Option


def build(
    mpi: Annotated[str, Option(metavar="MPICXX", help="The MPI's C++ compiler, e.g. mpicxx.")],
    jobs: Annotated[int | None, Option(help="Compilers at a time.")] = None,
) -> None:
    """Build the barrier library and print its path.

    Where it is in the cache, nothing is built.
    """
    from chiplog.measurement.library import build_library

    say(str(build_library(mpi, jobs=jobs, progress=note_build).path))


COMMANDS = {"build": build}
