"""The values of nodes over the runs of a history, by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.errors import CorruptFile, UsageError
from chiplog.history.layout import HistoryFile, broken, history_files
from chiplog.history.names import node_keys
from chiplog.optional import needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.survey.pair_values import Kind

    FloatArray = NDArray[np.float64]

_QUERY = """
select run_id, client, effect from read_parquet(?) where scope = 'node' and kind = ? and effect is not null
"""
_CHECK = "select kind, client, effect, run_id from read_parquet(?) where scope = 'node'"


@dataclass(frozen=True, slots=True)
class NodeSeries:
    """How each node's figures of one kind differed from the median node's, run by run."""

    kind: Kind
    nodes: tuple[str, ...]
    """The nodes' names, as in the last run that has each."""
    slowness: FloatArray
    """(t, n) logarithms, above 0 is slow; NaN where a run lacks a node."""
    noun: str = "node"
    """What each series is of: a node, a pair or a class."""


def runs_of(history: Path, target: str | None, days: float) -> tuple[list[HistoryFile], list[str]]:
    """The runs of one target within `days` before the newest and as long again before that, the oldest first.

    Also returns a sentence for each file of the history that can't be read.

    Raises UsageError where there are none, or where the history has several targets and none is named; CorruptFile
    where no file of the history can be read.
    """
    newest, unread = history_files(history)
    if unread and not newest:
        raise CorruptFile(unread[0])
    targets = sorted({one.facts.target for one in newest})
    if target is None and len(targets) > 1:
        raise UsageError(
            f"{history} holds several targets: name one by --target: {', '.join(targets)}."
        )
    if target is not None and target not in targets:
        known = ", ".join(targets) or "no run"
        raise UsageError(f"--target: {history} has no run of '{target}'; it holds {known}.")
    if not newest:
        raise UsageError(
            f"{history} holds no run; `chiplog history add {history} SURVEY` adds one."
        )
    chosen = [one for one in newest if target is None or one.facts.target == target]
    first = chosen[-1].facts.time - timedelta(days=2 * days)
    return [one for one in chosen if one.facts.time >= first], unread


def readable(runs: Sequence[HistoryFile]) -> tuple[list[HistoryFile], list[str]]:
    """The runs whose values of nodes can be read, and a sentence for each of the others."""
    duckdb = needed("duckdb", "a history")
    left: list[HistoryFile] = []
    unread: list[str] = []
    for one in runs:
        try:
            duckdb.execute(_CHECK, [str(one.path)]).fetchall()
            left.append(one)
        except duckdb.Error as error:
            unread.append(str(broken(one.path, error)))
    return left, unread


def node_series(runs: Sequence[HistoryFile], kind: Kind) -> NodeSeries:
    """The values of all nodes in the `runs`; CorruptFile if a file can't be read: `readable` leaves those out."""
    place = {one.facts.run_id: number for number, one in enumerate(runs)}
    found = _query(runs, kind)
    run_ids, run_of_row = np.unique(found["run_id"].astype(str), return_inverse=True)
    rows = np.array([place[one] for one in run_ids.tolist()], dtype=np.int64)[run_of_row]
    names, name_of_row = np.unique(found["client"].astype(str), return_inverse=True)
    nodes, keys = np.unique(node_keys(names.tolist()), return_inverse=True)
    effects = found["effect"].astype(np.float64)
    slowness = np.full((len(runs), len(nodes)), np.nan)
    sign = 1.0 if kind == "latency" else -1.0
    slowness[rows, keys[name_of_row]] = sign * np.log1p(effects)
    latest = np.full(len(nodes), "", dtype=object)
    order = np.argsort(rows, kind="stable")
    latest[keys[name_of_row[order]]] = names[name_of_row[order]]
    return NodeSeries(kind, tuple(str(one) for one in latest), slowness)


def _query(runs: Sequence[HistoryFile], kind: str) -> dict[str, NDArray[Any]]:
    duckdb = needed("duckdb", "a history")
    paths = [str(one.path) for one in runs]
    try:
        with duckdb.connect() as connection:
            connection.execute("set threads = 2")
            return dict(connection.execute(_QUERY, [paths, kind]).fetchnumpy())
    except duckdb.Error as error:
        raise broken(runs[0].path.parent, error) from error


def window_starts(runs: Sequence[HistoryFile], days: float) -> NDArray[np.int64]:
    """(t,) the number of the first run within `days` before each run."""
    times = [one.facts.time for one in runs]
    return np.array([_first_after(times, one - timedelta(days=days)) for one in times], np.int64)


def _first_after(times: Sequence[datetime], earliest: datetime) -> int:
    from bisect import bisect_left

    return bisect_left(times, earliest)
