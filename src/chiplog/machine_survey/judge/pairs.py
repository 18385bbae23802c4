"""Which pairs are slow beyond what their nodes and uplinks explain: beside others, and bandwidths in isolation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.confirmation_pairs import PairControls, pair_controls, pair_figures
from chiplog.machine_survey.judge.evidence import (
    DOUBT,
    HIDDEN,
    NOT_CONFIRMED,
    EffectLimit,
    Judged,
    Judgement,
)
from chiplog.machine_survey.robust import scale, upper_quantile
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import BOTH, OUT
from chiplog.machine_survey.sweep import pair_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.confirmation import ConfirmationFit
    from chiplog.machine_survey.confirmation_pairs import PairFigures
    from chiplog.machine_survey.isolation import IsolatedPairs
    from chiplog.machine_survey.judge.evidence import SurveyEvidence
    from chiplog.machine_survey.pair_values import FloatArray, IntArray
    from chiplog.machine_survey.sweep import Suspects

OF_HIDDEN = "one of its nodes may be slow, which its leaf's uplink may hide"


def confirm_pairs(
    evidence: SurveyEvidence, nodes: Sequence[Judgement], uplinks: Sequence[Judgement]
) -> Judged:
    """Judges the suspected pairs by their fresh figures, beside those of healthy pairs."""
    suspects, fit = evidence.suspects, evidence.confirmation_fit
    if evidence.confirmation is None:
        return Judged(_of_sweep_alone(evidence))
    if fit is None:
        return Judged(())
    is_doubted = _doubted_nodes(fit, suspects, nodes, uplinks)
    figures = pair_figures(fit, suspects, evidence.confirmation.pairs, is_doubted)
    controls = pair_controls(figures, figures.rest)
    if controls is None:  # too few healthy pairs: no pair is accused
        return Judged((), EffectLimit(np.inf, np.inf))
    if not len(suspects.pairs):
        return Judged(())
    pairs = _fresh_pairs(evidence, fit, figures, controls)
    limit = _limit(pairs, controls)
    if evidence.sweep.values.kind == "latency":
        pairs = _by_floor(pairs, figures)
    is_tested = pairs.repeats >= SETTINGS.least_repeats
    judgements = (pairs.judgement(place) for place in np.flatnonzero(is_tested).tolist())
    untested = np.flatnonzero(~is_tested)
    return Judged(
        tuple(judgement for judgement in judgements if judgement is not None),
        limit,
        int(untested[0]) if untested.size else None,
    )


def _of_sweep_alone(evidence: SurveyEvidence) -> tuple[Judgement, ...]:
    """Returns the pairs that the sweep shows slow beyond doubt, the worst first; they stay inconclusive."""
    sweep, suspects = evidence.sweep, evidence.suspects
    strict = upper_quantile(SETTINGS.error_of_family / max(1, sweep.usable.size), np.inf)
    far = pair_scores(sweep, suspects.nodes)
    places = np.flatnonzero(far > strict)
    judgements = []
    for place in places[np.argsort(-far[places])][: len(suspects.pairs)].tolist():
        pair, spread = sweep.usable[place], float(sweep.scales[place])
        client, server = int(sweep.values.clients[pair]), int(sweep.values.servers[pair])
        slow, half = float(far[place]) * spread, strict * spread
        judgements.append(Judgement("pair", client, server, OUT, slow, half, False, NOT_CONFIRMED))
    return tuple(judgements)


def _doubted_nodes(
    fit: ConfirmationFit,
    suspects: Suspects,
    nodes: Sequence[Judgement],
    uplinks: Sequence[Judgement],
) -> NDArray[np.bool_]:
    """Returns (n,) whether a node, or its uplink, is in doubt: such a one may cost each class another share."""
    open_nodes, open_uplinks = (
        np.setdiff1d(suspected, [judged.number for judged in judgements if judged.is_cleared])
        for suspected, judgements in ((suspects.nodes, nodes), (suspects.uplinks, uplinks))
    )
    is_doubted = np.isin(fit.sweep.leaves, open_uplinks)
    is_doubted[open_nodes] = True
    return np.asarray(is_doubted & np.isfinite(fit.effects[0]))


@dataclass(frozen=True, slots=True)
class _FreshPairs:
    """The suspected pairs by their fresh figures; each is (k,)."""

    ends: IntArray
    """(k, 2) client and server."""
    kind: IntArray
    """1 of pairs whose nodes share a CPU, else 0."""
    slow: FloatArray
    back: FloatArray
    """The slowness the other way round."""
    repeats: IntArray
    back_repeats: IntArray
    sigma: FloatArray
    critical: FloatArray
    """How many standard errors are accused."""
    hint: FloatArray
    """How many are listed as inconclusive."""

    def judgement(self, place: int) -> Judgement | None:
        """Judges a pair; None where the same pair the other way round says it already."""
        client, server = self.ends[place].tolist()
        slow, back = float(self.slow[place]), self.back[place]
        half = float(self.critical[place] * self.sigma[place])
        is_known_back = self.back_repeats[place] >= SETTINGS.least_repeats
        one_way = is_known_back and back < slow / 2
        is_twin = is_known_back and client > server and self._has(server, client)
        if is_twin and not one_way and back > half:
            return None
        is_slow = slow > half
        hint = max(SETTINGS.least_hint, self.hint[place] * self.sigma[place])
        reason = DOUBT if not is_slow and slow > hint else None
        way = OUT if one_way else BOTH
        return Judgement("pair", client, server, way, slow, half, is_slow, reason)

    def _has(self, client: int, server: int) -> bool:
        return bool(np.any((self.ends[:, 0] == client) & (self.ends[:, 1] == server)))


def _fresh_pairs(
    evidence: SurveyEvidence, fit: ConfirmationFit, figures: PairFigures, controls: PairControls
) -> _FreshPairs:
    """Returns the suspected pairs relative to the controls of their kind."""
    pairs = evidence.suspects.pairs
    kind = figures.kind_of(pairs)
    slow, repeats = figures.of_pairs(figures.rest, pairs)
    back, back_repeats = figures.of_pairs(figures.rest, pairs[:, ::-1])
    outside = ~np.isfinite(fit.effects[0])
    unknown_ends = outside[pairs].sum(axis=1)
    tests = max(1, evidence.sweep.usable.size)
    return _FreshPairs(
        pairs,
        kind,
        slow - controls.centres[kind],
        back - controls.centres[kind],
        repeats,
        back_repeats,
        np.sqrt(controls.errors[kind] ** 2 + unknown_ends * _today(fit) ** 2),
        controls.quantiles(SETTINGS.error_of_family / tests)[kind],
        controls.quantiles(SETTINGS.hint_error / len(pairs))[kind],
    )


def _today(fit: ConfirmationFit) -> float:
    """Returns the standard deviation by which the effects of healthy nodes differ from the expected ones."""
    misses = fit.effects[1:, fit.controls] - fit.expected[1:, fit.controls]
    return float(np.hypot(scale(misses[0]), scale(misses[1]))) / 2**0.5


def _limit(pairs: _FreshPairs, controls: PairControls) -> EffectLimit:
    """Returns the limit of the kind of pairs that is found worst."""
    limits = pairs.critical * pairs.sigma
    return max(
        EffectLimit(float(np.median(limits[pairs.kind == kind])), float(controls.spreads[kind]))
        for kind in np.unique(pairs.kind)
    )


def _by_floor(pairs: _FreshPairs, figures: PairFigures) -> _FreshPairs:
    """Returns the same with the slowness of each latency and its error by its minimum as it is, where that says less.

    What nodes and blocks explain is fitted to typical figures, and busy CPUs move these more than the minima.
    """
    controls = pair_controls(figures, figures.plain)
    assert controls is not None  # there are some by what is left beyond nodes and blocks
    plain = figures.of_pairs(figures.plain, pairs.ends)[0] - controls.centres[pairs.kind]
    error = controls.errors[pairs.kind]
    is_weaker = plain / error < pairs.slow / pairs.sigma
    return replace(
        pairs,
        slow=np.where(is_weaker, plain, pairs.slow),
        sigma=np.where(is_weaker, error, pairs.sigma),
    )


def isolate_pairs(
    pairs: Judged, nodes: Sequence[Judgement], figures: IsolatedPairs | None, accused: int
) -> Judged:
    """Judges the accused pairs in isolation, beside `nodes`: those that were in doubt, as judged there.

    `figures` is None without such pairs, or with too few controls. `accused` is how many nodes and pairs share the
    error rate.
    """
    if figures is None:
        return pairs.isolated(lambda pair: None)
    isolated = pairs.isolated(lambda pair: _accused(pair, figures, accused))
    judgements = [_unless_explained(pair, nodes) for pair in isolated.judgements]
    return replace(isolated, judgements=tuple(judgements))


def _accused(
    pair: Judgement, figures: IsolatedPairs, accused: int
) -> tuple[Judgement, EffectLimit] | None:
    """Judges an accused pair by what its nodes do not explain; None where it was not measured alone.

    It must be slow also where only slow nodes explain anything: one that is quick while all send need not be so alone.
    """
    there = (figures.clients == pair.number) & (figures.servers == pair.other)
    if pair.way == BOTH:
        there |= (figures.clients == pair.other) & (figures.servers == pair.number)
    if not there.any():
        return None
    spread = max(SETTINGS.least_spread, scale(figures.low_beyond[figures.is_control]))
    half = upper_quantile(SETTINGS.error_of_family / accused / 2, figures.freedom) * spread
    limit = max(SETTINGS.least_hint, half)
    is_slow = (figures.low_beyond[there] > limit) & (figures.low[there] > SETTINGS.least_hint)
    typical = float(figures.typical[there].mean())
    return pair.in_isolation(typical, half, is_slow=bool(is_slow.any())), EffectLimit(limit, spread)


def _unless_explained(pair: Judgement, nodes: Sequence[Judgement]) -> Judgement:
    """Returns the pair, not accused where a node that was in doubt explains it, or may explain it."""
    if not pair.is_slow:
        return pair
    of_pair = [node for node in nodes if node.number in (pair.number, pair.other)]
    if any(node.reason == HIDDEN for node in of_pair):
        return replace(pair, is_slow=False, reason=OF_HIDDEN)
    # A node's slowness is the mean of its directions, so one of them may have twice as much.
    explained = sum(2 * node.slowness for node in of_pair if node.is_slow)
    if explained and pair.slowness - explained <= SETTINGS.least_hint:
        return replace(pair, is_slow=False)
    return pair
