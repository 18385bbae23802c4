"""What `chiplog measure` prints at its end: a table a pattern, and what to be warned of."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from chiplog.messages import COLUMNS, right_aligned
from chiplog.report.document import Inline, Table, line, text_of
from chiplog.report.input import TargetReport
from chiplog.report.patterns import pattern_tables
from chiplog.report.patterns.run import HOW_TO_SEE_ALL
from chiplog.report.sections.warnings import notice_sentence, warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.dataset.series import Dataset

MOST_ROWS, MOST_COLUMNS, MOST_WARNINGS = 24, 4, 3
"""Given: what a screen has room for."""
SCREEN_LINES = 29
"""Given: a screen of 30 lines has room for so many."""
FEWEST_ROWS = 3
"""Given: a table has so many rows, if there are as many, even where several patterns then need more than a screen."""
GAP = "  "
UNBROKEN = "\N{NO-BREAK SPACE}"


def measured_lines(dataset: Dataset) -> list[str]:
    """The tables of all patterns that were measured, with an empty line between two; one screen in all.

    Where they would be longer, each gets as many lines, and some of its rows are shown, evenly taken: a few at least.
    """
    tables = pattern_tables(dataset, most_rows=MOST_ROWS, most_columns=MOST_COLUMNS)
    blocks = [plain_lines(table) for table in tables]
    if _lines(blocks) > SCREEN_LINES:
        room = SCREEN_LINES // len(blocks) - 1
        others = max(
            len(block) - len(table.rows) for table, block in zip(tables, blocks, strict=True)
        )
        fewer = max(room - others - 1, FEWEST_ROWS)
        tables = pattern_tables(dataset, most_rows=fewer, most_columns=MOST_COLUMNS)
        blocks = [plain_lines(table) for table in tables]
    if _lines(blocks) > SCREEN_LINES:
        blocks = [
            plain_lines(_with_rows(table, room - (len(block) - len(table.rows))))
            for table, block in zip(tables, blocks, strict=True)
        ]
    return [words for block in blocks for words in [*block, ""]][:-1]


def _lines(blocks: Sequence[Sequence[str]]) -> int:
    """Of all blocks, with an empty line between two."""
    return sum(map(len, blocks)) + len(blocks) - 1


def _with_rows(table: Table, most: int) -> Table:
    """The table with so many of its rows, the first and the last among them; at least FEWEST_ROWS."""
    if len(table.rows) <= max(most, FEWEST_ROWS):
        return table
    most = max(most - 1, FEWEST_ROWS)
    places = [round(i * (len(table.rows) - 1) / (most - 1)) for i in range(most)]
    note = line(f"Shown: {most} of {len(table.rows)} rows. {HOW_TO_SEE_ALL}")
    return replace(table, rows=tuple(table.rows[i] for i in places), notes=(*table.notes, note))


def header_warnings(dataset: Dataset) -> list[str]:
    """What the machine did beside the measurement: each a fact, a number and a remedy; at most MOST_WARNINGS."""
    target = TargetReport(str(dataset.header.get("target", "")), dataset)
    return [notice_sentence(notice) for notice in warnings(target)[:MOST_WARNINGS]]


def plain_lines(table: Table) -> list[str]:
    """The table in at most 80 columns; columns that have no room are named below it."""
    rows = [[_text(column.title) for column in table.columns]]
    rows += [[_text(cell) for cell in row] for row in table.rows]
    shown, left_out = right_aligned(rows, GAP)
    lines = [*_wrapped(table.caption), *shown]
    if left_out:
        lines.append(f"no room for {', '.join(left_out)}: see chiplog report")
    return lines + [line for note in table.notes for line in _wrapped(note)]


def _text(cell: Inline) -> str:
    return text_of(cell).replace("—", "-")


def _wrapped(words: Inline) -> Iterator[str]:
    """Lines of a sentence; a number and its % stay together."""
    joined = _text(words).replace(" %", UNBROKEN + "%")
    for text in textwrap.wrap(joined, COLUMNS, subsequent_indent="  "):
        yield text.replace(UNBROKEN, " ")
