"""How `chiplog app --savings` says what would save most."""

from __future__ import annotations

from chiplog.application.result import Savings
from chiplog.cli.output import wrapped
from chiplog.report.application_words import saving_words


def savings_text(savings: Savings, seconds: float) -> str:
    """What saves how much of the replay's time, and how to do it; then what could not be tried."""
    lines = [
        wrapped(f"{number}. {row.what[0].upper()}{row.what[1:]} {saving_words(row, seconds)}.")
        for number, row in enumerate(savings.rows, 1)
    ]
    lines += [row.file.rstrip() for row in savings.rows if row.file is not None]
    if not lines:
        lines = [wrapped("Nothing that was tried surely saves time.")]
    return "\n".join([*lines, *(wrapped(f"Not tried: {reason}.") for reason in savings.untried)])
