"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Protocol

import typer

from chiplog.errors import UsageError

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run file (.jsonl).")]


class Summarised(Protocol):
    """What a list of names tells of each."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def summary(self) -> str:
        """What it is, in a few words."""


def names_help(option: str, known: Iterable[Summarised]) -> str:
    """The end of a command's help: each name that `option` accepts, with its summary."""
    rows = [(summarised.name, summarised.summary) for summarised in known]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {summary}" for name, summary in rows]
    return "\n".join(["\b", f"{option}:", *lines])


def names(text: str, option: str) -> tuple[str, ...]:
    """The names in a comma-separated list, each once; UsageError where there is none."""
    parts = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not parts:
        raise UsageError(f"{option}: is empty; it accepts names separated by commas.")
    return parts
