"""Suspects judged by their second measurement: fresh figures against those of controls in the same rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.survey.again_pairs import judge_pairs
from chiplog.survey.fresh import (
    DOUBT,
    HIDDEN,
    HINT,
    HINTED,
    LEAST_HINT,
    UNTOLD,
    Again,
    Fresh,
    JudgedSuspect,
    fit_again,
)
from chiplog.survey.robust import degrees_of_freedom, group_medians, upper_quantile
from chiplog.survey.suspects import BOTH, LEAST_EFFECT, WAYS, WORTH_MEASURING, scores

if TYPE_CHECKING:
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, SecondMeasurement
    from chiplog.survey.suspects import Suspects

FAMILIES = 8
"""Nodes, uplinks and pairs, of bandwidths and of latencies; bandwidths alone; and nodes' CPU and memory: so many
share the error rate of a survey."""
SLOW_BEFORE = "it was slow in the sweep, but not when measured again"
CLEARLY_ONE_WAY = 3.0
"""Standard deviations between a node's two directions from which one alone is accused."""


def judge_again(
    first: PairFit, suspected: Suspects, again: SecondMeasurement, family_error: float
) -> Again:
    """Judges each suspect; `family_error` bounds the probability of a false accusation over the whole sweep."""
    fresh = fit_again(first, suspected, again.rounds)
    result = Again(fresh)
    if fresh is None:
        _untested(result, first, suspected)
        return result
    error = family_error / FAMILIES
    _judge_nodes(result, fresh, suspected, error)
    _judge_uplinks(result, fresh, suspected, error)
    if first.values.kind == "bandwidth":  # which is measured alone, too
        _ask_for_hidden(result, first)
    judge_pairs(result, fresh, suspected, again.pairs, error)
    return result


def _untested(result: Again, first: PairFit, suspected: Suspects) -> None:
    reason = "too few healthy nodes were measured again beside it"
    sweep_scores = scores(first)
    for node in suspected.nodes.tolist():
        slow = float(sweep_scores.node_slowness[0, node])
        result.judged.append(_unknown("node", node, slow, reason))
    for leaf in suspected.uplinks.tolist():
        slow = float(sweep_scores.uplink_slowness[0, leaf])
        result.judged.append(_unknown("uplink", leaf, slow, reason))


def _unknown(
    kind: Literal["node", "uplink"], number: int, slowness: float, reason: str
) -> JudgedSuspect:
    """A suspect of which only the sweep's slowness is known."""
    return JudgedSuspect(kind, number, None, BOTH, slowness, np.inf, False, reason)


def _judge_nodes(result: Again, fresh: Fresh, suspected: Suspects, error: float) -> None:
    ways = 3 if fresh.terms.is_directed else 1
    critical = upper_quantile(error / len(fresh.values.nodes) / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.nodes.size) / ways, fresh.freedom)
    typical = np.nanmedian(fresh.errors[:, fresh.controls], axis=1)
    own_variance = fresh.spread**2 * (1 + np.pi / 2 / fresh.controls.size)
    sigma = np.sqrt(
        own_variance[:, None] + np.maximum(0.0, fresh.errors**2 - typical[:, None] ** 2)
    )
    sweep_scores = scores(fresh.first)
    strict = upper_quantile(
        error / len(fresh.values.nodes) / ways,
        degrees_of_freedom(int(np.isfinite(sweep_scores.node_scores[0]).sum())),
    )
    result.critical["node"] = critical * float(fresh.spread[0]), float(fresh.spread[0])
    for node in suspected.nodes.tolist():
        slow, wide = fresh.effects[:, node], sigma[:, node]
        if not np.isfinite(slow).all():
            result.judged.append(
                _unknown(
                    "node",
                    node,
                    float(sweep_scores.node_slowness[0, node]),
                    "it has no figures of a second measurement",
                )
            )
            continue
        way, named = _way(slow, wide, critical)
        half = critical * float(wide[way])
        fresh_slow = float(slow[way])
        before = (
            sweep_scores.node_slowness[0, node]
            if sweep_scores.node_scores[0, node] > strict
            else None
        )
        reason = _doubt(fresh_slow, half, max(LEAST_HINT, hint * float(wide[way])), before)
        is_hinted = LEAST_EFFECT < sweep_scores.node_slowness[way, node] <= fresh_slow + half
        if reason is None and is_hinted and fresh.values.kind == "bandwidth":
            reason = HINTED  # which is measured alone, too
        result.judged.append(
            JudgedSuspect("node", node, None, named, fresh_slow, half, fresh_slow > half, reason)
        )


def _doubt(slow: float, half: float, hint: float, before: float | None) -> str | None:
    """Why a suspect stays inconclusive; None if it is accused, or if nothing speaks against it.

    `slow` is its fresh slowness, `half` the half width of the interval, and `before` its slowness in the sweep, if the
    sweep showed it beyond doubt. The second measurement refutes the sweep only if `before` is outside of the interval.
    """
    if slow > half:
        return None
    if slow > hint:
        return DOUBT
    if before is None:
        return None
    return UNTOLD if before <= slow + half else SLOW_BEFORE


