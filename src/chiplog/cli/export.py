"""`chiplog export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from chiplog.cli.list_names import TABLES
from chiplog.cli.options import SIZES, AnywayOption, TargetOption, names_help
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, Option, OutputFile


def export(
    source: Annotated[Path, Argument(metavar="RUN-OR-MODEL", help="A run or a model file.")],
    to: Annotated[str, Option(metavar="FORMAT", help="See below.")],
    out: Annotated[Path, OutputFile("-o", "--output", metavar="FILE", help="The file to write.")],
    target: TargetOption = None,
    anyway: AnywayOption = False,
    sizes: Annotated[
        str | None,
        Option(
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
    return names_help("--to FORMAT", TABLES["exporters"]())
