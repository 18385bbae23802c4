"""`chiplog report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import note


def report(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE ...", help="Run files and model files.")
    ],
    out: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="REPORT.html|REPORT.md", help="The file to write."),
    ],
) -> None:
    """Write a report on run files and model files."""
    from chiplog.jobs.report import report as write_report

    write_report(files, out, command=("chiplog", *sys.argv[1:]))
    note(f"the report is {out}.")
