"""How much of a schedule's time a change saves, with the same draws of what is not known before and after.

What the fit leaves open, and what its model misses, is the same of both times, so most of it cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.jobs.class_draws import ClassDraws
from chiplog.jobs.replay import ReplayBy, given_seconds
from chiplog.jobs.simulated_model import FittedParameters, corners, span_of_corners
from chiplog.prediction.model_error import drawn_errors
from chiplog.prediction.network_change import UNCHANGED, NetworkChange
from chiplog.prediction.simulated import PS_PER_SECOND, ScheduleTimes
from chiplog.schedule.arrays import Schedule
from chiplog.simulation.conditions import PairClasses


@dataclass(frozen=True)
class Variant:
    """A schedule, and on what it runs; with classes of pairs, it has no other sizes than the first schedule."""

    schedule: Schedule
    change: NetworkChange = UNCHANGED
    group_of_rank: tuple[int, ...] | None = None
    """In place of the groups of the classes of pairs: where each rank is."""


@dataclass(frozen=True)
class _KnownTimes:
    """Times of a variant over what a fit leaves open; of a long schedule for the draws at `ends_of` only."""

    times: ScheduleTimes
    ends_of: ScheduleTimes
    known: dict[tuple[bytes, bool], list[float]] = field(default_factory=dict)

    def __call__(self, fractions: Array, whole: bool) -> Array:
        """As `Evaluate`."""
        return np.array([self._of_point(point, whole) for point in fractions])

    def _of_point(self, point: Array, whole: bool) -> list[float]:
        key = point.tobytes(), whole
        if key not in self.known:
            self.known[key] = self._simulated(point, whole)
        return self.known[key]

    def _simulated(self, point: Array, whole: bool) -> list[float]:
        vectors = self.times.parameters(point[np.newaxis], whole=whole)
        if whole and self.ends_of.is_long:
            vectors = [vectors[place] for place in (0, *self.ends_of.ends(point))]
        return list(map(self.times.seconds, vectors))


class PairedTimes:
    """Times of a schedule, and of variants of it, by a fit or by given parameters."""

    def __init__(self, schedule: Schedule, by: ReplayBy) -> None:
        self._by = by
        self._unchanged = Variant(schedule)
        self._known: dict[tuple[int, ...], _KnownTimes] = {}
        self._unchanged_by: dict[int, Array] = {}

    def seconds(self, variant: Variant) -> float:
        """The time in the middle of what is known."""
        if self._by.fitted is None:
            return self._given(variant)
        times = self._scheduled(self._by.fitted, variant)
        return times.in_the_middle().makespan_ps / PS_PER_SECOND

    @cached_property
    def unchanged_seconds(self) -> float:
        """The time of the schedule itself in the middle of what is known."""
        return self.seconds(self._unchanged)

    def saved_seconds(self, variant: Variant) -> AnswerSpan:
        """How many seconds less the variant takes, and the 95 % interval of that."""
        return self._compared(variant, lambda before, after: before - after)

    def saved_share(self, variant: Variant) -> AnswerSpan:
        """Which share of the time the variant takes less, and the 95 % interval of that."""
        return self._compared(variant, _share)

    def _compared(self, variant: Variant, compare: Callable[[Array, Array], Array]) -> AnswerSpan:
        fitted, draws = self._by.fitted, self._class_draws
        if fitted is not None:
            return self._by_fit(fitted, variant, compare)
        if draws is not None:
            return draws.span(
                lambda drawn: compare(
                    self._by_classes(drawn, self._unchanged), self._by_classes(drawn, variant)
                )
            )
        times = np.array([self.unchanged_seconds]), np.array([self._given(variant)])
        saved = float(compare(*times)[0])
        return AnswerSpan(saved, saved, saved)

    def _by_fit(
        self,
        fitted: FittedParameters,
        variant: Variant,
        compare: Callable[[Array, Array], Array],
    ) -> AnswerSpan:
        variants = self._unchanged, variant
        needed = (self._scheduled(fitted, each).space.used for each in variants)
        used = tuple(sorted(set(chain.from_iterable(needed))))
        before = self._before(fitted, used)
        unchanged = before.times
        after = _KnownTimes(self._scheduled(fitted, variant, used), unchanged)

        def evaluate(fractions: Array, whole: bool) -> Array:
            return compare(before(fractions, whole), after(fractions, whole))

        space = unchanged.space
        if space.symbols and unchanged.is_long:
            return span_of_corners(evaluate, corners(space))
        return space.span(evaluate, refuse=False)

    @cached_property
    def _class_draws(self) -> ClassDraws | None:
        return self._by.class_draws(self._unchanged.schedule)

    def _by_classes(self, drawn: Sequence[PairClasses], variant: Variant) -> Array:
        """The time by each of some classes of pairs; that of the schedule itself is kept for the next variant."""
        if variant is not self._unchanged:
            return self._by.seconds_by(
                drawn, variant.schedule, variant.change, variant.group_of_rank
            )
        if id(drawn) not in self._unchanged_by:
            self._unchanged_by[id(drawn)] = self._by.seconds_by(drawn, variant.schedule)
        return self._unchanged_by[id(drawn)]

    def _before(self, fitted: FittedParameters, used: tuple[int, ...]) -> _KnownTimes:
        """Of the schedule itself; what was simulated is kept for the next variant."""
        if used not in self._known:
            times = self._scheduled(fitted, self._unchanged, used)
            self._known[used] = _KnownTimes(times, times)
        return self._known[used]

    def _scheduled(
        self, fitted: FittedParameters, variant: Variant, used: tuple[int, ...] = ()
    ) -> ScheduleTimes:
        """By a fit, for vectors of the regimes `used`; by default, of those that it needs."""
        times = fitted.times(variant.schedule, self._by.conditions, variant.change, used or None)
        return replace(times, errors=drawn_errors(fitted.fit, times.sizes))

    def _given(self, variant: Variant) -> float:
        """By given parameters."""
        return given_seconds(variant.schedule, self._by, variant.change, variant.group_of_rank)


def _share(before: Array, after: Array) -> Array:
    """Which share of `before` `after` is less; none of nothing."""
    return np.divide(before - after, before, out=np.zeros_like(before), where=before > 0.0)
