"""`chiplog export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import note


def export(
    source: Annotated[Path, typer.Argument(metavar="RUN-OR-MODEL", help="A run or a model file.")],
    to: Annotated[str, typer.Option(help="csv, parquet, codes, simgrid or loggopsim.")],
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")],
) -> None:
    """Write a run or a model in another program's format."""
    from chiplog.export.run import export_file

    note(f"exported to {export_file(source, to, out)}.")
