"""`chiplog check-tuning`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from chiplog.cli.options import (
    COMMAND,
    NOT_RELIABLE,
    FoundMpiOption,
    JsonOption,
    ProgramOption,
    names_help,
)
from chiplog.cli.output import say, wrapped, write_json
from chiplog.cli.parameters import Argument, Option


def check_tuning(
    file: Annotated[Path, Argument(metavar="FILE", help="From `chiplog tune`, or your own.")],
    target: ProgramOption,
    launcher: Annotated[
        str | None,
        Option(metavar=COMMAND, help='Starts 3 ranks or more, e.g. "mpirun -n 4".'),
    ] = None,
    mpi: FoundMpiOption = None,
    library: Annotated[
        str | None, Option(metavar="PATH", help="libchiplog_coll.so, for chiplog.")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Prove that a tuning file is in force with the MPI here.

    The exit code is 0 where it is, 3 where it is not.
    """
    from chiplog.tune.check.in_force import check_tuning as check

    verdict = check(file, target, launcher=launcher, mpi=mpi, library=library)
    write_json(json_file, verdict.to_json(file))
    if json_file != "-":
        answer = "in force" if verdict.in_force else "NOT in force"
        say(wrapped(f"{file} is {answer} with {verdict.mpi}: {verdict.reason}."))
    if not verdict.in_force:
        raise click.exceptions.Exit(NOT_RELIABLE)


def epilog() -> str:
    """The programs whose tuning files can be proved to be in force."""
    from chiplog.tune.check.in_force import provable

    return names_help("--for PROGRAM", {writer.name: writer.summary for writer in provable()})
