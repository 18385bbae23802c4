"""What is said on standard error: the one way for notes, errors, warnings and progress.

A message is wrapped on a terminal. For programs and files each is one line, so that a search finds its words.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

from chiplog.quoting import for_terminal

COLUMNS = 80
"""Given: what a screen is wide."""
SCREEN_ROWS = 20
"""Given: rows of a table that a screen of 30 lines has room for, with what is said above and below it."""


def wrapped(text: str, indent: str = "", columns: int = COLUMNS) -> str:
    """Text as lines of a screen; those after the first begin with `indent`. Words are never broken."""
    return textwrap.fill(
        text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def right_aligned(rows: Sequence[Sequence[str]], gap: str) -> tuple[list[str], Sequence[str]]:
    """Rows as lines of right-aligned columns, and the titles of the last columns, for which a screen has no room."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    kept = len(widths)
    while kept > 1 and sum(widths[:kept]) + len(gap) * (kept - 1) > COLUMNS:
        kept -= 1
    lines = [
        gap.join(cell.rjust(width) for cell, width in zip(row[:kept], widths, strict=False))
        for row in rows
    ]
    return lines, rows[0][kept:]


def note_screen(text: str) -> None:
    """Show lines of a screen on standard error, as they are: a help that nobody asked for."""
    print(text, file=sys.stderr)


def note(sentence: str) -> None:
    """Say something on standard error that is no result: lines of a screen on a terminal, else one line."""
    text = f"chiplog: {for_terminal(sentence)}"
    print(wrapped(text, "  ") if sys.stderr.isatty() else text, file=sys.stderr)
