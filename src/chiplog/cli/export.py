"""`chiplog export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.options import SIZES, AnywayOption, TargetOption, names_help
from chiplog.cli.output import note


def export(
    source: Annotated[Path, typer.Argument(metavar="RUN-OR-MODEL", help="A run or a model file.")],
    to: Annotated[str, typer.Option(metavar="FORMAT", help="See below.")],
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")],
    target: TargetOption = None,
    anyway: AnywayOption = False,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar=SIZES,
            help="Which sizes to hold, of a model file; all by default.",
        ),
    ] = None,
) -> None:
    """Write a run or a model in another program's format."""
    from chiplog.export.export_file import export_file

    note(f"exported to {export_file(source, to, out, target=target, sizes=sizes, anyway=anyway)}.")


def epilog() -> str:
    """The exporters."""
    from chiplog.export.exporter import EXPORTERS

    return names_help("--to FORMAT", EXPORTERS.all())
