"""What one record of interleaved sizes says: is a size before or after a change, and does the time jump there?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.fit.changes.marks import Mark
from chiplog.fit.changes.observed import samples_of

Floats = NDArray[np.float64]

REPLICATES = 200
NORMAL_MAD = 1.4826


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
        self._medians: dict[str, Floats] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._medians)

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
        self._medians = {
            name: self._resampled(np.concatenate(rows)) for name, rows in self._rounds.items()
        }

    def _resampled(self, rounds: Floats) -> Floats:
        """Medians by size, shape (1 + REPLICATES, sizes): of all rounds first, then of resamples."""
        count = rounds.shape[0]
        picks = self._random.integers(0, count, (REPLICATES, count))
        replicates = np.median(rounds[picks], axis=1)
        return np.concatenate([np.median(rounds, axis=0)[None, :], replicates])

    def place(self, size: int, low: int, high: int) -> Estimate:
        """Where `size` lies between the lines through `low` (0: before the change) and `high` (1: after it)."""
        return _combined([self._place(mark, size, low, high) for mark in self._usable()])

    def jump(self, size: float, low: int, high: int) -> Estimate:
        """Largest relative jump of a quantity at `size`, by the lines through `low` and `high`, in its errors."""
        estimates = [self._jump(mark, size, low, high) for mark in self._usable()]
        if not estimates:
            return Estimate(0.0, np.inf)
        return max(estimates, key=lambda e: e.size / e.error)

    def _usable(self) -> list[Mark]:
        return [
            m
            for m in self._marks
            if m.quantity in self._medians and np.all(self._medians[m.quantity][0] > 0.0)
        ]

    def _at(self, mark: Mark, size: int) -> Floats:
        medians: Floats = self._medians[mark.quantity][:, self._sizes.index(size)]
        return medians

    def _lines(self, mark: Mark, size: float, low: int, high: int) -> tuple[Floats, Floats]:
        before = self._at(mark, low) * (mark.before(size) / mark.before(float(low)))
        after = self._at(mark, high) * (mark.after(size) / mark.after(float(high)))
        return before, after

    def _place(self, mark: Mark, size: int, low: int, high: int) -> Estimate:
        before, after = self._lines(mark, size, low, high)
        if mark.unknown and not self._differs(mark, low, high):
            return Estimate(0.5, np.inf)
        apart = after - before
        centre = float(apart[0])
        if centre == 0.0:
            return Estimate(0.5, np.inf)
        # Linear in the medians: dividing replicates by a difference near zero would have no spread to speak of.
        offset = (self._at(mark, size) - before) - float(
            (self._at(mark, size) - before)[0] / centre
        ) * apart
        value = float((self._at(mark, size)[0] - before[0]) / centre)
        return Estimate(value, _spread(offset) / abs(centre))

    def _differs(self, mark: Mark, low: int, high: int) -> bool:
        """Whether a quantity without known lines differs by more than any line through the origin would."""
        ratio = float(self._at(mark, high)[0] / self._at(mark, low)[0])
        return max(ratio, 1.0 / ratio) >= 2.0 * high / low

    def _jump(self, mark: Mark, size: float, low: int, high: int) -> Estimate:
        if mark.unknown and not self._differs(mark, low, high):
            return Estimate(0.0, np.inf)
        before, after = self._lines(mark, size, low, high)
        ratio = after / before - 1.0
        return Estimate(float(ratio[0]), _spread(ratio))


def _spread(values: Floats) -> float:
    """Robust standard deviation of the replicates, which follow the first value; never 0."""
    replicates = values[1:]
    deviation = NORMAL_MAD * float(np.median(np.abs(replicates - np.median(replicates))))
    return max(deviation, 1e-9 * float(np.max(np.abs(values))), np.finfo(np.float64).tiny)


def _combined(estimates: Sequence[Estimate]) -> Estimate:
    known = [e for e in estimates if np.isfinite(e.error)]
    if not known:
        return Estimate(0.5, np.inf)
    # Clipped, so that one quantity with a steep line can't outvote the others by an absurd place.
    weights = np.array([1.0 / max(e.error, 1e-6) ** 2 for e in known])
    places = np.array([float(np.clip(e.value, -1.0, 2.0)) for e in known])
    return Estimate(
        float(np.average(places, weights=weights)), float(1.0 / np.sqrt(np.sum(weights)))
    )
