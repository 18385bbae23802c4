"""`chiplog check-tuning`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.arguments import names_help
from chiplog.cli.output import JsonOption, say, write_json

NOT_IN_FORCE = 3


def check_tuning(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="From `chiplog tune`, or your own.")],
    target: Annotated[
        str, typer.Option("--for", metavar="PROGRAM", help="Whose tuning file it is: see below.")
    ],
    launcher: Annotated[
        str | None, typer.Option(help='Starts 3 ranks or more, e.g. "mpirun -n 4".')
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(metavar="MPICXX", help="The MPI's C++ compiler; found by default.")
    ] = None,
    library: Annotated[
        str | None, typer.Option(metavar="PATH", help="libchiplog_coll.so, for chiplog.")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Prove that a tuning file is in force with the MPI at hand: exit code 0 where it is, 3 where it is not."""
    from chiplog.tune.check.in_force import check_tuning as check

    verdict = check(file, target, launcher=launcher, mpi=mpi, library=library)
    if json_file:
        content = {
            "schema": "chiplog.tuning-check/1",
            "file": str(file),
            "in_force": verdict.in_force,
            "mpi": verdict.mpi,
            "reason": verdict.reason,
        }
        write_json(json_file, content)
    else:
        answer = "in force" if verdict.in_force else "NOT in force"
        say(f"{file} is {answer} with {verdict.mpi}: {verdict.reason}.")
    if not verdict.in_force:
        raise typer.Exit(NOT_IN_FORCE)


def epilog() -> str:
    """The programs whose tuning files can be proved to be in force."""
    from chiplog.tune.check.in_force import provable

    return names_help("--for PROGRAM", provable())
