"""Who is slow: suspects that were measured again, held against healthy nodes measured beside them.

The rate of false accusations is bounded for a whole sweep, whatever its noise has in common: a suspect is judged by
fresh figures only, against the spread of controls in the same rounds, at a level divided by the number of all nodes,
uplinks and pairs of the sweep (docs/reference/survey-method.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.survey.again import FAMILIES, judge_again
from chiplog.survey.alone import UNKNOWN_ALONE, is_doubted, judge_alone
from chiplog.survey.fresh import Again, JudgedSuspect
from chiplog.survey.pair_fit import PairFit, fit_pairs
from chiplog.survey.robust import upper_quantile
from chiplog.survey.suspects import (
    BOTH,
    IN,
    LEAST_CONTROLS,
    LEAST_EFFECT,
    OUT,
    Scores,
    Suspects,
    pair_scores,
    scores,
    suspects,
)
from chiplog.survey.uplinks_alone import (
    is_doubted_uplink,
    is_slow_uplink,
    judge_uplinks_alone,
)

if TYPE_CHECKING:
    from chiplog.survey.pair_values import FloatArray, SecondMeasurement

__all__ = [
    "Finding", "PairFit", "Suspects", "SweepVerdict", "confirmed", "fit_pairs", "slow_beside_others", "suspects",
]  # fmt: skip

FAMILY_ERROR = 0.01
"""The probability that a sweep of a healthy machine accuses anybody."""
POWER_QUANTILE = 1.645
"""A fault of the smallest detectable effect is found with a probability of 95 %."""

OwnKind = Literal["cpu", "memory"]
FoundKind = Literal["node", "uplink", "pair", "cpu", "memory"]
OwnQuantity = Literal["fixed_work", "memory_copy", "other_programs"]
FoundQuantity = Literal["latency", "bandwidth", "fixed_work", "memory_copy", "other_programs"]
OF_NODE: tuple[FoundKind, ...] = ("node", "cpu", "memory")
"""The kinds that are about one node."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A node, an uplink or a pair, with its effect on its pairs' figures and an interval for it.

    Of a node's CPU or memory it is the effect on what the node does alone.
    """

    kind: FoundKind
    name: str
    peer: str | None
    """The server of a pair; None of all others."""
    direction: Literal["both", "out", "in"]
    quantity: FoundQuantity
    effect: float
    """The relative change: -0.05 of a bandwidth that is 5 % smaller, 0.1 of a latency that is 10 % longer. Of
    other_programs the share of the CPUs that they have."""
    low: float
    high: float
    reason: str | None = None
    """Why nothing is concluded; None of an accused one."""


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """What a sweep and its second measurement say together."""

    accused: tuple[Finding, ...]
    inconclusive: tuple[Finding, ...]
    detectable: dict[str, float | None]
    """Of `node`, `uplink` and `pair` the smallest relative change that this run finds with a probability of 95 %.
    None where it finds none."""


def confirmed(
    first: PairFit,
    again: SecondMeasurement | None,
    leaf_names: tuple[str, ...] = (),
) -> SweepVerdict:
    """Judges the suspects of a sweep by what was measured again; without that, nobody is accused.

    A node's or a pair's bandwidth is accused only if it is slow alone, too, one pair being measured after the other;
    an uplink's effect is that with no other uplink full, where that was measured.
    `leaf_names` are the names of the leaves by number, for uplinks.
    """
    suspected = suspects(first)
    first_scores = scores(first)
    fresh = None if again is None else _judge(first, suspected, again)
    accused: list[Finding] = []
    inconclusive: list[Finding] = []
    namer = _Namer(first, leaf_names)
    for judgement in _judgements(first, suspected, first_scores, fresh):
        finding = namer.finding(judgement)
        if judgement.is_slow and judgement.slowness > LEAST_EFFECT:
            accused.append(finding)
        elif judgement.reason is not None:
            inconclusive.append(finding)
    return SweepVerdict(
        tuple(accused), tuple(inconclusive), _detectable(first, suspected, first_scores, fresh)
    )


def _judge(first: PairFit, suspected: Suspects, again: SecondMeasurement) -> Again:
    fresh = judge_again(first, suspected, again, FAMILY_ERROR)
    if first.values.kind == "bandwidth":
        judge_alone(fresh, suspected, again.alone, FAMILY_ERROR / FAMILIES)
        judge_uplinks_alone(fresh, suspected, again.uplinks, FAMILY_ERROR / FAMILIES)
    return fresh


@dataclass(frozen=True, slots=True)
class SlowBesideOthers:
    """Numbers of the nodes, pairs and uplinks that are to be measured alone, the worst first, those in doubt last."""

    nodes: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    uplinks: tuple[int, ...]


def slow_beside_others(first: PairFit, again: SecondMeasurement) -> SlowBesideOthers:
    """Whose bandwidth is slow in both measurements, by what was measured beside others: is it slow alone?"""
    judged = _judge(first, suspects(first), replace(again, alone=None, uplinks=None)).judged
    nodes_and_pairs = [
        suspect for suspect in judged if suspect.reason == UNKNOWN_ALONE or is_doubted(suspect)
    ]
    nodes_and_pairs.sort(key=lambda suspect: (is_doubted(suspect), -suspect.slowness))
    uplinks = [
        suspect for suspect in judged if is_slow_uplink(suspect) or is_doubted_uplink(suspect)
    ]
    uplinks.sort(key=lambda uplink: (is_doubted_uplink(uplink), -uplink.slowness))
    return SlowBesideOthers(
        tuple(suspect.number for suspect in nodes_and_pairs if suspect.other is None),
        tuple(
            (suspect.number, suspect.other)
            for suspect in nodes_and_pairs
            if suspect.other is not None
        ),
        tuple(uplink.number for uplink in uplinks),
    )


def _judgements(
    first: PairFit, suspected: Suspects, first_scores: Scores, fresh: Again | None
) -> list[JudgedSuspect]:
    if fresh is not None:
        return fresh.judged
    untested = "it was not measured again"
    ways = 3 if first.is_directed else 1
    strict_node = _strict(ways * len(first.values.nodes), first_scores.node_freedom)
    strict_uplink = _strict(ways * first.leaf_count, first_scores.uplink_freedom)
    strict_pair = _strict(first.usable.size, np.inf)
    result = []
    for node in suspected.nodes.tolist():
        if np.nanmax(first_scores.node_scores[:, node]) > strict_node:
            slow, spread = (
                float(first_scores.node_slowness[0, node]),
                float(first_scores.node_spread[0]),
            )
            result.append(
                JudgedSuspect("node", node, None, BOTH, slow, strict_node * spread, False, untested)
            )
    for leaf in suspected.uplinks.tolist():
        if np.nanmax(first_scores.uplink_scores[:, leaf]) > strict_uplink:
            slow = float(first_scores.uplink_slowness[0, leaf])
            half = strict_uplink * float(first_scores.uplink_spread[0, leaf])
            result.append(JudgedSuspect("uplink", leaf, None, BOTH, slow, half, False, untested))
    far = pair_scores(first, suspected.nodes)
    places = np.flatnonzero(far > strict_pair)
    for place in places[np.argsort(-far[places])][: len(suspected.pairs)].tolist():
        pair = first.usable[place]
        client, server = int(first.values.clients[pair]), int(first.values.servers[pair])
        spread = float(first.scales[place])
        slow = float(far[place]) * spread
        result.append(
            JudgedSuspect("pair", client, server, OUT, slow, strict_pair * spread, False, untested)
        )
    return result


def _strict(tests: int, freedom: float) -> float:
    """The score that a healthy one of so many exceeds with the error rate of a family."""
    return upper_quantile(FAMILY_ERROR / FAMILIES / max(1, tests), freedom)


class _Namer:
    def __init__(self, fit: PairFit, leaf_names: tuple[str, ...]) -> None:
        self._nodes = fit.values.nodes
        self._kind = fit.values.kind
        self._leaves = leaf_names

    def finding(self, judged: JudgedSuspect) -> Finding:
        ends = (
            judged.slowness,
            judged.slowness - judged.half_width,
            judged.slowness + judged.half_width,
        )
        effect, *interval = (self._change(end) for end in ends)
        direction: Literal["both", "out", "in"] = (
            "out" if judged.way == OUT else "in" if judged.way == IN else "both"
        )
        return Finding(
            kind=judged.kind,
            name=self._name(judged),
            peer=None if judged.other is None else self._nodes[judged.other],
            direction=direction,
            quantity=self._kind,
            effect=effect,
            low=min(interval),
            high=max(interval),
            reason=judged.reason,
        )

    def _change(self, slow: float) -> float:
        return float(np.expm1(slow if self._kind == "latency" else -slow))

    def _name(self, judged: JudgedSuspect) -> str:
        if judged.kind != "uplink":
            return self._nodes[judged.number]
        return (
            self._leaves[judged.number]
            if judged.number < len(self._leaves)
            else f"leaf {judged.number}"
        )


def _detectable(
    first: PairFit, suspected: Suspects, first_scores: Scores, fresh: Again | None
) -> dict[str, float | None]:
    """What both measurements together miss with a probability of 5 %: the weaker of the two decides."""
    spreads: dict[str, float | None] = {
        "node": float(first_scores.node_spread[0]),
        "uplink": _typical(first_scores.uplink_spread[0], first_scores.uplink_slowness[0]),
        "pair": float(np.median(first.scales)) if first.scales.size else None,
    }
    if np.isfinite(first_scores.node_slowness[0]).sum() <= LEAST_CONTROLS:
        spreads["node"] = None
    result: dict[str, float | None] = {}
    for kind, spread in spreads.items():
        limit = suspected.thresholds[kind]
        if spread is None or not np.isfinite(limit):
            result[kind] = None
            continue
        if kind == "pair" and fresh is not None and fresh.untested_pairs:
            limit = max(limit, _score_of(first, suspected, min(fresh.untested_pairs)))
        slow = (limit + POWER_QUANTILE) * spread
        if fresh is not None and kind in fresh.critical:
            critical, error = fresh.critical[kind]
            slow = max(slow, critical + POWER_QUANTILE * error)
        slow = max(slow, LEAST_EFFECT)
        if not np.isfinite(slow):
            result[kind] = None
            continue
        result[kind] = float(np.expm1(slow) if first.values.kind == "latency" else -np.expm1(-slow))
    return result


def _score_of(first: PairFit, suspected: Suspects, place: int) -> float:
    """The score in the sweep of the suspected pair at `place`, from the worst one on."""
    return float(np.sort(pair_scores(first, suspected.nodes))[-1 - place])


def _typical(spread: FloatArray, slow: FloatArray) -> float | None:
    known = np.isfinite(slow)
    return float(np.median(spread[known])) if known.any() else None
