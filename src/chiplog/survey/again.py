"""Suspects judged by their second measurement: fresh figures against those of controls in the same rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.survey.again_pairs import judge_pairs
from chiplog.survey.fresh import DOUBT, HINT, LEAST_HINT, Again, Fresh, Judged, fit_again
from chiplog.survey.robust import degrees_of_freedom, upper_quantile
from chiplog.survey.suspects import BOTH, WAYS, scores

if TYPE_CHECKING:
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, SecondMeasurement
    from chiplog.survey.suspects import Suspects

FAMILIES = 8
"""Nodes, uplinks and pairs, of bandwidths and of latencies; nodes' bandwidth alone; and their CPU and memory: so many
share the error rate of a survey."""
CLEARLY_ONE_WAY = 3.0
"""Standard deviations between a node's two directions from which one alone is accused."""


def judge_again(
    first: PairFit, suspected: Suspects, again: SecondMeasurement, family_error: float
) -> Again:
    """Judges each suspect; `family_error` bounds the probability of a false accusation over the whole sweep."""
    fresh = fit_again(first, suspected, again.rounds)
    result = Again(fresh)
    if fresh is None:
        _untested(result, suspected)
        return result
    error = family_error / FAMILIES
    _judge_nodes(result, fresh, suspected, error)
    _judge_uplinks(result, fresh, suspected, error)
    judge_pairs(result, fresh, suspected, again.pairs, error)
    return result


def _untested(result: Again, suspected: Suspects) -> None:
    reason = "too few healthy nodes were measured again beside it"
    for kind, numbers in (("node", suspected.nodes), ("uplink", suspected.uplinks)):
        for number in numbers.tolist():
            of_kind: Literal["node", "uplink"] = "node" if kind == "node" else "uplink"
            result.judged.append(_unknown(of_kind, number, reason))


def _unknown(kind: Literal["node", "uplink"], number: int, reason: str) -> Judged:
    return Judged(kind, number, None, BOTH, 0.0, np.inf, False, reason)


def _judge_nodes(result: Again, fresh: Fresh, suspected: Suspects, error: float) -> None:
    ways = 3 if fresh.terms.is_directed else 1
    critical = upper_quantile(error / len(fresh.values.nodes) / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.nodes.size) / ways, fresh.freedom)
    typical = np.nanmedian(fresh.errors[:, fresh.controls], axis=1)
    own = fresh.spread**2 * (1 + np.pi / 2 / fresh.controls.size)
    sigma = np.sqrt(own[:, None] + np.maximum(0.0, fresh.errors**2 - typical[:, None] ** 2))
    was_clear = scores(fresh.first).node_scores
    strict = upper_quantile(
        error / len(fresh.values.nodes) / ways,
        degrees_of_freedom(int(np.isfinite(was_clear[0]).sum())),
    )
    result.critical["node"] = critical * float(fresh.spread[0]), float(fresh.spread[0])
    for node in suspected.nodes.tolist():
        slow, wide = fresh.effects[:, node], sigma[:, node]
        if not np.isfinite(slow).all():
            result.judged.append(
                _unknown("node", node, "it has no figures of a second measurement")
            )
            continue
        way, named = _way(slow, wide, critical)
        is_slow = bool(slow[way] > critical * wide[way])
        reason: str | None = None
        if not is_slow and slow[way] > max(LEAST_HINT, hint * wide[way]):
            reason = DOUBT
        elif not is_slow and was_clear[0, node] > strict:
            reason = "it was slow in the sweep, but not when measured again"
        half = critical * float(wide[way])
        result.judged.append(
            Judged("node", node, None, named, float(slow[way]), half, is_slow, reason)
        )


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
    found = scores(first)
    leaves = max(1, int(np.isfinite(found.uplink_slowness[0]).sum()))
    critical = upper_quantile(error / leaves / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.uplinks.size) / ways, fresh.freedom)
    core_nodes = np.flatnonzero(np.isfinite(fresh.effects[0]))
    members = np.bincount(first.leaves[core_nodes], minlength=first.leaf_count)
    for leaf in suspected.uplinks.tolist():
        slow = fresh.uplinks[:, leaf]
        if not np.isfinite(slow).all():
            few = "too few nodes of its leaf, or of other leaves, were measured again"
            result.judged.append(_unknown("uplink", leaf, few))
            continue
        share = 1 / members[leaf] + 1 / max(1, core_nodes.size - members[leaf])
        by_nodes = np.pi / 2 * fresh.spread**2 * share
        lasting = found.uplink_spread[:, leaf] if leaves >= 8 else np.zeros(3)
        sigma = np.sqrt(by_nodes + lasting**2)
        way, named = _way(slow, sigma, critical)
        is_slow = bool(slow[way] > critical * sigma[way])
        doubtful = not is_slow and slow[way] > max(LEAST_HINT, hint * sigma[way])
        reason = DOUBT if doubtful else None
        half = critical * float(sigma[way])
        result.critical["uplink"] = half, float(sigma[way])
        result.judged.append(
            Judged("uplink", leaf, None, named, float(slow[way]), half, is_slow, reason)
        )
