"""What is said on standard error: the one way for notes, errors, warnings and progress.

A message is wrapped on a terminal. For programs and files each is one line, so that a search finds its words.
"""

from __future__ import annotations

import sys
import textwrap

from chiplog.quoting import for_terminal

COLUMNS = 80
"""What a screen is wide."""


def wrapped(text: str, indent: str = "", columns: int = COLUMNS) -> str:
    """Text as lines of a screen; those after the first begin with `indent`. Words are never broken."""
    return textwrap.fill(
        text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def note_screen(text: str) -> None:
    """Show lines of a screen on standard error, as they are: a help that nobody asked for."""
    print(text, file=sys.stderr)


def note(sentence: str) -> None:
    """Say something on standard error that is no result: lines of a screen on a terminal, else one line."""
    text = f"chiplog: {for_terminal(sentence)}"
    print(wrapped(text, "  ") if sys.stderr.isatty() else text, file=sys.stderr)
