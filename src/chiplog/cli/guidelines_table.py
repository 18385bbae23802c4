"""Violated performance guidelines on the terminal."""

from __future__ import annotations

from rich.table import Table

from chiplog.cli.output import COLUMNS, say, wrapped
from chiplog.cli.screen import Screen
from chiplog.counts import counted
from chiplog.report import format
from chiplog.tune.guidelines.guideline import TimedCall
from chiplog.tune.guidelines.judge import GuidelineFinding, GuidelineJudgement
from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.launch import Cell

MOST_ROWS = 20


def print_guidelines(judgement: GuidelineJudgement) -> None:
    """The answer, a row for each violation, and what could not be said."""
    violations, count = judgement.violations, len(judgement.findings)
    say(wrapped(f"{judgement.source}: {_answer(len(violations), count)}"))
    if violations:
        Screen(width=COLUMNS).print(_table(violations[:MOST_ROWS]))
    if len(violations) > MOST_ROWS:
        say(f"{counted(len(violations) - MOST_ROWS, 'more violation')} (--json)")
    if suspects := len(judgement.suspects):
        say(
            wrapped(
                f"Not told: {counted(suspects, 'more guideline')} that may be violated; more --launches may tell."
            )
        )
    for call, reason in judgement.refused.items():
        say(wrapped(f"left out: {_text(call)}: {reason}", "  "))


def _answer(violated: int, count: int) -> str:
    if not violated:
        return f"no violation is sure among {counted(count, 'guideline')}."
    are = "is" if violated == 1 else "are"
    return f"{violated} of {counted(count, 'guideline')} {are} surely violated (95 %)."


def _table(violations: list[GuidelineFinding]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("ranks", "slow", "faster", "factor", "95 % interval"):
        table.add_column(title, no_wrap=True)
    for finding in violations:
        factor, interval = format.value_and_interval(
            finding.factor, finding.factor_low, finding.factor_high, ""
        )
        cell = finding.guideline.call.cell
        table.add_row(str(cell.ranks), _name(cell), _other(finding), factor, interval)
    return table


def _other(finding: GuidelineFinding) -> str:
    """What differs."""
    other = finding.guideline.other
    if other.emulation != DEFAULT_NAME:
        return other.emulation
    if finding.guideline.kind == "size":
        return format.message_size(other.cell.message_bytes)
    return counted(other.cell.ranks, "rank")


def _name(cell: Cell) -> str:
    size = "" if cell.operation == "barrier" else f" {format.message_size(cell.message_bytes)}"
    return f"{cell.operation}{size}"


def _text(call: TimedCall) -> str:
    by = "" if call.emulation == DEFAULT_NAME else f" by {call.emulation}"
    return f"{_name(call.cell)}{by}, {counted(call.cell.ranks, 'rank')}"
