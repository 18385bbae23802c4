"""`chiplog import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.arguments import names_help
from chiplog.cli.output import note

FITTED = {"prtt", "ping_pong", "pairs", "one_to_many"}
"""Patterns that models are fitted to."""


def import_file(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Whose file it is: see below.")],
    file: Annotated[Path, typer.Argument(help="The file to import; gzip is unpacked.")],
    out: Annotated[
        Path, typer.Option("-o", "--output", metavar="RUN.jsonl", help="The run file to write.")
    ],
    pattern: Annotated[
        str | None, typer.Option(help="The pattern, where the file does not name it.")
    ] = None,
    direction: Annotated[
        str | None, typer.Option(help="one-way or round-trip, where the file does not say.")
    ] = None,
    transport: Annotated[str | None, typer.Option(help="What was measured, e.g. tcp.")] = None,
) -> None:
    """Import another tool's measurements as a run file."""
    from chiplog.dataset.importers import import_file as import_measurements
    from chiplog.dataset.run_file import read_run

    written = import_measurements(
        kind, file, out, pattern=pattern, direction=direction, transport=transport, note=note
    )
    run = read_run(written)
    note(f"imported {run.extent} into {written}.")
    if {one.pattern for one in run.series} & FITTED:
        note(f"next: chiplog fit {written}")


def epilog() -> str:
    """The importers."""
    from chiplog.dataset.importer import IMPORTERS

    return names_help("KIND", IMPORTERS.all())
