"""A table as plain lines, for a command's own output: its title, aligned columns, its notes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from chiplog.report.document import Inline, Table, text_of

COLUMNS = 80
GAP = "  "
UNBROKEN = "\N{NO-BREAK SPACE}"


def plain_lines(table: Table) -> list[str]:
    """The table in at most 80 columns; columns that have no room are named below it."""
    rows = [[_text(column.title) for column in table.columns]]
    rows += [[_text(cell) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    kept = len(widths)
    while kept > 1 and sum(widths[:kept]) + len(GAP) * (kept - 1) > COLUMNS:
        kept -= 1
    lines = list(_wrapped(table.caption))
    lines += [
        GAP.join(cell.rjust(width) for cell, width in zip(row[:kept], widths, strict=False))
        for row in rows
    ]
    if kept < len(widths):
        lines.append(f"no room for {', '.join(rows[0][kept:])}: see chiplog report")
    return lines + [line for note in table.notes for line in _wrapped(note)]


def _text(cell: Inline) -> str:
    return text_of(cell).replace("—", "-")


def _wrapped(words: Inline) -> Iterator[str]:
    """Lines of a sentence; a number and its % stay together."""
    joined = _text(words).replace(" %", UNBROKEN + "%")
    for text in textwrap.wrap(joined, COLUMNS, subsequent_indent="  "):
        yield text.replace(UNBROKEN, " ")
