"""Which nodes are slow: by the confirmation beside others, and bandwidths in isolation, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.confirmation import pair_keys
from chiplog.machine_survey.judge.evidence import (
    HIDDEN,
    HINTED,
    NOT_SLOW_ALONE,
    EffectLimit,
    Judged,
    Judgement,
    Levels,
    unknown,
)
from chiplog.machine_survey.robust import (
    degrees_of_freedom,
    group_medians,
    scale,
    shared_ends,
    spread_of_controls,
    upper_quantile,
)
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import BOTH, WAYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.isolation import IsolatedPairs
    from chiplog.machine_survey.judge.evidence import SurveyEvidence
    from chiplog.machine_survey.pair_values import FloatArray, IntArray
    from chiplog.machine_survey.slowness_model import PairFit

NO_FIGURES = "it has no figures of a second measurement"


def confirm_nodes(evidence: SurveyEvidence, uplinks: Sequence[Judgement]) -> Judged:
    """Judges each suspected node beside others; then come nodes that an open one of the `uplinks` may hide."""
    fit, suspects = evidence.confirmation_fit, evidence.suspects.nodes.tolist()
    if fit is None:
        return evidence.by_sweep_alone("node")
    levels = Levels.of(
        len(fit.values.nodes),
        len(suspects),
        fit.way_count,
        fit.freedom,
        degrees_of_freedom(int(np.isfinite(evidence.nodes.scores[0]).sum())),
    )
    typical = np.nanmedian(fit.errors[:, fit.controls], axis=1)
    of_nodes = fit.spread**2 * (1 + np.pi / 2 / fit.controls.size)
    more = np.maximum(0.0, fit.errors**2 - typical[:, None] ** 2)
    sigma = np.sqrt(of_nodes[:, None] + more)
    judgements = [
        _by_fresh_effect(node, evidence, levels, fit.effects[:, node], sigma[:, node])
        if np.isfinite(fit.effects[:, node]).all()
        else unknown("node", node, float(evidence.nodes.slowness[0, node]), NO_FIGURES)
        for node in suspects
    ]
    if fit.values.kind == "bandwidth":  # which is measured in isolation, too
        judgements = _with_hidden(evidence.sweep, judgements, uplinks)
    spread = float(fit.spread[0])
    return Judged(tuple(judgements), EffectLimit(levels.accused * spread, spread))


def _by_fresh_effect(
    node: int, evidence: SurveyEvidence, levels: Levels, slow: FloatArray, sigma: FloatArray
) -> Judgement:
    """Judges a node by its fresh slowness in the three ways and its standard errors, (3,) each."""
    swept = evidence.nodes
    is_sure = swept.scores[0, node] > levels.sure_in_sweep
    before = swept.slowness[0, node] if is_sure else None
    way, judgement = levels.judge("node", node, slow, sigma, before)
    highest = judgement.slowness + judgement.half_width
    is_hinted = SETTINGS.least_effect < swept.slowness[way, node] <= highest
    is_isolated = evidence.sweep.values.kind == "bandwidth"
    if judgement.reason is None and is_hinted and is_isolated:
        return replace(judgement, reason=HINTED)
    return judgement


def _with_hidden(
    sweep: PairFit, judgements: Sequence[Judgement], uplinks: Sequence[Judgement]
) -> list[Judgement]:
    """Returns the same with the nodes behind open uplinks that their pairs within the leaf show slow, to be isolated.

    A full uplink lets no node of its leaf send as fast as it could, so between leaves all of them look alike.
    """
    leaves = [uplink.number for uplink in uplinks if uplink.is_open]
    within_leaf = slow_within_leaf(sweep)
    open_nodes = {judgement.number for judgement in judgements if judgement.is_open}
    hidden = {
        node: unknown("node", node, float(within_leaf[node]), HIDDEN)
        for node in np.flatnonzero(np.isin(sweep.leaves, leaves)).tolist()
        if within_leaf[node] > SETTINGS.worth_measuring and node not in open_nodes
    }
    known = [hidden.pop(judgement.number, judgement) for judgement in judgements]
    return [*known, *hidden.values()]


def slow_within_leaf(sweep: PairFit) -> FloatArray:
    """Returns (n,) the slowness of each node by the median of its pairs within its leaf in the sweep; 0 without some.

    Against those of all leaves, whatever explains it: where nothing shows between leaves, half of a leaf's pairs may be
    those of one slow node.
    """
    within = sweep.classes == 0
    clients = sweep.values.clients[sweep.usable][within]
    servers = sweep.values.servers[sweep.usable][within]
    slow = sweep.residuals[within] + sweep.within_effects[sweep.leaves[clients]]
    slow += sweep.node_effects[0, clients] + sweep.node_effects[1, servers]
    ends = np.concatenate((clients, servers))
    return np.nan_to_num(group_medians(np.tile(slow, 2), ends, len(sweep.values.nodes)))


def isolate_nodes(
    evidence: SurveyEvidence, nodes: Judged, figures: IsolatedPairs | None, accused: int
) -> Judged:
    """Judges the nodes that are accused or in doubt by their pairs in isolation.

    `figures` is None without such pairs, or with too few controls. `accused` is how many nodes and pairs are accused:
    they share an error rate, which bounds the probability that anybody stays so who only shares a link. Chance was
    ruled out beside others, so those count that were slow there. Nodes in doubt are accused if they are slow beyond
    doubt alone, by tests of all nodes and uplinks of the sweep.
    """
    if figures is None:
        return nodes.isolated(lambda node: None)
    doubted = doubted_nodes(evidence, nodes)
    isolated = nodes.isolated(lambda node: _accused(node, evidence, figures, accused))
    judgements = [
        _doubted(node, evidence, figures, doubted) if before.is_in_doubt else node
        for node, before in zip(isolated.judgements, nodes.judgements, strict=True)
    ]
    return replace(isolated, judgements=tuple(judgements))


def doubted_nodes(evidence: SurveyEvidence, nodes: Judged) -> IntArray:
    """Returns the nodes that are no controls in isolation: suspects, and those in doubt."""
    in_doubt = [node.number for node in nodes.judgements if node.is_in_doubt]
    return np.union1d(evidence.suspects.nodes, np.array(in_doubt, dtype=np.int64))


def _accused(
    node: Judgement, evidence: SurveyEvidence, figures: IsolatedPairs, accused: int
) -> tuple[Judgement, EffectLimit] | None:
    """Judges an accused node by the mean over its pairs, in the direction in which it was slow; None of too few.

    What it alone explains is put back.
    """
    fit = evidence.confirmation_fit
    assert fit is not None  # only by it somebody is accused
    effects = np.nan_to_num(np.maximum(0.0, fit.effects))
    parts = []
    for way, ends in zip(fit.ways, (figures.clients, figures.servers), strict=True):
        if node.way in (BOTH, WAYS[way]):
            with_node = figures.best(ends == node.number)
            parts.append(figures.typical[with_node] + effects[way, node.number])
    slow = np.concatenate(parts)
    if slow.size < 2:
        return None
    pairs = scale(figures.typical[figures.is_control])
    sigma = float(np.hypot(fit.spread[0], pairs / np.sqrt(slow.size)))
    spread = max(SETTINGS.least_spread, sigma)
    half = upper_quantile(SETTINGS.error_of_family / accused, figures.freedom) * spread
    limit = max(SETTINGS.least_hint, half)
    judgement = node.in_isolation(float(slow.mean()), half, is_slow=bool(slow.mean() > limit))
    return judgement, EffectLimit(limit, spread)


def _doubted(
    node: Judgement, evidence: SurveyEvidence, figures: IsolatedPairs, doubted: IntArray
) -> Judgement:
    """Judges a node in doubt by its pairs alone, against the spread of control pairs, as one of all nodes.

    A pair has the differences of two nodes and noise, so a node's part is at most half of a pair's variance. The median
    over its pairs leaves a single slow one out. Where partners are in doubt, too, its quickest pair counts: of a slow
    node all are slow, and of a healthy one that with another healthy one is not.
    """
    keys = figures.keys()
    way = WAYS.index(node.way)
    is_of_node = (way != 2) & (figures.clients == node.number)
    is_of_node |= (way != 1) & (figures.servers == node.number)
    chosen, are_healthy = _pairs_of_node(node.number, is_of_node, evidence, figures, doubted)
    typical = np.median if are_healthy else np.min
    is_first = figures.clients < figures.servers
    controls = figures.is_control if way == 0 else figures.is_control & is_first
    of_node, healthy = (_by_pair(figures.plain, keys, kept) for kept in (chosen, controls))
    if of_node.size < SETTINGS.least_partners or healthy.size < 2 * SETTINGS.least_controls:
        return node
    spread, freedom = spread_of_controls(healthy)
    wider, independent = shared_ends(*np.divmod(np.unique(keys[controls]), figures.nodes))
    spread, freedom = spread * wider, max(1.0, freedom * independent)
    share = 1 / 2 + np.pi / 2 * (1 / of_node.size + 1 / healthy.size)
    sigma = max(SETTINGS.least_spread, spread * float(np.sqrt(share)))
    error = SETTINGS.error_of_family / evidence.tests_in_isolation
    half = upper_quantile(error, freedom) * sigma
    hint = upper_quantile(SETTINGS.hint_error / len(WAYS), freedom) * sigma
    slow = float(typical(of_node) - np.median(healthy))
    of_node, healthy = (_by_pair(figures.at_most, keys, kept) for kept in (chosen, controls))
    at_most = float(typical(of_node) - np.median(healthy))
    return _of_isolated(node, slow, at_most, half, hint)


def _of_isolated(
    node: Judgement, slow: float, at_most: float, half: float, hint: float
) -> Judgement:
    """Judges a node in doubt that is `slow` alone, or `at_most` as slow where its uplink costs it nothing."""
    least = SETTINGS.least_hint
    if slow > max(least, half):
        return replace(node, slowness=slow, half_width=half, is_slow=True, reason=None)
    if at_most > max(least, half):
        return node
    if node.reason in (HINTED, HIDDEN):
        reason = node.reason if slow > max(least, hint) else None
        return replace(node, slowness=slow, half_width=half, reason=reason)
    return replace(node, reason=NOT_SLOW_ALONE) if slow + half < least else node


def _pairs_of_node(
    node: int,
    is_of_node: NDArray[np.bool_],
    evidence: SurveyEvidence,
    figures: IsolatedPairs,
    doubted: IntArray,
) -> tuple[NDArray[np.bool_], bool]:
    """Returns the pairs alone by which a node in doubt is judged, and whether its partners seem healthy.

    The best kind of which there are enough: those with partners that nothing speaks against, without suspected pairs;
    with these, which may be suspected because of the node; and with partners in doubt.
    """
    keys, suspected = figures.keys(), evidence.suspects.pairs
    suspected_keys = pair_keys(suspected[:, 0], suspected[:, 1], figures.nodes)
    clear = is_of_node & figures.reaches_beyond(np.union1d(doubted, [node]))
    for kept, are_healthy in (
        (clear & ~np.isin(keys, suspected_keys), True),
        (clear, True),
        (is_of_node, False),
    ):
        chosen = figures.best(kept)
        if np.unique(keys[chosen]).size >= SETTINGS.least_partners:
            return chosen, are_healthy
    return np.zeros(keys.size, dtype=bool), False


def _by_pair(values: FloatArray, keys: IntArray, kept: NDArray[np.bool_]) -> FloatArray:
    """Returns the means over both directions of each pair."""
    _, number, sizes = np.unique(keys[kept], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(number.reshape(-1), values[kept]) / sizes)
