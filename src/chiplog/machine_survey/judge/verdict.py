"""The verdict of a survey of bandwidths, or of latencies: what the judges of nodes, uplinks and pairs say together.

The rate of false accusations is bounded for a whole sweep, whatever its noise has in common: a suspect is judged by
fresh figures only, against the spread of controls in the same rounds, at a level divided by the number of all nodes,
uplinks and pairs of the sweep (docs/reference/survey-method.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.findings import Direction, Finding
from chiplog.machine_survey.isolation import isolated_pairs
from chiplog.machine_survey.judge.evidence import NOT_ISOLATED, Judged, Judgement
from chiplog.machine_survey.judge.nodes import confirm_nodes, doubted_nodes, isolate_nodes
from chiplog.machine_survey.judge.pairs import confirm_pairs, isolate_pairs
from chiplog.machine_survey.judge.uplinks import confirm_uplinks, isolate_uplinks
from chiplog.machine_survey.pair_values import Isolation
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import IN, OUT
from chiplog.machine_survey.sweep import pair_scores

if TYPE_CHECKING:
    from chiplog.machine_survey.judge.evidence import SurveyEvidence
    from chiplog.machine_survey.slowness_model import PairFit
    from chiplog.machine_survey.sweep import Scores


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """What a sweep and the stages after it say together."""

    accused: tuple[Finding, ...]
    inconclusive: tuple[Finding, ...]
    detectable: dict[str, float | None]
    """Of `node`, `uplink` and `pair` the smallest relative change that this run finds with a probability of 95 %.
    None where it finds none."""


def sweep_verdict(evidence: SurveyEvidence, leaf_names: tuple[str, ...] = ()) -> SweepVerdict:
    """Judges the suspects of a sweep by what was measured again; without that, nobody is accused.

    A node's or a pair's bandwidth is accused only if it is slow in isolation, too; an uplink's effect is that with no
    other uplink full, where that was measured. `leaf_names` are the names of the leaves by number, for uplinks.
    """
    judged = _isolated(evidence, _confirmed(evidence), evidence.isolation)
    suspected = set(evidence.suspects.nodes.tolist())
    accused: list[Finding] = []
    inconclusive: list[Finding] = []
    for judgement in judged.in_order(suspected):
        finding = _finding(judgement, evidence.sweep, leaf_names)
        if judgement.is_accused:
            accused.append(finding)
        elif judgement.reason is not None:
            inconclusive.append(finding)
    return SweepVerdict(tuple(accused), tuple(inconclusive), _detectable(evidence, judged))


@dataclass(frozen=True, slots=True)
class ToIsolate:
    """Numbers of the nodes, pairs and uplinks that are to be isolated, the worst first, those in doubt last."""

    nodes: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    uplinks: tuple[int, ...]


def to_isolate(evidence: SurveyEvidence) -> ToIsolate:
    """Returns whose bandwidth is slow in both measurements, or in doubt, by what was measured beside others."""
    judged = _isolated(evidence, _confirmed(evidence), Isolation())
    nodes, pairs, uplinks = (
        sorted(
            filter(_needs_isolation, part.judgements),
            key=lambda suspect: (suspect.is_in_doubt, -suspect.slowness),
        )
        for part in (judged.nodes, judged.pairs, judged.uplinks)
    )
    return ToIsolate(
        tuple(node.number for node in nodes),
        tuple((pair.number, pair.other) for pair in pairs if pair.other is not None),
        tuple(uplink.number for uplink in uplinks),
    )


def _needs_isolation(suspect: Judgement) -> bool:
    """Returns whether only the isolation can tell; pairs in doubt stay so."""
    if suspect.kind == "uplink":
        return suspect.is_accused or suspect.is_in_doubt
    return suspect.reason == NOT_ISOLATED or (suspect.kind == "node" and suspect.is_in_doubt)


@dataclass(frozen=True, slots=True)
class _AllJudged:
    """All suspects after a stage."""

    nodes: Judged
    uplinks: Judged
    pairs: Judged

    def in_order(self, suspected: set[int]) -> tuple[Judgement, ...]:
        """Returns suspected nodes, uplinks, nodes that only an uplink may hide, and pairs."""
        nodes = self.nodes.judgements
        return (
            *(node for node in nodes if node.number in suspected),
            *self.uplinks.judgements,
            *(node for node in nodes if node.number not in suspected),
            *self.pairs.judgements,
        )


def _confirmed(evidence: SurveyEvidence) -> _AllJudged:
    """Judges all suspects beside others: uplinks first, since slow ones hide nodes; then nodes, which explain pairs."""
    uplinks = confirm_uplinks(evidence)
    nodes = confirm_nodes(evidence, uplinks.judgements)
    return _AllJudged(nodes, uplinks, confirm_pairs(evidence, nodes.judgements, uplinks.judgements))


def _isolated(evidence: SurveyEvidence, confirmed: _AllJudged, isolation: Isolation) -> _AllJudged:
    """Judges bandwidths in isolation: nodes first, since they explain pairs, and must fill uplinks."""
    if evidence.sweep.values.kind == "latency" or evidence.confirmation is None:
        return confirmed
    before = confirmed.nodes.judgements
    accused = sum(each.is_accused for each in (*before, *confirmed.pairs.judgements))
    figures = None
    if evidence.confirmation_fit is not None and isolation.pairs is not None:
        doubted = doubted_nodes(evidence, confirmed.nodes)
        figures = isolated_pairs(
            evidence.confirmation_fit, evidence.suspects, doubted, isolation.pairs
        )
    nodes = isolate_nodes(evidence, confirmed.nodes, figures, accused)
    in_doubt = [node for node, was in zip(nodes.judgements, before, strict=True) if was.is_in_doubt]
    pairs = isolate_pairs(confirmed.pairs, in_doubt, figures, accused)
    uplinks = isolate_uplinks(evidence, confirmed.uplinks, nodes, isolation.uplinks)
    return _AllJudged(nodes, uplinks, pairs)


def _finding(judgement: Judgement, sweep: PairFit, leaf_names: tuple[str, ...]) -> Finding:
    """Puts a judgement into names and relative changes."""
    kind, nodes, number = sweep.values.kind, sweep.values.nodes, judgement.number
    slow, half = judgement.slowness, judgement.half_width
    sign = 1.0 if kind == "latency" else -1.0
    effect, *interval = (float(np.expm1(sign * end)) for end in (slow, slow - half, slow + half))
    direction: Direction = (
        "out" if judgement.way == OUT else "in" if judgement.way == IN else "both"
    )
    name = nodes[number] if judgement.kind != "uplink" else f"leaf {number}"
    if judgement.kind == "uplink" and number < len(leaf_names):
        name = leaf_names[number]
    return Finding(
        kind=judgement.kind,
        name=name,
        peer=None if judgement.other is None else nodes[judgement.other],
        direction=direction,
        quantity=kind,
        effect=effect,
        low=min(interval),
        high=max(interval),
        reason=judgement.reason,
    )


def _detectable(evidence: SurveyEvidence, judged: _AllJudged) -> dict[str, float | None]:
    """Returns what all stages together miss with a probability of 5 %: the weakest one decides."""
    sweep, nodes = evidence.sweep, evidence.nodes
    are_enough = nodes.is_known.sum() > SETTINGS.least_controls
    spreads = {
        "node": _typical(nodes) if are_enough else None,
        "uplink": _typical(evidence.uplinks),
        "pair": float(np.median(sweep.scales)) if sweep.scales.size else None,
    }
    sign = 1.0 if sweep.values.kind == "latency" else -1.0
    parts = {"node": judged.nodes, "uplink": judged.uplinks, "pair": judged.pairs}
    least: dict[str, float | None] = {}
    for kind, spread in spreads.items():
        slow = _least_slowness(evidence, kind, parts[kind], spread)
        least[kind] = float(sign * np.expm1(sign * slow)) if np.isfinite(slow) else None
    return least


def _least_slowness(
    evidence: SurveyEvidence, kind: str, judged: Judged, spread: float | None
) -> float:
    """Returns the smallest slowness of a kind that is found with 95 %; infinite where none is.

    `spread` is that of healthy ones in the sweep, None where it is not known.
    """
    score = evidence.suspects.thresholds[kind]
    if spread is None or not np.isfinite(score):
        return np.inf
    if judged.first_untested is not None:
        far = np.sort(pair_scores(evidence.sweep, evidence.suspects.nodes))
        score = max(score, float(far[-1 - judged.first_untested]))
    slow = (score + SETTINGS.power_quantile) * spread
    if judged.limit is not None:
        limit = judged.limit
        slow = max(slow, limit.slowness + SETTINGS.power_quantile * limit.error)
    return max(slow, SETTINGS.least_effect)


def _typical(scores: Scores) -> float | None:
    """Returns the median spread of those of whom the sweep tells; None without any."""
    return float(np.median(scores.spread[0, scores.is_known])) if scores.is_known.any() else None
