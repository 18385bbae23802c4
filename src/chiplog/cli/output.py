"""Where results go: standard output or a file; progress and warnings go to standard error."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from chiplog.errors import ChiplogError
from chiplog.input_file import MOST_NAMED
from chiplog.output_file import write_text
from chiplog.quoting import for_terminal

COLUMNS = 80
"""What a screen is wide."""


def write_json(destination: str, content: Any) -> None:
    """Write `content` as one JSON document to the file `destination`, or to standard output for `-`."""
    write_text(destination, json.dumps(content, indent=2, allow_nan=False) + "\n")


def wrapped(text: str, indent: str = "", columns: int = COLUMNS) -> str:
    """Text as lines of a screen; those after the first begin with `indent`. Words are never broken."""
    return textwrap.fill(
        text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Plain columns, for commands that answer before a library for tables would be loaded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def rejected_text(reason: str) -> str:
    """What is said of results from a fit that its own check rejects."""
    return f"not to be relied on (--anyway): {reason}."


def say(text: str = "", end: str = "\n") -> None:
    """Print a result, of whatever files, on standard output."""
    print(for_terminal(text), end=end)


def note(sentence: str) -> None:
    """Say something on standard error that is no result: lines of a screen on a terminal, else one line."""
    text = f"chiplog: {for_terminal(sentence)}"
    print(wrapped(text, "  ") if sys.stderr.isatty() else text, file=sys.stderr)


def tell_left_out(errors: Sequence[ChiplogError]) -> None:
    """Say which files a result is made without, and end as the first of them says; nothing where there are none."""
    for error in errors[1:MOST_NAMED]:
        note(str(error))
    if len(errors) > MOST_NAMED:
        note(f"{len(errors) - MOST_NAMED} more files are left out for such reasons.")
    if errors:
        raise errors[0]


def note_build(sentence: str) -> None:
    """Say on standard error how a build goes on; not each file that is compiled."""
    if not sentence.startswith("compiled"):
        note(sentence)