def _way(slow: FloatArray, sigma: FloatArray, critical: float) -> tuple[int, str]:
    """Which of both, out and in is judged, and which is named: one alone only where the two are clearly apart."""
    difference = float(slow[1] - slow[2])
    worse, better = (1, 2) if difference > 0 else (2, 1)
    clear = abs(difference) > CLEARLY_ONE_WAY * float(np.hypot(sigma[1], sigma[2]))
    if clear and slow[better] <= critical * sigma[better] and slow[better] < slow[worse] / 2:
        return worse, WAYS[worse]
    missed = slow[0] <= critical * sigma[0] and slow[worse] > critical * sigma[worse]
    return (worse if missed else 0), BOTH


def _judge_uplinks(result: Again, fresh: Fresh, suspected: Suspects, error: float) -> None:
    first, ways = fresh.first, 3 if fresh.terms.is_directed else 1
    sweep_scores = scores(first)
    leaves = max(1, int(np.isfinite(sweep_scores.uplink_slowness[0]).sum()))
    critical = upper_quantile(error / leaves / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.uplinks.size) / ways, fresh.freedom)
    strict = upper_quantile(error / leaves / ways, sweep_scores.uplink_freedom)
    core_nodes = np.flatnonzero(np.isfinite(fresh.effects[0]))
    members = np.bincount(first.leaves[core_nodes], minlength=first.leaf_count)
    for leaf in suspected.uplinks.tolist():
        slow = fresh.uplinks[:, leaf]
        if not np.isfinite(slow).all():
            is_sure = sweep_scores.uplink_scores[0, leaf] > strict
            swept, doubt = (
                float(sweep_scores.uplink_slowness[0, leaf]),
                UNTOLD if is_sure else HINTED,
            )
            result.judged.append(_unknown("uplink", leaf, swept, doubt))
            continue
        share = 1 / members[leaf] + 1 / max(1, core_nodes.size - members[leaf])
        by_nodes = np.pi / 2 * fresh.spread**2 * share
        lasting = sweep_scores.uplink_spread[:, leaf] if leaves >= 8 else np.zeros(3)
        sigma = np.sqrt(by_nodes + lasting**2)
        way, named = _way(slow, sigma, critical)
        half = critical * float(sigma[way])
        fresh_slow = float(slow[way])
        before = (
            sweep_scores.uplink_slowness[0, leaf]
            if sweep_scores.uplink_scores[0, leaf] > strict
            else None
        )
        reason = _doubt(fresh_slow, half, max(LEAST_HINT, hint * float(sigma[way])), before)
        result.critical["uplink"] = half, float(sigma[way])
        result.judged.append(
            JudgedSuspect("uplink", leaf, None, named, fresh_slow, half, fresh_slow > half, reason)
        )


def _ask_for_hidden(result: Again, first: PairFit) -> None:
    """Adds the nodes behind open uplinks that their pairs within the leaf show slow, to be measured alone.

    A full uplink lets no node of its leaf send as fast as it could, so between leaves all of them look alike.
    """
    slow_leaves = [
        judged.number for judged in result.judged if judged.kind == "uplink" and _is_open(judged)
    ]
    within_leaf = slow_within_leaf(first)
    known = {
        judged.number: place for place, judged in enumerate(result.judged) if judged.kind == "node"
    }
    for node in np.flatnonzero(np.isin(first.leaves, slow_leaves)).tolist():
        place = known.get(node)
        if within_leaf[node] <= WORTH_MEASURING or (
            place is not None and _is_open(result.judged[place])
        ):
            continue
        hidden = JudgedSuspect(
            "node", node, None, BOTH, float(within_leaf[node]), np.inf, False, HIDDEN
        )
        if place is None:
            result.judged.append(hidden)
        else:
            result.judged[place] = hidden


def _is_open(judged: JudgedSuspect) -> bool:
    return judged.is_slow or judged.reason in (DOUBT, UNTOLD)


def slow_within_leaf(first: PairFit) -> FloatArray:
    """(n,) the slowness of each node by the median of its pairs within its leaf in the sweep; 0 without some.

    Against those of all leaves, whatever explains it: where nothing shows between leaves, half of a leaf's pairs may be
    those of one slow node.
    """
    within = first.classes == 0
    clients = first.values.clients[first.usable][within]
    servers = first.values.servers[first.usable][within]
    slow = first.residuals[within] + first.within_effects[first.leaves[clients]]
    slow += first.node_effects[0, clients] + first.node_effects[1, servers]
    ends = np.concatenate((clients, servers))
    return np.nan_to_num(group_medians(np.tile(slow, 2), ends, len(first.values.nodes)))
