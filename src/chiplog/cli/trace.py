"""`chiplog trace`."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chiplog.cli.output import note_build, say
from chiplog.cli.parameters import Argument, Option
from chiplog.counts import counted
from chiplog.errors import RunFailed, UsageError
from chiplog.file_lock import open_locked
from chiplog.report import format

if TYPE_CHECKING:
    from chiplog.tracing.trace import RankTrace, Trace

MOST_NAMED = 8
"""Given: ranks that a line has room for."""


def trace(
    command: Annotated[
        list[str],
        Argument(metavar="COMMAND", help="What starts the program: -- mpirun -n 4 ./program."),
    ],
    folder: Annotated[
        Path,
        Option("-o", "--output", metavar="FOLDER", help="Where the files of the ranks go."),
    ] = Path("chiplog-trace"),
    mpi: Annotated[
        str | None,
        Option(
            metavar="MPICXX", help="The MPI's C++ compiler; by default that of the launcher's MPI."
        ),
    ] = None,
) -> None:
    """Trace an MPI program: who calls what, when, and with whom.

    The exit code is the program's.
    """
    from chiplog.measurement.tracer import trace_command
    from chiplog.tracing.importer import read_trace

    if shutil.which(command[0]) is None:
        raise UsageError(_no_program(command[0]))
    with _new_folder(folder):
        traced = trace_command(command, folder, mpicxx=mpi, progress=note_build)
        code = traced.run()
    if not any(folder.iterdir()):
        raise RunFailed(
            f"no rank has written to {folder} (exit code {code}): the program did not start, is not one of this MPI, "
            "could not write there, or did not come to the end of MPI_Init or MPI_Session_init."
        )
    say(summary(read_trace(folder), folder))
    if code:
        raise click.exceptions.Exit(code)


def _no_program(name: str) -> str:
    if shutil.which(f"./{name}") is not None:
        return f"there is no program {name} on the PATH; for the one in this folder write ./{name}"
    return f"there is no program {name}; is it installed, and on the PATH?"


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """An empty folder that no other chiplog takes meanwhile."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open_locked(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"-o {folder} can't be made: {error.strerror}.") from error
    try:
        if any(folder.iterdir()):
            raise UsageError(f"-o {folder} is not empty: name another folder, or remove it.")
        yield
    finally:
        os.close(lock)


def summary(trace: Trace, folder: Path) -> str:
    """What was recorded, how much of the time was in MPI, and what to do next."""
    ranks = trace.ranks
    calls = sum(sum(rank.call_counts.values()) for rank in ranks)
    shares = [_share(rank) for rank in ranks if rank.seconds > rank.start_and_end_seconds]
    counts = f"{counted(len(ranks), 'rank')}, {counted(calls, 'call')}"
    lines = [f"{folder}: {counts}, {format.value(_seconds(trace), 's')}."]
    if shares:
        mean = sum(shares) / len(shares)
        lines.append(
            f"Communication: {mean:.0%} of the time ({min(shares):.0%} to {max(shares):.0%} by rank)."
        )
    cut = [str(rank.rank) for rank in ranks if not rank.is_complete]
    if cut:
        named = ", ".join(cut[:MOST_NAMED]) + (", ..." if len(cut) > MOST_NAMED else "")
        lines.append(f"Without MPI_Finalize: rank {named}; their calls up to then are there.")
    lines += [f"Note: {note}" for note in trace.notes]
    lines.append(
        f"What that costs, and what would change it: chiplog app {shlex.quote(str(folder))}"
    )
    return "\n".join(lines)


def _seconds(trace: Trace) -> float:
    return max((rank.seconds for rank in trace.ranks), default=0.0)


def _share(rank: RankTrace) -> float:
    """The share of the time between MPI_Init and MPI_Finalize that is spent in MPI."""
    outside = rank.start_and_end_seconds
    return (rank.mpi_seconds - outside) / (rank.seconds - outside)
