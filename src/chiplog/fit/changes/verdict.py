"""What one record of interleaved sizes says: is a size before or after a change, and does the time jump there?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.fit.changes.marks import Mark
from chiplog.fit.changes.neighbourhood import Neighbourhood
from chiplog.fit.changes.observed import samples_of

Floats = NDArray[np.float64]

REPLICATES = 200
NORMAL_MAD = 1.4826
CONTRAST = 2.0
"""How many times the jumps of its neighbours a jump must be."""
LASTING, LASTING_ERRORS = 0.5, 1.0
"""Share of a jump that must be left a cache line further, on either side, give or take so many standard errors."""
TRIMMED = 0.2
"""Share of the rounds that is left out at either end."""
NEITHER = 1e-4
"""Probability that a quantity follows neither line at a size, so that what it says there means nothing."""
OFF_ERRORS = 2.0
"""Standard errors by which a place may be beyond a line by chance."""
SHARE_OFF, SHAPE_OFF = 0.15, 0.02
"""How far a line may be off between the sizes that it was drawn through: of the distance to the other line, and for
each unit of the logarithm of the sizes' ratio."""
LEAST_RATIO = 0.01
"""Replicates count as at least so much of what they are replicates of."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error."""

    value: float
    error: float

    @property
    def size(self) -> float:
        """The value without its sign."""
        return abs(self.value)

    def significant(self, errors: float) -> bool:
        """Whether the value is at least so many standard errors from 0."""
        return self.size >= errors * self.error


class Evidence:
    """The rounds of one or more records at the same sizes, resampled jointly so that pairs stay pairs."""

    def __init__(
        self, marks: Sequence[Mark], sizes: Sequence[int], random: np.random.Generator
    ) -> None:
        self._marks = marks
        self._sizes = tuple(sizes)
        self._random = random
        self._rounds: dict[str, list[Floats]] = {}
        self._means: dict[str, Floats] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._means)

    def add(self, record: Sequence[Series]) -> None:
        """Takes the rounds of one more record."""
        for mark in self._marks:
            columns = [samples_of(mark.quantity, record, size) for size in self._sizes]
            known = [column for column in columns if column is not None]
            if len(known) < len(columns) or not known:
                continue
            rounds = min(column.size for column in known)
            if rounds == 0:
                continue
            table = np.column_stack([column[:rounds] for column in known])
            self._rounds.setdefault(mark.quantity, []).append(table)
        self._means = {
            name: self._resampled(np.concatenate(rows)) for name, rows in self._rounds.items()
        }

    def _resampled(self, rounds: Floats) -> Floats:
        """Trimmed means by size, shape (1 + REPLICATES, sizes): of all rounds first, then of resamples."""
        count = rounds.shape[0]
        picks = self._random.integers(0, count, (REPLICATES, count))
        return np.concatenate([_trimmed_mean(rounds[None, :]), _trimmed_mean(rounds[picks])])

    def seconds(self, quantity: str) -> Floats:
        """Trimmed mean of all rounds of a quantity, shape (sizes,)."""
        means: Floats = self._means[quantity][0]
        return means

    def rounds(self, quantity: str) -> int:
        """Of a quantity, over all records."""
        return sum(len(table) for table in self._rounds[quantity])

    def steps(self) -> list[tuple[str, Floats]]:
        """By quantity, how much more its logarithm rises between two neighbouring sizes than beside them.

        Shape (1 + REPLICATES, sizes - 3): entry i belongs to sizes i + 1 and i + 2, of all rounds first, then of
        resamples. Of the two rises beside it the more similar one counts: a smooth curve rises alike, and the
        neighbour of a jump has another neighbour. Drift moves all sizes alike.
        """
        found = []
        for mark in self._usable():
            rise = np.diff(_log(self._means[mark.quantity]), axis=1)
            own, left, right = rise[:, 1:-1], rise[:, :-2], rise[:, 2:]
            to_left = np.abs(own[0] - left[0]) <= np.abs(own[0] - right[0])
            found.append((mark.quantity, own - np.where(to_left, left, right)))
        return found

    def place(self, size: int, low: int, high: int) -> Estimate:
        """Where `size` lies between the lines through `low` (0: before the change) and `high` (1: after it)."""
        return _combined([self._place(mark, size, low, high) for mark in self._usable()])

    def log_odds(self, size: int, low: int, high: int) -> float:
        """Logarithm of the odds that `size` is before the change, as `low` is, and not after it, as `high` is.

        A size scatters as those on its side do. So one protocol may vary by much, and the other hardly at all.
        """
        return sum(self._log_odds(mark, size, low, high) for mark in self._usable())

    def jump(self, size: float, low: int, high: int) -> Estimate:
        """Largest relative jump of a quantity at `size`, by the lines through `low` and `high`, in its errors."""
        estimates = [self._jump(mark, size, low, high) for mark in self._usable()]
        if not estimates:
            return Estimate(0.0, np.inf)
        return max(estimates, key=lambda e: e.size / e.error)

    def shows_jump(self, around: Neighbourhood, *, errors: float, least: float) -> bool:
        """Whether the time jumps from one byte to the next, by more than beside it, and stays there.

        One quantity must jump by the share `least` and by `errors` standard errors. Of all that jump by half of it, at
        least half must stay.
        """
        usable = self._usable()
        if not any(self._jumps(mark, around, errors, least) for mark in usable):
            return False
        jumping = [mark for mark in usable if self._jumps(mark, around, errors, 0.5 * least)]
        return 2 * sum(self._lasts(mark, around) for mark in jumping) >= len(jumping)

    def _jumps(self, mark: Mark, around: Neighbourhood, errors: float, least: float) -> bool:
        low, high = around.low, around.high
        jump = self._jump(mark, high, low, high)
        beside = (
            self._jump(mark, low, around.below, low),
            self._jump(mark, high, high, around.above),
        )
        disturbance = max(one.size if one.significant(errors) else 0.0 for one in beside)
        return jump.significant(errors) and jump.size >= max(least, CONTRAST * disturbance)

    def _lasts(self, mark: Mark, around: Neighbourhood) -> bool:
        low, high = around.low, around.high
        jump = self._jump(mark, high, low, high)
        afar = (
            self._jump(mark, high, low, around.line_above),
            self._jump(mark, high, around.line_below, high),
        )
        sign = math.copysign(1.0, jump.value)
        return all(
            sign * one.value + LASTING_ERRORS * one.error >= LASTING * jump.size for one in afar
        )

    def _usable(self) -> list[Mark]:
        return [
            m
            for m in self._marks
            if m.quantity in self._means and np.all(self._means[m.quantity][0] > 0.0)
        ]

    def _at(self, mark: Mark, size: int) -> Floats:
        means: Floats = self._means[mark.quantity][:, self._sizes.index(size)]
        return means

    def _lines(self, mark: Mark, size: float, low: int, high: int) -> tuple[Floats, Floats]:
        before = self._at(mark, low) * (mark.before(size) / mark.before(float(low)))
        after = self._at(mark, high) * (mark.after(size) / mark.after(float(high)))
        return before, after

    def _place(self, mark: Mark, size: int, low: int, high: int) -> Estimate:
        if mark.unknown and not self._differs(mark, low, high):
            return Estimate(0.5, np.inf)
        # Ratios, since one protocol may take twenty times as long as the other. Linear in the replicates: dividing
        # them by a distance near zero would have no spread to speak of.
        before, after = (_log(times) for times in self._lines(mark, size, low, high))
        own = _log(self._at(mark, size))
        apart = float(after[0] - before[0])
        if apart == 0.0:
            return Estimate(0.5, np.inf)
        value = float(own[0] - before[0]) / apart
        return Estimate(value, spread((own - before) - value * (after - before)) / abs(apart))

    def _log_odds(self, mark: Mark, size: int, low: int, high: int) -> float:
        if mark.unknown and not self._differs(mark, low, high):
            return 0.0
        before, after = (_log(times) for times in self._lines(mark, size, low, high))
        own = _log(self._at(mark, size))[0]
        lines = max(SHARE_OFF * abs(after[0] - before[0]), SHAPE_OFF * np.log(high / low))
        error_before, error_after = (
            float(np.hypot(np.sqrt(2.0) * spread(times), lines)) for times in (before, after)
        )
        on_neither = NEITHER / max(error_before, error_after)
        densities = (
            np.exp(-0.5 * ((own - line) / error) ** 2) / error + on_neither
            for line, error in ((before[0], error_before), (after[0], error_after))
        )
        return float(np.subtract(*np.log(list(densities))))

    def _differs(self, mark: Mark, low: int, high: int) -> bool:
        """Whether a quantity without known lines differs by more than any line through the origin would."""
        ratio = float(self._at(mark, high)[0] / self._at(mark, low)[0])
        return max(ratio, 1.0 / ratio) >= 2.0 * high / low

    def _jump(self, mark: Mark, size: float, low: int, high: int) -> Estimate:
        if mark.unknown and not self._differs(mark, low, high):
            return Estimate(0.0, np.inf)
        before, after = self._lines(mark, size, low, high)
        ratio = after / before - 1.0
        return Estimate(float(ratio[0]), spread(ratio))


