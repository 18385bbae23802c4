"""Who is to be measured again: nodes, uplinks and pairs that stand out, and healthy nodes to hold them against.

The thresholds are loose: about one healthy node, half an uplink and one pair a node are expected among the suspects.
Nobody is accused here, so that costs time and no confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.survey.plan import (
    CONTROLS_ALONE,
    MOST_NODES_ALONE,
    MOST_PAIRS_ALONE,
    MOST_ROUNDS_AGAIN,
    PARTNERS_ALONE,
    ROUNDS_AGAIN,
)
from chiplog.survey.robust import degrees_of_freedom, group_medians, scale, upper_quantile

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, IntArray
    from chiplog.survey.rounds import Pairs

EXPECTED_NODES = 1.0
"""Healthy nodes that are expected among the suspects, of small machines; of large ones SUSPECT_SHARE."""
SUSPECT_SHARE = 0.01
EXPECTED_UPLINKS = 0.5
SURE = 1e-3
"""Uplinks that a healthy one would be as slow as with this probability are all measured again."""
MOST_NODES = 0.25
"""At most this share of the nodes is measured again."""
MOST_PAIR_SHARE = 0.05
LEAST_OF_PAIRS = 0.25
"""The share of all pairs from which single ones are judged: with fewer the nodes' effects are too uncertain."""
MOST_PAIRS = 4
"""At most so many pairs for each node are measured again: spikes must not push out what is slow for good."""
LEAST_OF_CLASS = 3
"""Pairs of a node within its leaf, or to others, of which one may be slow itself without hiding in their median."""
LEAST_CONTROLS = 3
LEAST_PARTNERS = 2
"""Healthy partners alone from which a node is judged."""
LEAST_EFFECT = 0.02
"""A slowness below this is not worth a technician: never accused."""
WORTH_MEASURING = LEAST_EFFECT / 2
"""The slowness in the sweep from which a pair is a suspect: chance may have hidden half of it."""
BOTH, OUT, IN = "both", "out", "in"
WAYS = (BOTH, OUT, IN)


@dataclass(frozen=True, slots=True)
class Scores:
    """How far each node and uplink stands out in standard deviations, slow above 0."""

    node_slowness: FloatArray
    """(3, n) both, out, in; all the same where the fit is not directed."""
    node_scores: FloatArray
    node_spread: FloatArray
    """(3,) the standard deviation of healthy nodes."""
    node_freedom: float
    uplink_slowness: FloatArray
    """(3, leaves)"""
    uplink_scores: FloatArray
    uplink_spread: FloatArray
    """(3, leaves) the standard deviation of a healthy one."""
    uplink_freedom: float


@dataclass(frozen=True, slots=True)
class Suspects:
    """Numbers of the nodes, leaves and pairs to be measured again, the worst first."""

    nodes: IntArray
    uplinks: IntArray
    pairs: IntArray
    """(k, 2) client and server."""
    thresholds: dict[str, float]
    """Of nodes, uplinks and pairs the score from which one was taken."""


def three_ways(effects: FloatArray) -> FloatArray:
    """(3, n) both, out and in, from (2, n) out and in."""
    return np.vstack((effects.mean(axis=0), effects))


def scores(fit: PairFit) -> Scores:
    """The scores of a fit's nodes and uplinks, against the spread that most nodes of the same fit have."""
    slow = three_ways(fit.node_effects)
    seen = np.isfinite(slow[0])
    spread = np.array([max(scale(row[seen]), 1e-5) for row in slow])
    errors = three_ways(fit.node_errors)
    errors[0] = np.sqrt((fit.node_errors**2).sum(axis=0)) / 2 if fit.is_directed else errors[1]
    typical = np.array([np.median(row[seen]) if seen.any() else 0.0 for row in errors])
    extra = np.maximum(0.0, errors**2 - typical[:, None] ** 2)
    node_scores = slow / np.sqrt(spread[:, None] ** 2 + extra)
    uplinks = three_ways(fit.uplink_effects)
    uplink_spread = _uplink_spread(fit, uplinks, spread, seen)
    leaves = max(1, int(np.isfinite(uplinks[0]).sum()))
    return Scores(
        slow,
        node_scores,
        spread,
        degrees_of_freedom(int(seen.sum())),
        uplinks,
        uplinks / uplink_spread,
        uplink_spread,
        degrees_of_freedom(max(2, int(seen.sum()) - leaves)),
    )


