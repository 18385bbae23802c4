"""What a history says of each node: changed since when, the same within what, or why nothing can be said."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chiplog.counts import listed
from chiplog.errors import CorruptFile, UsageError
from chiplog.json_values import members
from chiplog.outside import as_float
from chiplog.run_history.fingerprint import differences
from chiplog.run_history.layout import NODE
from chiplog.run_history.links import CLASSES, KINDS, links_of, parse_pair, streams_of_pairs
from chiplog.run_history.names import short_name
from chiplog.run_history.read import (
    names_in,
    node_series,
    of_each,
    read_rows,
    runs_of,
    window_starts,
)
from chiplog.run_history.sequential import IN_A_ROW, LEAST_PAST, LOOKS_A_YEAR, Watched, watch

if TYPE_CHECKING:
    from chiplog.machine_survey.pair_values import Kind
    from chiplog.run_history.layout import HistoryFile
    from chiplog.run_history.read import FileRows, NodeSeries
    from chiplog.run_history.sequential import NodeShift

Word = Literal["changed", "same", "no-verdict"]
DEFAULT_AGAINST = "30d"
_DAYS_OF = {"d": 1.0, "w": 7.0, "h": 1.0 / 24}
"""Given: days of each unit."""
MOST_DAYS = 36500
"""Given: a century."""
_ORDER: tuple[Word, ...] = ("changed", "no-verdict", "same")
"""What is worst stands first."""
MOST_NAMED = 5
"""Given: nodes in a message."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """What is said of one node, pair or class of links, and one kind of figure."""

    name: str
    quantity: Kind
    verdict: Word
    since: str | None
    """When the first run after the change was; None where nothing changed."""
    effect: float | None
    """The relative change: -0.05 of a bandwidth that is 5 % smaller than before."""
    low: float | None
    high: float | None
    within: float | None
    """A lasting change above this would have been found, with 95 %; None where there is no verdict."""
    reason: str | None
    """Why there is no verdict."""
    fingerprint: tuple[str, ...]
    """What differs between the runs before and after the change."""
    runs: int
    """The runs that have this node."""


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """What a history says of its nodes, the worst first."""

    target: str
    runs: int
    first: datetime
    last: datetime
    against_days: float
    rows: tuple[HistoryRow, ...]
    unread: tuple[str, ...] = ()
    """A sentence for each file that is broken or of another version; the rows are those of the other files."""

    def to_json(self) -> dict[str, Any]:
        """The result for scripts (chiplog.history/1)."""
        return {
            "schema": "chiplog.history/1",
            **members(self, "target", "runs"),
            "first": _iso(self.first),
            "last": _iso(self.last),
            **members(self, "against_days", "rows", "unread"),
        }


def parse_days(text: str) -> float:
    """Days, as in 30d, 2w or 12h.

    >>> parse_days("2w")
    14.0
    """
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([dwh])", text)
    number = as_float(parts[1]) if parts else None
    days = 0.0 if parts is None or number is None else number * _DAYS_OF[parts[2]]
    if not 0 < days <= MOST_DAYS:
        raise UsageError(
            f"--against: '{text[:40]}' is not understood; it accepts such as 30d, 2w or 12h."
        )
    return days


def judge_history(
    history: str | Path,
    *,
    node: str | None = None,
    pair: str | None = None,
    link_class: str | None = None,
    against: str = DEFAULT_AGAINST,
    target: str | None = None,
) -> HistoryResult:
    """Judges the nodes of a history, or one `node`: each run of the last `against` by the runs as long before it.

    `pair` ("n05,n09") judges the figures of one pair instead, against the median pair of each run; `link_class` the
    median figure of the pairs of a class: `leaf` (within a leaf), `spine` (between leaves) or `all`.

    Raises UsageError for a node, a pair, a class or a target that it lacks, for two of these at once, where it has no
    run, or without PyArrow; CorruptFile where no file can be read. Files that are broken or of another version are in
    `unread` of the result.
    """
    if sum(choice is not None for choice in (node, pair, link_class)) > 1:
        raise UsageError("--node, --pair and --class: give one of them at a time.")
    days = parse_days(against)
    ends = None if pair is None else parse_pair(pair)
    runs, nodes, unread = rows_of(Path(history), target, days)
    series = series_of(nodes)
    if ends is not None or link_class is not None:
        runs, links, others = links_of(runs, names_in(nodes), ends, link_class)
        if not runs:
            raise CorruptFile(others[0])
        most_nodes = max(len(kind_series.nodes) for kind_series in series)
        rows = _rows_of_links(runs, links, most_nodes, days, ends)
        return _result(runs, rows, days, unread + others)
    streams = sum(len(kind_series.nodes) for kind_series in series)
    rows = [
        row
        for kind_series in series
        if kind_series.nodes
        for row in _rows(kind_series, streams, runs, days)
    ]
    return _result(runs, rows if node is None else _of_node(rows, node, days), days, unread)


def _of_node(rows: Sequence[HistoryRow], node: str, days: float) -> list[HistoryRow]:
    """The rows of a node; UsageError where there are none."""
    of_node = [row for row in rows if short_name(node) in (short_name(row.name), row.name.lower())]
    if not of_node:
        known = listed(sorted({row.name for row in rows}), MOST_NAMED) or "none"
        raise UsageError(
            f"--node: no run of the last {2 * days:g} days has a node '{node}'; "
            f"it has {known}. A longer --against looks further back."
        )
    return of_node


def _result(
    runs: Sequence[HistoryFile], rows: list[HistoryRow], days: float, unread: Sequence[str]
) -> HistoryResult:
    rows.sort(key=_worst_first)
    times = [run.facts.time for run in runs]
    return HistoryResult(
        runs[0].facts.target,
        len(runs),
        times[0],
        times[-1],
        days,
        tuple(rows),
        tuple(dict.fromkeys(unread)),
    )


def rows_of(
    history: Path, target: str | None, days: float
) -> tuple[list[HistoryFile], list[dict[Kind, FileRows]], list[str]]:
    """The runs of the last twice `days`, the rows of their nodes, and a sentence for each file that can't be read.

    Errors as of `judge_history`.
    """
    runs, unread = runs_of(history, target, days)
    kept, rows, others = of_each(runs, lambda file: read_rows(file, NODE))
    if not kept:
        raise CorruptFile(others[0])
    return kept, rows, unread + others


def series_of(nodes: Sequence[Mapping[Kind, FileRows]]) -> list[NodeSeries]:
    """The values of each kind of figure, from the rows of the nodes of each run."""
    return [node_series(nodes, kind) for kind in KINDS]


def _worst_first(row: HistoryRow) -> tuple[object, ...]:
    slower = 0.0
    if row.effect is not None:
        slower = row.effect if row.quantity == "latency" else -row.effect
    return (_ORDER.index(row.verdict), slower <= 0, -abs(slower), row.name, row.quantity)


def _rows_of_links(
    runs: Sequence[HistoryFile],
    series: Sequence[NodeSeries],
    most_nodes: int,
    days: float,
    pair: tuple[str, str] | None,
) -> list[HistoryRow]:
    """One row for each kind of figure, of a pair or of a class."""
    streams = streams_of_pairs(most_nodes) if pair else len(KINDS) * len(CLASSES)
    rows = [_rows(node, streams, runs, days)[0] for node in series if node.nodes]
    if not rows:
        asked = (
            f"--pair: no run of the last {2 * days:g} days has the pair '{','.join(pair or ())}'"
        )
        raise UsageError(
            f"{asked}."
            if pair
            else f"--class: no run of the last {2 * days:g} days has pairs of it."
        )
    return rows


def _rows(
    series: NodeSeries, streams: int, runs: Sequence[HistoryFile], days: float
) -> list[HistoryRow]:
    watched = watch(
        series.slowness,
        window_starts(runs, days),
        streams=streams,
        looks_a_year=_looks_a_year(runs),
    )
    first = runs[-1].facts.time - timedelta(days=days)
    last_change = {
        change.node: change for change in watched.changes if runs[change.seen].facts.time >= first
    }
    return [
        _changed(series, last_change[node], runs)
        if node in last_change
        else _unchanged(series, node, watched)
        for node in range(len(series.nodes))
    ]


def _looks_a_year(runs: Sequence[HistoryFile]) -> float:
    days = (runs[-1].facts.time - runs[0].facts.time) / timedelta(days=1)
    return max(LOOKS_A_YEAR, LOOKS_A_YEAR * (len(runs) - 1) / days) if days > 0 else LOOKS_A_YEAR


def _changed(series: NodeSeries, change: NodeShift, runs: Sequence[HistoryFile]) -> HistoryRow:
    values = series.slowness[:, change.node]
    shift = float(np.nanmedian(values[change.since :])) - change.before
    sign = 1.0 if series.kind == "latency" else -1.0
    ends = sorted(math.expm1(sign * (shift + side * change.half_width)) for side in (-1.0, 1.0))
    earlier = np.flatnonzero(np.isfinite(values[: change.since]))
    before = runs[int(earlier[-1])].facts.fingerprint
    return HistoryRow(
        series.nodes[change.node],
        series.kind,
        "changed",
        _iso(runs[change.since].facts.time),
        math.expm1(sign * shift),
        ends[0],
        ends[1],
        None,
        None,
        tuple(differences(before, runs[change.since].facts.fingerprint)),
        int(np.isfinite(values).sum()),
    )


def _unchanged(series: NodeSeries, node: int, watched: Watched) -> HistoryRow:
    values = series.slowness[:, node]
    count = int(np.isfinite(values).sum())
    reason = _reason(series, node, watched, count)
    within = None if reason else math.expm1(float(watched.detectable[node]))
    verdict: Word = "no-verdict" if reason else "same"
    return HistoryRow(
        series.nodes[node], series.kind, verdict, None, None, None, None, within, reason, (), count
    )


def _reason(series: NodeSeries, node: int, watched: Watched, count: int) -> str | None:
    if not np.isfinite(series.slowness[-1, node]):
        return f"the newest run lacks this {series.noun}"
    if not np.isfinite(watched.threshold[node]):
        past = int(watched.past[node])
        return f"{past} runs before the newest one; {LEAST_PAST} are needed"
    pending = abs(int(watched.pending[node]))
    if pending:
        percent = 100 * abs(math.expm1(float(watched.deviation[node])))
        word = "run differs" if pending == 1 else f"{pending} runs differ"
        return f"the newest {word} by {percent:.1f} %; {IN_A_ROW} in a row make a change"
    return None


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
