"""The values of a pair, or of a class of links, over the runs of a history."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from chiplog.errors import UsageError
from chiplog.machine_survey.leaves import infer_leaves
from chiplog.machine_survey.pair_values import PairValues
from chiplog.run_history.layout import PAIR
from chiplog.run_history.names import node_keys, short_name
from chiplog.run_history.read import NodeSeries, of_each, read_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.pair_values import FloatArray, IntArray, Kind
    from chiplog.run_history.layout import HistoryFile
    from chiplog.run_history.read import FileRows

KINDS: tuple[Kind, ...] = ("bandwidth", "latency")
Slowness = TypeVar("Slowness", float, "FloatArray")
ALL, LEAF, SPINE = "all", "leaf", "spine"
CLASSES = {ALL: "all pairs", LEAF: "pairs within a leaf", SPINE: "pairs between leaves"}


def parse_pair(text: str) -> tuple[str, str]:
    """The two nodes of a pair.

    >>> parse_pair("n05,N09.cluster")
    ('n05', 'N09.cluster')
    """
    first, comma, second = (part.strip() for part in text.partition(","))
    if (
        not comma
        or not first
        or not second
        or "," in second
        or short_name(first) == short_name(second)
    ):
        raise UsageError(
            f"--pair: '{text}' is not understood; it accepts two nodes, such as n05,n09."
        )
    return first, second


def streams_of_pairs(nodes: int) -> int:
    """How many series a history of so many nodes has if any pair may be asked for: all pairs, of both kinds."""
    return max(2, nodes * (nodes - 1))


def links_of(
    runs: Sequence[HistoryFile],
    names: Sequence[str],
    pair: tuple[str, str] | None,
    link_class: str | None,
) -> tuple[list[HistoryFile], list[NodeSeries], list[str]]:
    """The runs whose pairs can be read, what they say of a pair or of a class, and a sentence for each other file.

    `names` are all nodes of the runs. Of a pair there are its figures against the median pair of each run, both
    directions of a bandwidth together; then those of its nodes' other pairs, which tell how noisy such figures are. Of
    a class there is the median figure of its pairs: `all`, `leaf` (within one) or `spine` (between two); which nodes
    share a leaf is what the newest run's pairs show. A series without nodes is of what no run has.

    Raises UsageError for another name of a class, and where the pairs show no leaves.
    """
    key_of = dict(zip(names, node_keys(names), strict=True))
    if pair is not None:
        kept, slow_pairs, unread = of_each(
            runs, lambda file: _of_pair(read_rows(file, PAIR), key_of, pair)
        )
        return kept, [_pair_series(slow_pairs, kind, key_of, pair) for kind in KINDS], unread
    if link_class not in CLASSES:
        known = ", ".join(f"{name} ({meaning})" for name, meaning in CLASSES.items())
        raise UsageError(f"--class: '{link_class}' is not known; it accepts {known}.")
    leaf_of = None if link_class == ALL else _leaves(runs, key_of)
    kept, medians, unread = of_each(
        runs, lambda file: _medians(read_rows(file, PAIR), link_class, key_of, leaf_of)
    )
    return kept, [_class_series(medians, kind, link_class) for kind in KINDS], unread


Ends = tuple[str, str]
"""The keys of a pair's nodes, sorted."""


def _of_pair(
    by_kind: Mapping[Kind, FileRows], key_of: Mapping[str, str], pair: tuple[str, str]
) -> dict[Kind, dict[Ends, float]]:
    """How much slower the pairs of a pair's nodes are than the median pair, by kind."""
    wanted = {_key_in(key_of, name) for name in pair}
    return {kind: _slowness_of(rows, kind, key_of, wanted) for kind, rows in by_kind.items()}


def _slowness_of(
    rows: FileRows, kind: Kind, key_of: Mapping[str, str], wanted: Collection[str | None]
) -> dict[Ends, float]:
    clients, servers = _keys(rows.clients, key_of), _keys(rows.servers, key_of)
    is_wanted = np.isin(clients, list(filter(None, wanted))) | np.isin(
        servers, list(filter(None, wanted))
    )
    slow = _slow(kind, rows.values - _median(rows.values))
    by_ends: dict[Ends, list[float]] = defaultdict(list)
    for place in np.flatnonzero(is_wanted & np.isfinite(slow)).tolist():
        client, server = sorted((str(clients[place]), str(servers[place])))
        by_ends[client, server].append(float(slow[place]))
    return {ends: float(np.mean(values)) for ends, values in by_ends.items()}


