"""`chiplog import`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from chiplog.cli.list_names import TABLES
from chiplog.cli.next_command import next_commands
from chiplog.cli.options import RANKS, names_help, option
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, OutputFile
from chiplog.errors import UsageError


@dataclass(frozen=True)
class UnsaidOptions:
    """What the file may leave unsaid."""

    pattern: str | None = option(help="The pattern, where the file does not name it.")
    direction: str | None = option(help="one-way or round-trip, where the file does not say.")
    transport: str | None = option(help="What was measured, e.g. tcp.")
    ranks: int | None = option(
        metavar=RANKS, help="Of collective operations: how many, where the file does not say."
    )


def import_file(
    kind: Annotated[str, Argument(metavar="KIND", help="Whose file it is: see below.")],
    file: Annotated[Path, Argument(help="The file to import; gzip is unpacked.")],
    out: Annotated[
        Path, OutputFile("-o", "--output", metavar="RUN.jsonl", help="The run file to write.")
    ],
    *,
    unsaid: UnsaidOptions,
) -> None:
    """Import another tool's measurements as a run file."""
    from chiplog.dataset.importers import import_file as import_measurements
    from chiplog.dataset.run_file import read_run

    if Path(kind).exists() and not file.exists():
        raise UsageError(
            f"{file} is no file: the kind comes first, as in chiplog import {file} {kind} -o {out}."
        )
    written = import_measurements(kind, file, out, **asdict(unsaid), note=note)
    run = read_run(written)
    note(f"imported {run.extent} into {written}.")
    note(f"next: {next_commands(written, run)[0]}")


def epilog() -> str:
    """The importers."""
    return names_help("KIND", TABLES["importers"]())