def _trimmed_mean(rounds: Floats) -> Floats:
    """Over the last axis but one, without the shortest and the longest fifth.

    Sizes that follow one another may leave each other in one of two states: a median would jump between them.
    """
    ordered = np.sort(rounds, axis=-2)
    count = ordered.shape[-2]
    off = int(TRIMMED * count)
    means: Floats = ordered[..., off : count - off, :].mean(axis=-2)
    return means


def _log(seconds: Floats) -> Floats:
    """Logarithms, of replicates that are not positive too: those of a difference may not be."""
    logarithms: Floats = np.log(np.maximum(seconds, LEAST_RATIO * seconds[0]))
    return logarithms


def spread(values: Floats) -> float:
    """Robust standard deviation of the replicates, which follow the first value; never 0."""
    replicates = values[1:]
    deviation = NORMAL_MAD * float(np.median(np.abs(replicates - np.median(replicates))))
    return max(deviation, 1e-9 * float(np.max(np.abs(values))), np.finfo(np.float64).tiny)


def _combined(estimates: Sequence[Estimate]) -> Estimate:
    known = [e for e in estimates if np.isfinite(e.error)]
    if not known:
        return Estimate(0.5, np.inf)
    # Clipped, so that one quantity with a steep line can't outvote the others by an absurd place. And one that
    # lies beyond either line counts for the less beside the others the farther off it is.
    places = np.array([float(np.clip(e.value, -1.0, 2.0)) for e in known])
    errors = np.array([max(e.error, 1e-6) for e in known])
    beyond = np.maximum(-places, places - 1.0)
    weights = 1.0 / (errors**2 + np.maximum(beyond - OFF_ERRORS * errors, 0.0) ** 2)
    weights /= np.sum(weights)
    return Estimate(float(weights @ places), float(np.linalg.norm(weights * errors)))
