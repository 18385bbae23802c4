"""Classes of pairs of ranks whose parameters come from fits, over what these leave open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.settings import REPLICATES
from chiplog.jobs.simulated_model import FittedParameters, corners
from chiplog.prediction.model_error import drawn_errors
from chiplog.prediction.sent_sizes import message_counts
from chiplog.prediction.simulated import ScheduleTimes
from chiplog.schedule.arrays import Schedule
from chiplog.simulation.conditions import PairClasses
from chiplog.simulation.parameters import MessageTimes, Protocol
from chiplog.statistics import TAILS

Protocols = tuple[Protocol | MessageTimes, ...]


@dataclass(frozen=True)
class FittedClasses:
    """Classes of pairs of the ranks of a schedule, and the fit that each is from; None where numbers are given."""

    pairs: PairClasses
    fits: tuple[FittedParameters | None, ...]

    @property
    def is_open(self) -> bool:
        """Is any class from a fit, so that its parameters have intervals?"""
        return any(fit is not None for fit in self.fits)


@dataclass(frozen=True)
class ClassDraws:
    """The classes for each draw of their fits, whose draws have nothing to do with each other, and at the corners.

    Where `is_long`, for those two draws only in which messages take least and longest.
    """

    classes: FittedClasses
    schedule: Schedule
    is_long: bool

    def span(self, answers: Callable[[Sequence[PairClasses]], Array]) -> AnswerSpan:
        """The answer in the middle, and the least and the largest of 95 % of the draws, and at the corners."""
        drawn = answers(self._drawn)
        value = float(drawn[0])
        ends = [value, *interval(drawn[1:]), *answers(self._corners).tolist()]
        return AnswerSpan(value, min(ends), max(ends))

    @cached_property
    def _drawn(self) -> list[PairClasses]:
        rows = [self._draws_of(number, fit) for number, fit in enumerate(self.classes.fits)]
        drawn = list(map(self._with, zip(*rows, strict=True)))
        return [drawn[place] for place in (0, *self._ends(drawn))] if self.is_long else drawn

    @cached_property
    def _corners(self) -> list[PairClasses]:
        """All fits at the same corner of what they leave: all parameters of a kind at one end."""
        rows = [self._corners_of(number, fit) for number, fit in enumerate(self.classes.fits)]
        count = max(map(len, rows))
        return [self._with(tuple(row[place % len(row)] for row in rows)) for place in range(count)]

    def _draws_of(self, number: int, fit: FittedParameters | None) -> list[Protocols]:
        if fit is None:
            return [self.classes.pairs.classes[number]] * (1 + REPLICATES)
        times = self._times(fit)
        middle = np.full((1, len(times.space.symbols)), 0.5)
        vectors = [vector.protocols for vector in times.parameters(middle, whole=True)]
        order = 1 + np.random.default_rng(number).permutation(REPLICATES)
        return [vectors[0], *(vectors[place] for place in order)]

    def _corners_of(self, number: int, fit: FittedParameters | None) -> list[Protocols]:
        if fit is None:
            return [self.classes.pairs.classes[number]]
        times = self._times(fit)
        return [
            times.parameters(point[np.newaxis], whole=False)[0].protocols
            for point in corners(times.space)
        ]

    def _times(self, fit: FittedParameters) -> ScheduleTimes:
        times = fit.times(self.schedule)
        return replace(times, errors=drawn_errors(fit.fit, times.sizes))

    def _with(self, classes: tuple[Protocols, ...]) -> PairClasses:
        return replace(self.classes.pairs, classes=classes)

    def _ends(self, drawn: Sequence[PairClasses]) -> tuple[int, int]:
        """The draws in which messages take least and longest, all but the tails of an interval."""
        counts = message_counts(self.schedule)
        totals = [
            sum(
                counts.get(each.first_bytes, 0) * each.one_way_ps_of(each.first_bytes)
                for protocols in pairs.classes
                for each in protocols
            )
            for pairs in drawn[1:]
        ]
        order = 1 + np.argsort(totals, kind="stable")
        low, high = (order[min(REPLICATES - 1, round(tail * REPLICATES))] for tail in TAILS)
        return int(low), int(high)
