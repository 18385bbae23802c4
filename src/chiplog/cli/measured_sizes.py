"""What `chiplog measure` prints at its end: a table a pattern, and what to be warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.report.input import TargetReport
from chiplog.report.patterns import pattern_tables
from chiplog.report.plain_table import plain_lines
from chiplog.report.sections.warnings import notice_sentence, notices

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset

MOST_ROWS, MOST_COLUMNS = 24, 4
MOST_WARNINGS = 3


def measured_lines(dataset: Dataset) -> list[str]:
    """The tables of all patterns that were measured, with an empty line between two."""
    blocks = [
        plain_lines(table)
        for table in pattern_tables(dataset, most_rows=MOST_ROWS, most_columns=MOST_COLUMNS)
    ]
    return [line for block in blocks for line in [*block, ""]][:-1]


def header_warnings(dataset: Dataset) -> list[str]:
    """What the machine did beside the measurement: each a fact, a number and a remedy; at most MOST_WARNINGS."""
    target = TargetReport(str(dataset.header.get("target", "")), dataset)
    return [notice_sentence(one) for one in notices(target)[:MOST_WARNINGS]]
