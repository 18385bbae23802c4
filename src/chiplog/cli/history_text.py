"""What `chiplog history` prints: one line for each node and kind of figure, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.counts import counted

if TYPE_CHECKING:
    from chiplog.run_history.result import HistoryResult, HistoryRow

MOST_DIFFERENCES = 3


def history_text(result: HistoryResult, *, most: int | None = 20) -> str:
    """A screen: what was read, then `most` rows (None: all), then what each verdict counts."""
    days = f"{result.against_days:g} days"
    lines = [
        f"target     {result.target}",
        f"runs       {result.runs}, {result.first:%Y-%m-%d} to {result.last:%Y-%m-%d}; "
        f"each against the {days} before it",
    ]
    shown = result.rows[:most]
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
