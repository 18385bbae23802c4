"""The values of nodes and pairs over the runs of a history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chiplog.errors import CorruptFile, UsageError
from chiplog.optional import needed
from chiplog.run_history.layout import NODE, PAIR, HistoryFile, history_files, open_parquet
from chiplog.run_history.names import node_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.pair_values import Kind
    from chiplog.run_history.layout import RunFacts

    FloatArray = NDArray[np.float64]

    IntArray = NDArray[np.int64]

Found = TypeVar("Found")
_FACTS = ("scope", "kind", "run_id", "target", "time_utc")
_OF_SCOPE = {
    NODE: ("kind", "client", "effect"),
    PAIR: ("kind", "client", "server", "latency_seconds", "bandwidth_bytes_per_second"),
}


@dataclass(frozen=True, slots=True)
class FileRows:
    """What a file says of one kind of figure, of its nodes or of its pairs."""

    clients: tuple[tuple[str, ...], IntArray]
    """Names, and the (n,) number of each row's name among them."""
    servers: tuple[tuple[str, ...], IntArray] | None
    """Of nodes None."""
    values: FloatArray
    """(n,) the logarithm of 1 + the effect of a node, or of the figure of a pair; NaN where it is unknown."""


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
    targets = sorted({file.facts.target for file in newest})
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
    chosen = [file for file in newest if target is None or file.facts.target == target]
    first = chosen[-1].facts.time - timedelta(days=2 * days)
    return [file for file in chosen if file.facts.time >= first], unread


def of_each(
    runs: Sequence[HistoryFile], read: Callable[[HistoryFile], Found]
) -> tuple[list[HistoryFile], list[Found], list[str]]:
    """The runs that can be read, what `read` makes of each, and a sentence for each of the others."""
    kept: list[HistoryFile] = []
    contents: list[Found] = []
    unread: list[str] = []
    for run in runs:
        try:
            contents.append(read(run))
            kept.append(run)
        except CorruptFile as error:
            unread.append(str(error))
    return kept, contents, unread


def read_rows(run: HistoryFile, scope: str) -> dict[Kind, FileRows]:
    """The rows of a scope by kind; CorruptFile where any of the file's values that were read is not as written."""
    pa, pc = needed("pyarrow", "a history"), needed("pyarrow.compute", "a history")
    from chiplog.run_history.table import check_columns

    with open_parquet(run.path) as file:
        check_columns(file.schema_arrow)
        parts = []
        for group in range(file.num_row_groups):
            facts = _checked(file.read_row_group(group, columns=list(_FACTS)))
            _check_facts(facts, run.facts)
            is_of_scope = pc.equal(facts["scope"], scope)
            if pc.any(is_of_scope).as_py():
                rows = _checked(file.read_row_group(group, columns=list(_OF_SCOPE[scope])))
                parts.append(rows.filter(is_of_scope))
        if not parts:
            return {}
        table = pa.concat_tables(parts)
        kinds = table["kind"].unique().to_pylist()
        return {kind: _rows(table.filter(pc.equal(table["kind"], kind)), scope) for kind in kinds}


def _checked(table: Any) -> Any:
    table.validate(full=True)
    return table


def _check_facts(facts: Any, declared: RunFacts) -> None:
    """ValueError where columns say something else of the run than the file's metadata."""
    known = {
        "run_id": declared.run_id,
        "target": declared.target,
        "time_utc": declared.time.replace(microsecond=0),
    }
    for name, value in known.items():
        if facts[name].unique().to_pylist() not in ([value], []):
            raise ValueError(f"its column {name} is not the {name} of its metadata")


def _rows(table: Any, scope: str) -> FileRows:
    pc = needed("pyarrow.compute", "a history")
    if scope == NODE:
        table = table.filter(pc.is_valid(table["effect"]))
        effects = table["effect"].to_numpy().astype(np.float64)
        if not (np.isfinite(effects) & (effects > -1)).all():
            raise ValueError("an effect is no relative change")
        return FileRows(_names(table["client"]), None, np.log1p(effects))
    figures = pc.coalesce(table["latency_seconds"], table["bandwidth_bytes_per_second"])
    values = figures.to_numpy().astype(np.float64)
    if (values <= 0).any() or np.isinf(values).any():
        raise ValueError("a figure is not above 0")
    return FileRows(_names(table["client"]), _names(table["server"]), np.log(values))


def _names(column: Any) -> tuple[tuple[str, ...], IntArray]:
    pa = needed("pyarrow", "a history")
    if column.null_count:
        raise ValueError("a row has no name of a node")
    text = column.cast(pa.string()).dictionary_encode().unify_dictionaries().combine_chunks()
    whole = (
        text if isinstance(text, pa.DictionaryArray) else text.chunk(0) if text.num_chunks else None
    )
    if whole is None:
        return (), np.zeros(0, dtype=np.int64)
    return tuple(whole.dictionary.to_pylist()), whole.indices.to_numpy().astype(np.int64)


def names_in(nodes: Sequence[Mapping[Kind, FileRows]]) -> list[str]:
    """All names of nodes in the rows of some runs, each once, sorted."""
    return sorted({name for node in nodes for rows in node.values() for name in rows.clients[0]})


def node_series(nodes: Sequence[Mapping[Kind, FileRows]], kind: Kind) -> NodeSeries:
    """The values of all nodes, from the rows of each run."""
    names = sorted({name for node in nodes if kind in node for name in node[kind].clients[0]})
    keys = node_keys(names)
    place = {key: number for number, key in enumerate(sorted(set(keys)))}
    number_of = {name: place[key] for name, key in zip(names, keys, strict=True)}
    slowness = np.full((len(nodes), len(place)), np.nan)
    latest = [""] * len(place)
    sign = 1.0 if kind == "latency" else -1.0
    for run, node in enumerate(nodes):
        if kind not in node:
            continue
        words, codes = node[kind].clients
        numbers = np.array([number_of[word] for word in words], dtype=np.int64)
        slowness[run, numbers[codes]] = sign * node[kind].values
        for code in np.unique(codes).tolist():
            latest[numbers[code]] = words[code]
    return NodeSeries(kind, tuple(latest), slowness)


def window_starts(runs: Sequence[HistoryFile], days: float) -> NDArray[np.int64]:
    """(t,) the number of the first run within `days` before each run."""
    times = [run.facts.time for run in runs]
    return np.array([_first_after(times, time - timedelta(days=days)) for time in times], np.int64)


def _first_after(times: Sequence[datetime], earliest: datetime) -> int:
    from bisect import bisect_left

    return bisect_left(times, earliest)
