"""Nodes and pairs that are slow while other pairs send: are they slow alone, too?

Links that pairs share are shared unevenly, and the same pairs always meet in a round, so each time in the same way.
A node or a link that is at fault itself is slow alone, too. And a node that busy CPUs, or another fault, leave in doubt
beside others may be beyond doubt alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.survey.fresh import (
    DOUBT,
    HIDDEN,
    HINT,
    HINTED,
    LEAST_HINT,
    LEAST_REPEATS,
    LEAST_SPREAD,
    PAIR_QUANTILE,
    UNTOLD,
    expected_effects,
    pair_keys,
    tests_alone,
)
from chiplog.survey.pair_fit import slowness
from chiplog.survey.robust import (
    degrees_of_freedom,
    group_medians,
    group_order_statistics,
    scale,
    shared_ends,
    spread_of_controls,
    upper_quantile,
)
from chiplog.survey.suspects import BOTH, LEAST_CONTROLS, LEAST_EFFECT, LEAST_PARTNERS, WAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chiplog.survey.fresh import Again, Fresh, JudgedSuspect
    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.survey.suspects import Suspects

NOT_ALONE = "it is slow while other pairs send, and not alone: they may share a link"
OF_HIDDEN = "one of its nodes may be slow, which its leaf's uplink may hide"
UNKNOWN_ALONE = "it is slow while other pairs send, and was not measured alone"


def judge_alone(result: Again, suspected: Suspects, alone: PairValues | None, error: float) -> None:
    """Takes back, in place, the accusations of nodes and pairs that are not slow in `alone`; the others get its figure.

    `error` bounds the probability that anybody is accused who only shares a link. Chance was ruled out beside others;
    here those count that were slow there, whatever they shared. Nodes in doubt are accused if they are slow beyond
    doubt alone: `error` then is that of all nodes and uplinks of the sweep, alone.
    """
    slow = [place for place, judged in enumerate(result.judged) if _is_to_confirm(judged)]
    doubted = [place for place, judged in enumerate(result.judged) if is_doubted(judged)]
    if result.fresh is None or not (slow or doubted):
        return
    doubted_nodes = np.union1d(suspected.nodes, [result.judged[place].number for place in doubted])
    figures = None if alone is None else _figures(result.fresh, suspected, doubted_nodes, alone)
    for place in slow:
        suspect = result.judged[place]
        finding = None if figures is None else _alone(suspect, figures, error / len(slow), result)
        if finding is None:
            finding = replace(suspect, is_slow=False, reason=UNKNOWN_ALONE)
        result.judged[place] = finding
    if figures is None:
        return
    for place in doubted:
        result.judged[place] = _doubted_alone(
            result.judged[place], figures, suspected, doubted_nodes, error
        )
    _leave_to_nodes(result, [result.judged[place] for place in doubted])


def _leave_to_nodes(result: Again, doubted: Sequence[JudgedSuspect]) -> None:
    """Takes back, in place, the accusations of pairs that a node which was in doubt explains, or may explain."""
    hidden = {judged.number for judged in doubted if judged.reason == HIDDEN}
    slow_nodes = {judged.number: judged.slowness for judged in doubted if judged.is_slow}
    for place, judged in enumerate(result.judged):
        if judged.kind != "pair" or not judged.is_slow:
            continue
        ends = {judged.number, judged.other}
        # A node's slowness is the mean of its directions, so one of them may have twice as much.
        explained = sum(2 * slow for node, slow in slow_nodes.items() if node in ends)
        if ends & hidden:
            result.judged[place] = replace(judged, is_slow=False, reason=OF_HIDDEN)
        elif explained and judged.slowness - explained <= LEAST_HINT:
            result.judged[place] = replace(judged, is_slow=False)


def _is_to_confirm(judged: JudgedSuspect) -> bool:
    return judged.kind != "uplink" and judged.is_slow and judged.slowness > LEAST_EFFECT


def is_doubted(judged: JudgedSuspect) -> bool:
    """Whether it is a node that may be beyond doubt alone: in doubt beside others, hinted at, or behind an uplink."""
    return judged.kind == "node" and judged.reason in (DOUBT, UNTOLD, HINTED, HIDDEN)


@dataclass(frozen=True, slots=True)
class _FiguresAlone:
    """The directed pairs that were measured alone often enough, each relative to the controls of its class."""

    fresh: Fresh
    clients: IntArray
    servers: IntArray
    is_control: NDArray[np.bool_]
    typical: FloatArray
    """Median slowness beyond what slow nodes explain."""
    low: FloatArray
    """Its lower quartile."""
    low_beyond: FloatArray
    """The lower quartile beyond what all nodes' effects beside others explain, quick ones' too."""
    plain: FloatArray
    """Median slowness, whatever explains it but slow uplinks."""
    at_most: FloatArray
    """Median slowness, whatever explains it: a slow uplink may cost a pair that has it alone nothing."""
    is_clear: NDArray[np.bool_]
    """Whether it crosses no suspected uplink: what such a one costs a pair that has it alone is not known."""

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the controls' spread."""
        return degrees_of_freedom(int(self.is_control.sum()))

    def keys(self) -> IntArray:
        """A number for each pair, whichever way round."""
        return pair_keys(self.clients, self.servers, len(self.fresh.values.nodes))

    def reaches_beyond(self, nodes: IntArray) -> NDArray[np.bool_]:
        """(m,) whether a pair has an end that is not among these nodes."""
        return ~np.isin(self.clients, nodes) | ~np.isin(self.servers, nodes)

    def best(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of these the ones that cross no suspected uplink, if there are some pairs of them."""
        clear = kept & self.is_clear
        return clear if np.unique(self.keys()[clear]).size >= LEAST_PARTNERS else kept


def _figures(
    fresh: Fresh, suspected: Suspects, doubted_nodes: IntArray, alone: PairValues
) -> _FiguresAlone | None:
    """None with too few controls, pairs of nodes that are not `doubted_nodes`."""
    nodes = len(alone.nodes)
    known = np.isfinite(slowness(alone))
    keys, number, sizes = np.unique(
        (alone.clients * nodes + alone.servers)[known], return_inverse=True, return_counts=True
    )
    number = number.reshape(-1)
    clients, servers = np.divmod(keys, nodes)
    suspects_keys = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], nodes)
    is_control = ~np.isin(pair_keys(clients, servers, nodes), suspects_keys)
    is_control &= ~np.isin(clients, doubted_nodes) & ~np.isin(servers, doubted_nodes)
    enough = sizes >= LEAST_REPEATS
    effects = np.where(np.isfinite(fresh.effects), fresh.effects, expected_effects(fresh.first))
    crossing = fresh.first.leaves[clients] != fresh.first.leaves[servers]
    for of_class in (crossing, ~crossing):  # of a class without controls nothing is known
        enough &= ~of_class | ((of_class & is_control & enough).sum() >= LEAST_CONTROLS)
    controls = is_control & enough
    if controls.sum() < 2 * LEAST_CONTROLS:
        return None
    figures = []
    none = np.zeros_like(effects)
    uplinks = np.nan_to_num(np.maximum(0.0, fresh.uplinks))
    by_nodes = ((np.maximum(0.0, effects), uplinks), (effects, uplinks))
    for of_nodes, of_uplinks in (*by_nodes, (none, uplinks), (none, np.zeros_like(uplinks))):
        rest = _rest(fresh, alone, of_nodes, of_uplinks)[known]
        for of_class in (crossing, ~crossing):
            if (of_class & controls).any():
                rest[of_class[number]] -= np.median(rest[(of_class & controls)[number]])
        median = group_medians(rest, number, sizes.size)
        low = group_order_statistics(rest, number, sizes.size, PAIR_QUANTILE["bandwidth"])
        figures += [median - np.median(median[controls]), low - np.median(low[controls])]
    typical, low, _, low_beyond, plain, _, at_most, _ = (column[enough] for column in figures)
    ends = clients[enough], servers[enough]
    behind = np.isin(fresh.first.leaves[np.stack(ends)], suspected.uplinks).any(axis=0)
    is_clear = ~(behind & crossing[enough])
    return _FiguresAlone(
        fresh, *ends, is_control[enough], typical, low, low_beyond, plain, at_most, is_clear
    )


def _rest(fresh: Fresh, alone: PairValues, effects: FloatArray, uplinks: FloatArray) -> FloatArray:
    """(m,) the slowness of each figure beyond `effects` (3, n) of its nodes, and `uplinks` (3, leaves) of theirs."""
    out, into = _ways(fresh)
    explained = effects[out, alone.clients] + effects[into, alone.servers]
    client_leaves, server_leaves = (
        fresh.first.leaves[alone.clients],
        fresh.first.leaves[alone.servers],
    )
    explained += np.where(
        client_leaves != server_leaves,
        uplinks[out, client_leaves] + uplinks[into, server_leaves],
        0.0,
    )
    return np.asarray(slowness(alone) - explained)


def _ways(fresh: Fresh) -> tuple[int, int]:
    return (1, 2) if fresh.terms.is_directed else (0, 0)


def _alone(
    judged: JudgedSuspect, figures: _FiguresAlone, error: float, result: Again
) -> JudgedSuspect | None:
    """The same with its slowness alone, or the reason why it is not accused; None where it was not measured alone."""
    if judged.kind == "node":
        return _node_alone(judged, figures, error, result)
    return _pair_alone(judged, figures, error, result)


def _node_alone(
    judged: JudgedSuspect, figures: _FiguresAlone, error: float, result: Again
) -> JudgedSuspect | None:
    """By the mean over its pairs, in the direction in which it was slow, with what it alone explains put back."""
    fresh = figures.fresh
    effects = np.nan_to_num(np.maximum(0.0, fresh.effects))
    parts = []
    for way, ends in zip(_ways(fresh), (figures.clients, figures.servers), strict=True):
        if judged.way in (BOTH, WAYS[way]):
            with_node = figures.best(ends == judged.number)
            parts.append(figures.typical[with_node] + effects[way, judged.number])
    slow = np.concatenate(parts)
    if slow.size < 2:
        return None
    pairs = scale(figures.typical[figures.is_control])
    spread = max(LEAST_SPREAD, float(np.hypot(fresh.spread[0], pairs / np.sqrt(slow.size))))
    half = upper_quantile(error, figures.freedom) * spread
    limit = max(LEAST_HINT, half)
    result.critical["node"] = max(result.critical["node"], (limit, spread))
    return _told(judged, float(slow.mean()), half, is_slow=bool(slow.mean() > limit))


def _doubted_alone(
    judged: JudgedSuspect,
    figures: _FiguresAlone,
    suspected: Suspects,
    doubted_nodes: IntArray,
    error: float,
) -> JudgedSuspect:
    """By fresh figures alone, against the spread of control pairs, at the level of a test of all nodes.

    A pair has the differences of two nodes and noise, so a node's own are at most half of a pair's variance. The median
    over its pairs leaves a single slow one out. Where partners are in doubt, too, its quickest pair counts: of a slow
    node all are slow, and of a healthy one that with another healthy one is not.
    """
    nodes = len(figures.fresh.values.nodes)
    keys = figures.keys()
    way = WAYS.index(judged.way)
    is_own = (way != 2) & (figures.clients == judged.number)
    is_own |= (way != 1) & (figures.servers == judged.number)
    chosen, are_healthy = _own_pairs(judged.number, is_own, figures, suspected, doubted_nodes)
    typical = np.median if are_healthy else np.min
    controls = (
        figures.is_control if way == 0 else figures.is_control & (figures.clients < figures.servers)
    )
    of_node, healthy = (_by_pair(figures.plain, keys, these) for these in (chosen, controls))
    if of_node.size < LEAST_PARTNERS or healthy.size < 2 * LEAST_CONTROLS:
        return judged
    spread, freedom = spread_of_controls(healthy)
    wider, independent = shared_ends(*np.divmod(np.unique(keys[controls]), nodes))
    spread, freedom = spread * wider, freedom * independent
    share = 1 / 2 + np.pi / 2 * (1 / of_node.size + 1 / healthy.size)
    sigma = max(LEAST_SPREAD, spread * float(np.sqrt(share)))
    half = upper_quantile(error / tests_alone(figures.fresh.first), max(1.0, freedom)) * sigma
    slow = float(typical(of_node) - np.median(healthy))
    of_node, healthy = (_by_pair(figures.at_most, keys, these) for these in (chosen, controls))
    at_most = float(typical(of_node) - np.median(healthy))
    if slow > max(LEAST_HINT, half):
        return replace(judged, slowness=slow, half_width=half, is_slow=True, reason=None)
    if at_most > max(LEAST_HINT, half):
        return judged
    if judged.reason in (HINTED, HIDDEN):
        hint = upper_quantile(HINT / len(WAYS), max(1.0, freedom)) * sigma
        return replace(
            judged,
            slowness=slow,
            half_width=half,
            reason=judged.reason if slow > max(LEAST_HINT, hint) else None,
        )
    return replace(judged, reason=NOT_ALONE) if slow + half < LEAST_HINT else judged


def _own_pairs(
    node: int,
    is_own: NDArray[np.bool_],
    figures: _FiguresAlone,
    suspected: Suspects,
    doubted_nodes: IntArray,
) -> tuple[NDArray[np.bool_], bool]:
    """The pairs alone by which a node in doubt is judged, and whether its partners are healthy as far as is known.

    The best kind of which there are enough: those with partners that nothing speaks against, without suspected pairs;
    with these, which may be suspected because of the node; and with partners in doubt.
    """
    keys = figures.keys()
    pairs = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], len(figures.fresh.values.nodes))
    clear = is_own & figures.reaches_beyond(np.union1d(doubted_nodes, [node]))
    for kept, are_healthy in (
        (clear & ~np.isin(keys, pairs), True),
        (clear, True),
        (is_own, False),
    ):
        chosen = figures.best(kept)
        if np.unique(keys[chosen]).size >= LEAST_PARTNERS:
            return chosen, are_healthy
    return np.zeros(keys.size, dtype=bool), False


def _by_pair(values: FloatArray, keys: IntArray, kept: NDArray[np.bool_]) -> FloatArray:
    """The means over both directions of each pair."""
    _, number, sizes = np.unique(keys[kept], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(number.reshape(-1), values[kept]) / sizes)


def _pair_alone(
    judged: JudgedSuspect, figures: _FiguresAlone, error: float, result: Again
) -> JudgedSuspect | None:
    """Slow beyond what its nodes explain; also where only slow nodes explain anything.

    A node that is quick while all send need not be so alone.
    """
    there = (figures.clients == judged.number) & (figures.servers == judged.other)
    if judged.way == BOTH:
        there |= (figures.clients == judged.other) & (figures.servers == judged.number)
    if not there.any():
        return None
    spread = max(LEAST_SPREAD, scale(figures.low_beyond[figures.is_control]))
    half = upper_quantile(error / 2, figures.freedom) * spread
    limit = max(LEAST_HINT, half)
    result.critical["pair"] = max(result.critical["pair"], (limit, spread))
    is_slow = (figures.low_beyond[there] > limit) & (figures.low[there] > LEAST_HINT)
    return _told(judged, float(figures.typical[there].mean()), half, is_slow=bool(is_slow.any()))


def _told(judged: JudgedSuspect, slow: float, half: float, *, is_slow: bool) -> JudgedSuspect:
    if not is_slow:
        return replace(judged, is_slow=False, reason=NOT_ALONE)
    return replace(judged, slowness=slow, half_width=half)
