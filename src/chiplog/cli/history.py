"""`chiplog history`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import JsonOption, TargetOption, option
from chiplog.cli.output import SCREEN_ROWS, say, tell_left_out, write_json
from chiplog.cli.parameters import Argument, Option
from chiplog.counts import counted
from chiplog.errors import CorruptFile

if TYPE_CHECKING:
    from chiplog.run_history.result import HistoryResult, HistoryRow

MOST_DIFFERENCES = 3
"""Given: what a line of the table has room for below it."""


@dataclass(frozen=True)
class QuestionOptions:
    """Which figures of a history are asked for, and what they are held against."""

    node: str | None = option(metavar="NAME", help="This node only; by default all of them.")
    pair: str | None = option(
        metavar="A,B", help="The figures of this pair, against the median pair."
    )
    link_class: str | None = option(
        None,
        "--class",
        metavar="NAME",
        help="The median of a class of pairs: leaf (within one), spine (between two) or all.",
    )
    against: str = option(
        "30d", metavar="TIME", help="Hold each run against so long before it: 30d, 2w, 12h."
    )
    target: TargetOption = None


def history(
    folder: Annotated[
        Path,
        Argument(metavar="FOLDER", help="What `chiplog history add` writes to."),
    ],
    *,
    question: QuestionOptions,
    json_file: JsonOption = None,
    details: Annotated[
        bool, Option("--details", help="Print all nodes, not a screen of them.")
    ] = False,
) -> None:
    """Say what changed on a machine since when, and by how much.

    Of nodes, of a pair, or of a class of links.
    """
    from chiplog.run_history.result import judge_history

    result = judge_history(folder, **asdict(question))
    write_json(json_file, result.to_json())
    if json_file != "-":
        say(history_text(result, details=details))
    tell_left_out([CorruptFile(sentence) for sentence in result.unread])


def history_text(result: HistoryResult, *, details: bool) -> str:
    """What was read, then a line for each node and kind of figure, the worst first, then what each verdict counts."""
    days = f"{result.against_days:g} days"
    lines = [
        f"target     {result.target}",
        f"runs       {result.runs}, {result.first:%Y-%m-%d} to {result.last:%Y-%m-%d}; "
        f"each against the {days} before it",
    ]
    shown = result.rows if details else result.rows[:SCREEN_ROWS]
    for row in shown:
        lines += _row(row)
    if len(shown) < len(result.rows):
        lines.append(f"... and {len(result.rows) - len(shown)} more: --details shows all")
    counts = {
        word: sum(history_row.verdict == word for history_row in result.rows) for word in _WORDS
    }
    lines.append(
        "together   " + ", ".join(f"{count} {_WORDS[word]}" for word, count in counts.items())
    )
    return "\n".join(lines)


_WORDS = {"changed": "CHANGED", "same": "SAME", "no-verdict": "NO VERDICT"}


def _row(row: HistoryRow) -> list[str]:
    head = f"{row.name:<10} {row.quantity:<9} {_WORDS[row.verdict]}"
    if row.verdict == "same" and row.within is not None:
        return [f"{head} within {100 * row.within:.1f} %"]
    if row.effect is None or row.low is None or row.high is None or row.since is None:
        return [f"{head}: {row.reason}"]
    lines = [
        f"{head} since {row.since[:10]} by {100 * row.effect:+.1f} % "
        f"[{100 * row.low:+.1f} %, {100 * row.high:+.1f} %]"
    ]
    lines += [
        f"           at the same time {difference}"
        for difference in row.fingerprint[:MOST_DIFFERENCES]
    ]
    if len(row.fingerprint) > MOST_DIFFERENCES:
        more = counted(len(row.fingerprint) - MOST_DIFFERENCES, "more difference")
        lines.append(f"           and {more}")
    if not row.fingerprint:
        lines.append("           nothing in the run's kernel, MPI and settings changed with it")
    return lines
