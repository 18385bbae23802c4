"""What every judge starts from, and what it says of a suspect."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.machine_survey.confirmation import ConfirmationFit, fit_confirmation
from chiplog.machine_survey.pair_values import Isolation
from chiplog.machine_survey.robust import upper_quantile
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import BOTH, WAYS
from chiplog.machine_survey.sweep import Scores, Suspects, node_scores, suspects, uplink_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chiplog.machine_survey.pair_values import Confirmation, FloatArray
    from chiplog.machine_survey.slowness_model import PairFit

NOT_CONFIRMED = "it was not measured again"
TOO_FEW = "too few healthy nodes were measured again beside it"
DOUBT = "it is slow in both measurements, but not beyond doubt"
SLOW_BEFORE = "it was slow in the sweep, but not when measured again"
UNTOLD = "it was slow in the sweep, and the second measurement can't tell"
HINTED = "it seemed slow in the sweep, and the second measurement can't tell"
HIDDEN = "its leaf's uplink seems slow, which may hide that the node is, too"
NOT_ISOLATED = "it is slow while other pairs send, and was not measured alone"
NOT_SLOW_ALONE = "it is slow while other pairs send, and not alone: they may share a link"


@dataclass(frozen=True, eq=False)
class SurveyEvidence:
    """What the three stages of a survey say of bandwidths, or of latencies."""

    sweep: PairFit
    confirmation: Confirmation | None = None
    """None where nothing was measured again: then nobody is accused."""
    isolation: Isolation = field(default_factory=Isolation)

    @cached_property
    def nodes(self) -> Scores:
        """Returns how far nodes stand out of the sweep."""
        return node_scores(self.sweep)

    @cached_property
    def uplinks(self) -> Scores:
        """Returns how far uplinks stand out of the sweep."""
        return uplink_scores(self.sweep, self.nodes)

    @cached_property
    def suspects(self) -> Suspects:
        """Returns whom the sweep suspects."""
        return suspects(self.sweep)

    @cached_property
    def confirmation_fit(self) -> ConfirmationFit | None:
        """Returns the fit of the confirmation; None where there is none, or where it has too few healthy nodes."""
        if self.confirmation is None:
            return None
        return fit_confirmation(self.sweep, self.suspects, self.nodes, self.confirmation.rounds)

    def by_sweep_alone(self, kind: Literal["node", "uplink"]) -> Judged:
        """Returns the suspected nodes or uplinks where there is no fit of the confirmation; they stay inconclusive.

        Where nothing was measured again, only those are left that the sweep shows beyond doubt.
        """
        is_node = kind == "node"
        scores = self.nodes if is_node else self.uplinks
        numbers = (self.suspects.nodes if is_node else self.suspects.uplinks).tolist()
        if self.confirmation is not None:
            slowness = scores.slowness[0].tolist()
            return Judged(
                tuple(unknown(kind, place, slowness[place], TOO_FEW) for place in numbers)
            )
        ways = len(WAYS) if self.sweep.is_directed else 1
        tests = ways * (len(self.sweep.values.nodes) if is_node else self.sweep.leaf_count)
        strict = upper_quantile(SETTINGS.error_of_family / max(1, tests), scores.freedom)
        return Judged(
            tuple(
                replace(
                    unknown(kind, place, float(scores.slowness[0, place]), NOT_CONFIRMED),
                    half_width=strict * float(scores.spread[0, place]),
                )
                for place in numbers
                if np.nanmax(scores.scores[:, place]) > strict
            )
        )

    @property
    def tests_in_isolation(self) -> int:
        """Returns how many tests share the error rate of bandwidths in isolation: nodes and uplinks, in three ways."""
        return len(WAYS) * (len(self.sweep.values.nodes) + self.sweep.leaf_count)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A suspect and its slowness, a logarithm, with the half width that all intervals of the sweep share."""

    kind: Literal["node", "uplink", "pair"]
    number: int
    other: int | None
    way: str
    slowness: float
    half_width: float
    is_slow: bool
    reason: str | None

    @property
    def is_accused(self) -> bool:
        """Returns whether it is slow beyond doubt, and by as much as is worth a technician."""
        return self.is_slow and self.slowness > SETTINGS.least_effect

    @property
    def is_in_doubt(self) -> bool:
        """Returns whether it may be beyond doubt in isolation: doubtful, hinted at, or hidden by an uplink."""
        return self.reason in (DOUBT, UNTOLD, HINTED, HIDDEN)

    @property
    def is_cleared(self) -> bool:
        """Returns whether nothing speaks against it."""
        return not self.is_slow and self.reason is None

    @property
    def is_open(self) -> bool:
        """Returns whether it is slow, or may be as far as the confirmation can tell."""
        return self.is_slow or self.reason in (DOUBT, UNTOLD)

    def in_isolation(self, slowness: float, half_width: float, *, is_slow: bool) -> Judgement:
        """Returns an accused one with its effect in isolation, or with the reason why it is not accused."""
        if not is_slow:
            return replace(self, is_slow=False, reason=NOT_SLOW_ALONE)
        return replace(self, slowness=slowness, half_width=half_width)


