"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.errors import UsageError

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run file (.jsonl).")]


def names(text: str, option: str) -> tuple[str, ...]:
    """The names in a comma-separated list, each once; UsageError where there is none."""
    found = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not found:
        raise UsageError(f"{option}: is empty; it accepts names separated by commas.")
    return found
