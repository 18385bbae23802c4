"""`chiplog library build`."""

from __future__ import annotations

from typing import Annotated

import typer

from chiplog.cli.output import note_build, say

library_app = typer.Typer(
    help="Build the barrier library for a site's own MPI.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@library_app.callback()
def library() -> None:
    """Build the barrier library, libchiplog_coll.so, for a site's own MPI."""


@library_app.command("build")
def build(
    mpi: Annotated[
        str, typer.Option(metavar="MPICXX", help="The MPI's C++ compiler, e.g. mpicxx.")
    ],
    jobs: Annotated[int | None, typer.Option(help="Compilers at a time.")] = None,
) -> None:
    """Build the barrier library and print its path; nothing to do where it is in the cache."""
    from chiplog.measurement.library import build_library

    say(str(build_library(mpi, jobs=jobs, progress=note_build).path))
