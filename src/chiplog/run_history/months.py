"""A history as a survey's page shows it: what is said of each node, and all figures over the runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.machine_survey.page.input import Months, NodeLines, ShiftRow, change_of
from chiplog.run_history.result import (
    DEFAULT_AGAINST,
    judge_history,
    parse_days,
    rows_of,
    series_of,
)

if TYPE_CHECKING:
    from chiplog.run_history.result import HistoryRow


def months_of(history: str | Path, target: str) -> tuple[Months, tuple[str, ...]]:
    """The runs of `target` in a history, and a sentence for each file left out; errors as of `judge_history`."""
    result = judge_history(history, target=target)
    runs, nodes, _ = rows_of(Path(history), target, parse_days(DEFAULT_AGAINST))
    months = Months(
        str(history),
        tuple(run.facts.time for run in runs),
        tuple(
            ShiftRow(row.name, row.quantity, row.verdict.replace("-", " "), _what(row))
            for row in result.rows
        ),
        tuple(
            NodeLines(series.kind, series.nodes, change_of(series.kind, series.slowness))
            for series in series_of(nodes)
            if series.nodes
        ),
    )
    return months, result.unread


def _what(row: HistoryRow) -> str:
    if row.verdict == "same" and row.within is not None:
        return f"within {100 * row.within:.1f} %"
    if row.effect is None or row.low is None or row.high is None or row.since is None:
        return str(row.reason)
    interval = f"[{100 * row.low:+.1f} %, {100 * row.high:+.1f} %]"
    beside = "; at the same time " + ", ".join(row.fingerprint) if row.fingerprint else ""
    return f"since {row.since[:10]} by {100 * row.effect:+.1f} % {interval}{beside}"