def unknown(
    kind: Literal["node", "uplink"], number: int, slowness: float, reason: str
) -> Judgement:
    """Returns a suspect of which only the sweep's slowness is known."""
    return Judgement(kind, number, None, BOTH, slowness, np.inf, False, reason)


@dataclass(frozen=True, slots=True, order=True)
class EffectLimit:
    """The slowness from which one of a kind is accused, and the standard error of a suspect's."""

    slowness: float
    error: float


@dataclass(frozen=True, slots=True)
class Judged:
    """All suspects of a kind after a stage."""

    judgements: tuple[Judgement, ...]
    limit: EffectLimit | None = None
    """None where nothing of the kind was judged."""
    first_untested: int | None = None
    """Of pairs, the place of the first suspected one that was not measured often enough; None where all were."""

    def after(self, judgements: Sequence[Judgement], limits: Sequence[EffectLimit]) -> Judged:
        """Returns the same suspects after another stage, in which these limits held, too."""
        known = [*limits, *([] if self.limit is None else [self.limit])]
        return replace(self, judgements=tuple(judgements), limit=max(known, default=None))

    def isolated(
        self, judge: Callable[[Judgement], tuple[Judgement, EffectLimit] | None]
    ) -> Judged:
        """Returns the same suspects, the accused ones as `judge` says; it returns None of one that was not isolated."""
        judgements, limits = [], []
        for suspect in self.judgements:
            result = judge(suspect) if suspect.is_accused else (suspect, self.limit)
            if result is None:
                result = replace(suspect, is_slow=False, reason=NOT_ISOLATED), self.limit
            judgements.append(result[0])
            limits += [] if result[1] is None else [result[1]]
        return self.after(judgements, limits)


@dataclass(frozen=True, slots=True)
class Levels:
    """The quantiles of Student's t that decide about an effect, each in standard errors."""

    accused: float
    hinted: float
    sure_in_sweep: float
    """The score in the sweep that leaves no doubt there."""

    @staticmethod
    def of(tests: int, suspected: int, ways: int, freedom: float, sweep_freedom: float) -> Levels:
        """Returns the levels for so many tests, each in one way or in three, of which so many were suspected."""
        error = SETTINGS.error_of_family
        return Levels(
            upper_quantile(error / tests / ways, freedom),
            upper_quantile(SETTINGS.hint_error / max(1, suspected) / ways, freedom),
            upper_quantile(error / tests / ways, sweep_freedom),
        )

    def judge(
        self,
        kind: Literal["node", "uplink"],
        number: int,
        slowness: FloatArray,
        sigma: FloatArray,
        before: float | None,
    ) -> tuple[int, Judgement]:
        """Judges a node or an uplink by its fresh slowness in three ways and its standard errors, (3,) each.

        `before` is the slowness in the sweep, if the sweep showed it beyond doubt. Also returns the way that counts.
        """
        way, named = self.way(slowness, sigma)
        fresh, half = float(slowness[way]), self.accused * float(sigma[way])
        reason = self.doubt(fresh, float(sigma[way]), before)
        return way, Judgement(kind, number, None, named, fresh, half, fresh > half, reason)

    def doubt(self, slowness: float, sigma: float, before: float | None) -> str | None:
        """Returns why a suspect stays inconclusive; None if it is accused, or if nothing speaks against it.

        `slowness` is the fresh one, `sigma` its standard error, and `before` the slowness in the sweep, if the sweep
        showed it beyond doubt. The confirmation refutes the sweep only if `before` is outside of the interval.
        """
        half = self.accused * sigma
        if slowness > half:
            return None
        if slowness > max(SETTINGS.least_hint, self.hinted * sigma):
            return DOUBT
        if before is None:
            return None
        return UNTOLD if before <= slowness + half else SLOW_BEFORE

    def way(self, slowness: FloatArray, sigma: FloatArray) -> tuple[int, str]:
        """Returns which of both, out and in is judged, and which is named.

        One direction is named alone only where the two are clearly apart.
        """
        difference = float(slowness[1] - slowness[2])
        worse, better = (1, 2) if difference > 0 else (2, 1)
        errors = SETTINGS.clearly_one_way * float(np.hypot(sigma[1], sigma[2]))
        is_better_healthy = slowness[better] <= self.accused * sigma[better]
        is_clear = abs(difference) > errors and slowness[better] < slowness[worse] / 2
        if is_clear and is_better_healthy:
            return worse, WAYS[worse]
        is_worse_slow = slowness[worse] > self.accused * sigma[worse]
        missed = slowness[0] <= self.accused * sigma[0] and is_worse_slow
        return (worse if missed else 0), BOTH
