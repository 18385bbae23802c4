"""Which uplinks are slow: by the confirmation beside others, and by filling each alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.isolation import filled_uplinks, uplink_effect
from chiplog.machine_survey.judge.evidence import (
    HINTED,
    UNTOLD,
    EffectLimit,
    Judged,
    Judgement,
    Levels,
    unknown,
)
from chiplog.machine_survey.robust import spread_of_controls, upper_quantile
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import WAYS

if TYPE_CHECKING:
    from chiplog.machine_survey.isolation import FilledUplink, UplinkEffect
    from chiplog.machine_survey.judge.evidence import SurveyEvidence
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues

NOT_SLOW_ALONE_UPLINK = (
    "it is slow while other uplinks are full, and not alone: they may share a link"
)


def confirm_uplinks(evidence: SurveyEvidence) -> Judged:
    """Judges each suspected uplink beside others."""
    scores, suspects = evidence.uplinks, evidence.suspects.uplinks.tolist()
    fit = evidence.confirmation_fit
    if fit is None:
        return evidence.by_sweep_alone("uplink")
    swept = scores.slowness[0]
    levels = Levels.of(
        max(1, int(scores.is_known.sum())),
        len(suspects),
        fit.way_count,
        fit.freedom,
        scores.freedom,
    )
    judgements, limit = [], None
    for leaf in suspects:
        slow = fit.uplinks[:, leaf]
        before = swept[leaf] if scores.scores[0, leaf] > levels.sure_in_sweep else None
        if not np.isfinite(slow).all():
            reason = HINTED if before is None else UNTOLD
            judgements.append(unknown("uplink", leaf, float(swept[leaf]), reason))
            continue
        sigma = _standard_errors(evidence, leaf)
        way, judgement = levels.judge("uplink", leaf, slow, sigma, before)
        limit = EffectLimit(judgement.half_width, float(sigma[way]))
        judgements.append(judgement)
    return Judged(tuple(judgements), limit)


def _standard_errors(evidence: SurveyEvidence, leaf: int) -> FloatArray:
    """Returns (3,) those of an uplink's fresh effect, by what nodes differ by, and leaves where there are many."""
    fit = evidence.confirmation_fit
    assert fit is not None  # only by it uplinks are judged
    nodes = np.flatnonzero(np.isfinite(fit.effects[0]))
    members = int((evidence.sweep.leaves[nodes] == leaf).sum())
    share = 1 / members + 1 / max(1, nodes.size - members)
    by_nodes = np.pi / 2 * fit.spread**2 * share
    are_many = evidence.uplinks.is_known.sum() >= SETTINGS.many_leaves
    lasting = evidence.uplinks.spread[:, leaf] if are_many else np.zeros(len(WAYS))
    return np.asarray(np.sqrt(by_nodes + lasting**2))


def isolate_uplinks(
    evidence: SurveyEvidence, uplinks: Judged, nodes: Judged, full: PairValues | None
) -> Judged:
    """Gives the uplinks that are accused or in doubt the effect that they have alone; none are accused who have none.

    `nodes` are as judged in isolation, and `full` are rounds that each fill one uplink. An uplink that was not measured
    alone stays as it is, and so does one with a slower node behind it, which can't help to fill it.
    """
    to_judge = [uplink for uplink in uplinks.judgements if uplink.is_accused or uplink.is_in_doubt]
    if evidence.confirmation_fit is None or full is None or not to_judge:
        return uplinks
    suspected = {uplink.number for uplink in to_judge} | set(evidence.suspects.uplinks.tolist())
    filled = filled_uplinks(full, evidence.sweep.leaves)
    controls = [control for control in filled if not suspected & control.leaves]
    accused = sum(uplink.is_accused for uplink in to_judge)
    judgements, limits = [], []
    for uplink in uplinks.judgements:
        effect = _effect(uplink, filled, controls) if uplink in to_judge else None
        behind = _slowest_node(nodes.judgements, evidence.sweep.leaves, uplink.number)
        if effect is None or effect.slowness < behind:
            judgements.append(uplink)
            continue
        judgement, limit = _alone(uplink, effect, evidence, controls, accused)
        judgements.append(judgement)
        limits += [limit] if uplink.is_accused else []
    return uplinks.after(judgements, limits)


def _effect(
    uplink: Judgement, filled: Sequence[FilledUplink], controls: list[FilledUplink]
) -> UplinkEffect | None:
    """Returns the effect of an uplink alone; None where it was not filled, or nothing beside it."""
    of_leaf = (part for part in filled if part.begins_in(uplink.number).any())
    measured = next(of_leaf, None)
    if measured is None or not controls:
        return None
    return uplink_effect(uplink.number, WAYS.index(uplink.way), measured, controls)


def _alone(
    uplink: Judgement,
    effect: UplinkEffect,
    evidence: SurveyEvidence,
    controls: list[FilledUplink],
    accused: int,
) -> tuple[Judgement, EffectLimit]:
    """Judges an uplink by its effect alone; also returns the effect from which it is accused.

    The error rate bounds the probability that one of the `accused` is which only shares a link. One in doubt is
    accused if it is slow beyond doubt alone: the error rate then is that of all nodes and uplinks of the sweep.
    """
    fit = evidence.confirmation_fit
    assert fit is not None  # only by it uplinks are accused, or in doubt
    if uplink.is_accused:
        spread, freedom = float(fit.spread[WAYS.index(uplink.way)]), fit.freedom
        tests = accused
    else:
        differences = np.concatenate([control.differences() for control in controls])
        spread, freedom = spread_of_controls(differences)
        tests = evidence.tests_in_isolation
    sigma = float(np.hypot(spread * np.sqrt(effect.share), effect.noise))
    sigma = max(SETTINGS.least_spread, sigma)
    freedom = min(freedom, effect.freedom)
    half = upper_quantile(SETTINGS.error_of_family / tests, freedom) * sigma
    limit = EffectLimit(max(SETTINGS.least_hint, half), sigma)
    is_slow = effect.slowness > limit.slowness
    is_healthy = effect.slowness + half < SETTINGS.least_hint
    if not (uplink.is_accused or is_slow or is_healthy):
        return uplink, limit
    hidden = effect.hidden / 2
    judgement = replace(
        uplink,
        slowness=effect.slowness + hidden,
        half_width=half + hidden,
        is_slow=is_slow,
        reason=None if is_slow or uplink.reason == HINTED else NOT_SLOW_ALONE_UPLINK,
    )
    return judgement, limit


def _slowest_node(nodes: Sequence[Judgement], leaves: IntArray, leaf: int) -> float:
    """Returns the slowness of the slowest accused node of a leaf; minus infinity without one."""
    slow = (node.slowness for node in nodes if node.is_slow and leaves[node.number] == leaf)
    return max(slow, default=-np.inf)