def _keys(
    names: tuple[tuple[str, ...], IntArray] | None, key_of: Mapping[str, str]
) -> NDArray[np.object_]:
    """(m,) the node of each row."""
    words, codes = names or ((), np.zeros(0, dtype=np.int64))
    return np.array([key_of.get(word, word) for word in words], dtype=object)[codes]


def _pair_series(
    by_run: Sequence[Mapping[Kind, Mapping[Ends, float]]],
    kind: Kind,
    key_of: Mapping[str, str],
    pair: tuple[str, str],
) -> NodeSeries:
    runs = [by_kind.get(kind, {}) for by_kind in by_run]
    first = sorted(_key_in(key_of, name) or "" for name in pair)
    all_ends = dict.fromkeys([(first[0], first[1]), *(ends for run in runs for ends in run)])
    if not any((first[0], first[1]) in run for run in runs):
        return NodeSeries(kind, (), np.zeros((len(runs), 0)), "pair")
    values = np.array([[run.get(ends, np.nan) for ends in all_ends] for run in runs])
    shown = tuple(
        f"{first_node} with {second_node}"
        for first_node, second_node in [pair, *list(all_ends)[1:]]
    )
    return NodeSeries(kind, shown, values, "pair")


def _medians(
    by_kind: Mapping[Kind, FileRows],
    name: str,
    key_of: Mapping[str, str],
    leaf_of: Mapping[str, int] | None,
) -> dict[Kind, float]:
    """The median slowness of the pairs of a class, by kind; NaN without any."""
    if leaf_of is None:
        return {kind: _slow(kind, _median(rows.values)) for kind, rows in by_kind.items()}

    def leaves(names: tuple[tuple[str, ...], IntArray] | None) -> IntArray:
        return np.array([leaf_of.get(key, -1) for key in _keys(names, key_of)], dtype=np.int64)

    medians = {}
    for kind, rows in by_kind.items():
        client_leaves, server_leaves = leaves(rows.clients), leaves(rows.servers)
        chosen = (
            (client_leaves >= 0)
            & (server_leaves >= 0)
            & ((client_leaves == server_leaves) == (name == LEAF))
        )
        medians[kind] = _slow(kind, _median(rows.values[chosen]))
    return medians


def _class_series(by_run: Sequence[Mapping[Kind, float]], kind: Kind, name: str) -> NodeSeries:
    values = np.array([[by_kind.get(kind, np.nan)] for by_kind in by_run])
    if not np.isfinite(values).any():
        return NodeSeries(kind, (), np.zeros((len(by_run), 0)), "class")
    return NodeSeries(kind, (CLASSES[name],), values, "class")


def _leaves(runs: Sequence[HistoryFile], key_of: Mapping[str, str]) -> dict[str, int]:
    """The leaf of each node, as the pairs of the newest run that can be read show it."""
    newest: dict[Kind, FileRows] = {}
    for run in reversed(runs):
        _, contents, _ = of_each([run], lambda file: read_rows(file, PAIR))
        if contents:
            newest = contents[0]
            break
    for kind, rows in newest.items():
        clients, servers = _keys(rows.clients, key_of), _keys(rows.servers, key_of)
        nodes = sorted({*clients.tolist(), *servers.tolist()})
        number = {node: place for place, node in enumerate(nodes)}
        values = PairValues(
            tuple(nodes),
            np.array([number[node_name] for node_name in clients.tolist()], dtype=np.int64),
            np.array([number[node_name] for node_name in servers.tolist()], dtype=np.int64),
            np.exp(rows.values),
            kind,
            np.zeros(clients.size, dtype=np.int64),
        )
        leaves = infer_leaves(values) if nodes else None
        if leaves is not None:
            return {node: int(leaves[number[node]]) for node in nodes}
    raise UsageError(
        "--class: the pairs of the newest run show no leaves, as with --sparse or a single switch; "
        f"--class {ALL} takes all pairs."
    )


def _median(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else math.nan


def _key_in(key_of: Mapping[str, str], name: str) -> str | None:
    """The node that a user's name means; None where there is none."""
    keys = set(key_of.values())
    return next((key for key in (name.lower(), short_name(name)) if key in keys), None)


def _slow(kind: Kind, value: Slowness) -> Slowness:
    return value if kind == "latency" else -value