def _uplink_spread(
    fit: PairFit, uplinks: FloatArray, spread: FloatArray, seen: NDArray[np.bool_]
) -> FloatArray:
    """(3, leaves) by the nodes behind each uplink; by the leaves' own spread, too, where there are many."""
    members = np.maximum(1, np.bincount(fit.leaves[seen], minlength=fit.leaf_count))
    crossing = fit.scales[fit.classes == 1]
    noise = float(np.median(crossing)) if crossing.size else 0.0
    by_nodes = (np.pi / 2) * spread[:, None] ** 2 / members[None, :]
    by_pairs = 2 * noise**2 / np.maximum(1, fit.uplink_pairs)[None, :]
    known = np.isfinite(uplinks[0])
    many = known.sum() >= 8
    of_leaves = np.array([scale(row[known]) if many else 0.0 for row in uplinks])
    return np.asarray(np.sqrt(np.maximum(by_nodes + by_pairs, of_leaves[:, None] ** 2)))


def suspects(fit: PairFit) -> Suspects:
    """The nodes, uplinks and pairs that are to be measured again."""
    sweep_scores = scores(fit)
    nodes = int(np.isfinite(sweep_scores.node_slowness[0]).sum())
    ways = 3 if fit.is_directed else 1
    share = min(0.25, max(EXPECTED_NODES / max(1, nodes), SUSPECT_SHARE))
    of_nodes = upper_quantile(share / ways, sweep_scores.node_freedom)
    most = max(1, int(MOST_NODES * nodes))
    slow_nodes = _worst(sweep_scores.node_scores, of_nodes, most)
    leaves = int(np.isfinite(sweep_scores.uplink_slowness[0]).sum())
    of_uplinks = upper_quantile(
        min(0.1, EXPECTED_UPLINKS / max(1, leaves)) / ways, sweep_scores.uplink_freedom
    )
    is_sure = sweep_scores.uplink_scores[0] > upper_quantile(SURE, sweep_scores.uplink_freedom)
    is_sure &= sweep_scores.uplink_slowness[0] > LEAST_EFFECT
    most = max(1, leaves // 4, int(is_sure.sum()))
    slow_uplinks = _worst(sweep_scores.uplink_scores, of_uplinks, most)
    of_pairs, pairs = _slow_pairs(fit, slow_nodes, nodes)
    limits = {"node": of_nodes, "uplink": of_uplinks, "pair": of_pairs}
    return Suspects(slow_nodes, slow_uplinks, pairs, limits)


def _worst(by_way: FloatArray, threshold: float, most: int) -> IntArray:
    if not by_way.shape[1]:
        return np.zeros(0, dtype=np.int64)
    best = np.nan_to_num(by_way, nan=-np.inf).max(axis=0)
    order = np.argsort(-best, kind="stable")[:most]
    return np.asarray(order[best[order] > threshold])


def pair_scores(fit: PairFit, apart: IntArray) -> FloatArray:
    """(u,) how far each usable pair stands out, where the nodes `apart` have an effect of their own on each class.

    A slow node may cost pairs of its leaf more than others, in logarithms; few pairs of a class don't tell how much, as
    a slow pair may be among them. Pairs between two such nodes score 0.
    """
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    rest = fit.residuals.copy()
    is_apart = np.zeros(len(fit.values.nodes), dtype=bool)
    is_apart[apart] = True
    half_apart = np.flatnonzero(is_apart[clients] ^ is_apart[servers])
    ends = np.where(is_apart[clients], clients, servers)[half_apart]
    groups = 2 * ends + fit.classes[half_apart]
    shifts = group_medians(rest[half_apart], groups, 2 * is_apart.size)
    known = np.bincount(groups, minlength=shifts.size) >= LEAST_OF_CLASS
    rest[half_apart] -= np.where(known, shifts, 0.0)[groups]
    rest[is_apart[clients] & is_apart[servers]] = 0.0
    return rest / fit.scales


def _slow_pairs(fit: PairFit, slow_nodes: IntArray, nodes: int) -> tuple[float, IntArray]:
    pairs = fit.usable.size
    none = np.zeros((0, 2), dtype=np.int64)
    if pairs < LEAST_OF_PAIRS * nodes * (nodes - 1) / 2 or pairs <= 2 * nodes:
        return np.inf, none
    threshold = upper_quantile(min(MOST_PAIR_SHARE, nodes / pairs), np.inf)
    far = pair_scores(fit, slow_nodes)
    order = np.argsort(-far, kind="stable")[: MOST_PAIRS * nodes]
    is_slow = (far[order] > threshold) & (far[order] * fit.scales[order] > WORTH_MEASURING)
    taken = fit.usable[order[is_slow]]
    return threshold, np.stack((fit.values.clients[taken], fit.values.servers[taken]), axis=1)


def pair_rounds(fit: PairFit, shuffle: random.Random) -> list[Pairs]:
    """Rounds of the suspected pairs, the worst first; nodes that are left over make other pairs, at random.

    None where no pair is a suspect, and at most as many as MOST_ROUNDS_AGAIN leaves.
    """
    suspected = [(client, server) for client, server in suspects(fit).pairs.tolist()]
    known = {frozenset(pair) for pair in suspected}
    usable = fit.usable
    nodes = np.union1d(fit.values.clients[usable], fit.values.servers[usable]).tolist()
    rounds = []
    for part in _disjoint(suspected)[: MOST_ROUNDS_AGAIN - ROUNDS_AGAIN]:
        busy = {node for pair in part for node in pair}
        free = [node for node in nodes if node not in busy]
        shuffle.shuffle(free)
        others = zip(free[::2], free[1::2], strict=False)
        rounds.append((*part, *(pair for pair in others if frozenset(pair) not in known)))
    return rounds


def pairs_alone(
    fit: PairFit,
    slow_nodes: Sequence[int],
    slow_pairs: Sequence[tuple[int, int]],
    shuffle: random.Random,
) -> list[Pairs]:
    """Pairs to measure one after the other: the first of the slow ones, and others drawn at random beside them.

    Slow nodes have healthy partners: of other leaves, or of their own where its uplink is suspected. Suspected uplinks
    are avoided. Controls are of the classes of the slow ones. Each part is of disjoint pairs. There are none where
    nobody is slow.
    """
    if not slow_nodes and not slow_pairs:
        return []
    suspicions = suspects(fit)
    suspected = {*slow_pairs, *map(tuple, suspicions.pairs.tolist())}
    others = _other_pairs(fit, suspicions, suspected)
    suspicious = {*suspicions.nodes.tolist(), *slow_nodes}
    seen = np.union1d(fit.values.clients[fit.usable], fit.values.servers[fit.usable]).tolist()
    healthy = [node for node in seen if node not in suspicious]
    leaves = fit.leaves.tolist()
    wanted = list(slow_pairs[:MOST_PAIRS_ALONE])
    for node in slow_nodes[:MOST_NODES_ALONE]:
        is_own = leaves[node] in suspicions.uplinks  # its uplink must not be taken for the node
        partners = [
            healthy_node
            for healthy_node in healthy
            if (leaves[healthy_node] == leaves[node]) == is_own
        ]
        if is_own and len(partners) < LEAST_PARTNERS:  # all of a leaf in doubt: most are healthy
            partners = [
                partner for partner in seen if leaves[partner] == leaves[node] and partner != node
            ]
        partners = partners or healthy
        clear = [
            partner for partner in partners if is_own or leaves[partner] not in suspicions.uplinks
        ]
        partners = clear if len(clear) >= PARTNERS_ALONE else partners
        drawn = shuffle.sample(partners, min(PARTNERS_ALONE, len(partners)))
        wanted += [(node, partner) for partner in drawn]
    classes = {leaves[client] == leaves[server] for client, server in wanted}
    controls = []
    for is_within in classes:
        alike = [pair for pair in others if (leaves[pair[0]] == leaves[pair[1]]) == is_within]
        controls += shuffle.sample(alike, min(CONTROLS_ALONE // len(classes), len(alike)))
    return _disjoint([*wanted, *controls])


def _other_pairs(
    fit: PairFit, suspicions: Suspects, suspected: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Pairs that nothing speaks against; across suspected uplinks only where there are few others."""
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    pairs = zip(clients.tolist(), servers.tolist(), strict=True)
    slow_leaves = set(suspicions.uplinks.tolist())
    bad = set(suspicions.nodes.tolist())
    others = sorted({pair for pair in pairs if not bad & set(pair)} - suspected)
    leaves = fit.leaves.tolist()
    clear = [pair for pair in others if not slow_leaves & {leaves[node] for node in pair}]
    return clear if len(clear) >= 2 * CONTROLS_ALONE else others


def _disjoint(pairs: Sequence[tuple[int, int]]) -> list[Pairs]:
    parts: list[list[tuple[int, int]]] = []
    for pair in pairs:
        free = (part for part in parts if not set(pair) & {end for busy in part for end in busy})
        part = next(free, None)
        if part is None:
            parts.append([pair])
        else:
            part.append(pair)
    return [tuple(part) for part in parts]
