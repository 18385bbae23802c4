"""The values of a pair, or of a class of links, over the runs of a history, by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.errors import UsageError
from chiplog.history.layout import broken
from chiplog.history.names import node_keys, short_name
from chiplog.history.read import NodeSeries
from chiplog.optional import needed
from chiplog.survey.leaves import infer_leaves
from chiplog.survey.pair_values import PairValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.history.layout import HistoryFile
    from chiplog.survey.pair_values import IntArray, Kind

ALL, LEAF, SPINE = "all", "leaf", "spine"
CLASSES = {ALL: "all pairs", LEAF: "pairs within a leaf", SPINE: "pairs between leaves"}
_VALUE = "ln(coalesce(latency_seconds, bandwidth_bytes_per_second)::double)"
_NAMES = "select distinct client from read_parquet(?) where scope = 'node'"
_MEDIANS = f"""
select run_id, median({_VALUE}) as value from read_parquet(?) where scope = 'pair' and kind = ? group by run_id
"""
_OF_NODES = f"""
select run_id, client, server, {_VALUE} as value from read_parquet(?)
where scope = 'pair' and kind = ? and (client in (select unnest(?)) or server in (select unnest(?)))
"""
_ONE_RUN = f"select client, server, {_VALUE} as value from read_parquet(?) where scope = 'pair' and kind = ?"
_BY_CLASS = f"""
with known as (select unnest(?) as name, unnest(?) as leaf)
select run_id, one.leaf = other.leaf as is_leaf, median({_VALUE}) as value
from read_parquet(?) join known one on client = one.name join known other on server = other.name
where scope = 'pair' and kind = ? group by all
"""


def parse_pair(text: str) -> tuple[str, str]:
    """The two nodes of a pair.

    >>> parse_pair("n05,N09.cluster")
    ('n05', 'N09.cluster')
    """
    one, comma, other = (part.strip() for part in text.partition(","))
    if not comma or not one or not other or "," in other or short_name(one) == short_name(other):
        raise UsageError(
            f"--pair: '{text}' is not understood; it accepts two nodes, such as n05,n09."
        )
    return one, other


def streams_of_pairs(nodes: int) -> int:
    """How many series a history of so many nodes has if any pair may be asked for: all pairs, of both kinds."""
    return max(2, nodes * (nodes - 1))


def pair_series(runs: Sequence[HistoryFile], kind: Kind, pair: tuple[str, str]) -> NodeSeries:
    """The figures of a pair against the median pair of each run; then those of its nodes' other pairs.

    The others tell how noisy such figures are. Both directions of a bandwidth are taken together. No series where no
    run has the pair.
    """
    paths = _paths(runs)
    names = _query(_NAMES, [paths], runs)["client"].astype(str).tolist()
    key_of = dict(zip(names, node_keys(names), strict=True))
    wanted = [_key_in(key_of, name) for name in pair]
    if wanted[0] is None or wanted[1] is None:
        return NodeSeries(kind, (), np.zeros((len(runs), 0)), "pair")
    full = [name for name, key in key_of.items() if key in wanted]
    found = _query(_OF_NODES, [paths, kind, full, full], runs)
    middle = _query(_MEDIANS, [paths, kind], runs)
    shared = dict(zip(middle["run_id"].tolist(), middle["value"].tolist(), strict=True))
    ends = [
        tuple(sorted((key_of.get(one, one), key_of.get(other, other))))
        for one, other in zip(found["client"].tolist(), found["server"].tolist(), strict=True)
    ]
    first = tuple(sorted((wanted[0], wanted[1])))
    if first not in ends:
        return NodeSeries(kind, (), np.zeros((len(runs), 0)), "pair")
    places = {one: number for number, one in enumerate(dict.fromkeys([first, *ends]))}
    row_of = {one.facts.run_id: number for number, one in enumerate(runs)}
    total, count = np.zeros((2, len(runs), len(places)))
    for one, run, value in zip(
        ends, found["run_id"].tolist(), found["value"].tolist(), strict=True
    ):
        if value is not None and np.isfinite(value):
            total[row_of[run], places[one]] += _slow(kind, value - shared[run])
            count[row_of[run], places[one]] += 1
    values = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    shown = tuple(f"{one} with {other}" for one, other in [pair, *list(places)[1:]])
    return NodeSeries(kind, shown, values, "pair")


def class_series(runs: Sequence[HistoryFile], kind: Kind, name: str) -> NodeSeries:
    """The median figure of the pairs of a class in each run: `all`, `leaf` (within one) or `spine` (between two).

    Which nodes share a leaf is what the newest run's pairs show. Raises UsageError for another name, and where the
    pairs show no leaves.
    """
    if name not in CLASSES:
        known = ", ".join(f"{one} ({meaning})" for one, meaning in CLASSES.items())
        raise UsageError(f"--class: '{name}' is not known; it accepts {known}.")
    paths = _paths(runs)
    if name == ALL:
        found = _query(_MEDIANS, [paths, kind], runs)
    else:
        leaf_of = _leaves(runs)
        found = _query(_BY_CLASS, [list(leaf_of), list(leaf_of.values()), paths, kind], runs)
        chosen = found["is_leaf"].astype(bool) == (name == LEAF)
        found = {column: values[chosen] for column, values in found.items()}
    row_of = {one.facts.run_id: number for number, one in enumerate(runs)}
    values = np.full((len(runs), 1), np.nan)
    for run, value in zip(found["run_id"].tolist(), found["value"].tolist(), strict=True):
        if value is not None and np.isfinite(value):
            values[row_of[run], 0] = _slow(kind, value)
    if not np.isfinite(values).any():
        return NodeSeries(kind, (), np.zeros((len(runs), 0)), "class")
    return NodeSeries(kind, (CLASSES[name],), values, "class")


def _leaves(runs: Sequence[HistoryFile]) -> dict[str, int]:
    """The leaf of each name of a node, as the pairs of the newest run show it."""
    names = _query(_NAMES, [_paths(runs)], runs)["client"].astype(str).tolist()
    key_of = dict(zip(names, node_keys(names), strict=True))
    kinds: tuple[Kind, ...] = ("latency", "bandwidth")
    for kind in kinds:
        found = _query(_ONE_RUN, [str(runs[-1].path), kind], runs)
        nodes = sorted({*found["client"].tolist(), *found["server"].tolist()})
        number = {node: place for place, node in enumerate(nodes)}
        values = PairValues(
            tuple(nodes),
            _numbers(found["client"], number),
            _numbers(found["server"], number),
            np.exp(found["value"].astype(np.float64)),
            kind,
            np.zeros(len(found["client"]), dtype=np.int64),
        )
        leaves = infer_leaves(values) if nodes else None
        if leaves is not None:
            leaf_of = {key_of.get(node, node): int(leaves[number[node]]) for node in nodes}
            return {name: leaf_of[key] for name, key in key_of.items() if leaf_of.get(key, -1) >= 0}
    raise UsageError(
        "--class: the pairs of the newest run show no leaves, as with --sparse or a single switch; "
        f"--class {ALL} takes all pairs."
    )


def _numbers(names: NDArray[Any], number: dict[str, int]) -> IntArray:
    return np.array([number[name] for name in names.tolist()], dtype=np.int64)


def _key_in(key_of: dict[str, str], name: str) -> str | None:
    """The node that a user's name means; None where there is none."""
    keys = set(key_of.values())
    return next((one for one in (name.lower(), short_name(name)) if one in keys), None)


def _slow(kind: Kind, value: float) -> float:
    return value if kind == "latency" else -value


def _paths(runs: Sequence[HistoryFile]) -> list[str]:
    return [str(one.path) for one in runs]


def _query(text: str, words: list[Any], runs: Sequence[HistoryFile]) -> dict[str, NDArray[Any]]:
    duckdb = needed("duckdb", "a history")
    try:
        with duckdb.connect() as connection:
            connection.execute("set threads = 2")
            found = dict(connection.execute(text, words).fetchnumpy())
    except duckdb.Error as error:
        raise broken(runs[0].path.parent, error) from error
    return {
        name: np.ma.filled(one, np.nan)
        if np.ma.isMaskedArray(one) and one.dtype.kind == "f"
        else one
        for name, one in found.items()
    }
