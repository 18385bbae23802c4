"""How `chiplog app --savings` says what would save most."""

from __future__ import annotations

from chiplog.application.result import Saving, Savings
from chiplog.cli.output import wrapped
from chiplog.report import format


def savings_text(savings: Savings, seconds: float) -> str:
    """What saves how much of the replay's time, and how to do it; then what could not be tried."""
    lines = [wrapped(_saving(place + 1, row, seconds)) for place, row in enumerate(savings.rows)]
    lines += [row.file.rstrip() for row in savings.rows if row.file is not None]
    if not lines:
        lines = [wrapped("Nothing that was tried surely saves time.")]
    return "\n".join([*lines, *(wrapped(f"Not tried: {reason}.") for reason in savings.untried)])


def _saving(number: int, row: Saving, seconds: float) -> str:
    saved, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
    ends = f" {interval}" if row.low < row.high else ""
    share = format.percent(row.seconds / seconds)
    return f"{number}. {row.what[0].upper()}{row.what[1:]} saves {saved}{ends}, {share}: {row.how}."
