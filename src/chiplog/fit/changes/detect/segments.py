"""Into which lines one series of medians falls, and how much noise they leave."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog._native import Limits, Segmenter
from chiplog.fit.changes.detect.line import Line
from chiplog.fit.changes.detect.noise import standard_errors
from chiplog.fit.changes.detect.observed import Observed
from chiplog.fit.changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]

LIMITS = Limits(
    min_bytes=1, min_points=5, min_factor=1.5, min_points_sparse=2, min_factor_sparse=2.0
)
"""A line has five sizes over a factor of 1.5 or, where sizes are sparse, two or more over an octave."""
LEAST_SIZES = 6
PARAMETERS = 3
"""Of each further line: intercept, slope and place."""


@dataclass(frozen=True)
class Lines:
    """The sizes of one series that are usable, in lines that begin at the indices `begins`.

    `noise` is the mean square misfit in units of `weight`, known to `freedom` degrees of freedom.
    """

    observed: Observed
    size: Floats
    seconds: Floats
    weight: Floats
    segmenter: Segmenter
    begins: tuple[int, ...]
    noise: float
    freedom: int

    @classmethod
    def of(cls, observed: Observed) -> Lines | None:
        """The lines that the noise leaves no reason to divide; None where the series is too short to be searched."""
        kept = [k for k, seconds in enumerate(observed.seconds) if seconds > 0.0]
        if len(kept) < LEAST_SIZES:
            return None
        usable = replace(observed, points=tuple(observed.points[k] for k in kept))
        size, seconds = usable.message_bytes.astype(np.float64), usable.seconds
        error = standard_errors(usable)
        weight = 1.0 / ((THRESHOLDS.resolution * seconds) ** 2 + error**2)
        noise = _least_noise(_solutions(size, seconds, weight, 0, size.size), size.size)
        begins = [0]
        for first, last in itertools.pairwise([0, *_steps(usable, noise), size.size]):
            solutions = _solutions(size, seconds, weight, first, last)
            begins += [first] if first else []
            begins += [first + begin for begin in _affordable(solutions, noise)[1:]]
        segmenter = Segmenter(size, seconds, weight, LIMITS)
        freedom = max(size.size + 1 - PARAMETERS * len(begins), 2)
        left = sum(
            segmenter.cost(begin, end) for begin, end in itertools.pairwise([*begins, size.size])
        )
        noise = max(noise, left / freedom)
        return cls(usable, size, seconds, weight, segmenter, tuple(begins), noise, freedom)

    def line(self, begin: int, end: int) -> Line:
        """Through the sizes [begin, end)."""
        return Line(*self.segmenter.line(begin, end))


def _solutions(
    size: Floats, seconds: Floats, weight: Floats, first: int, last: int
) -> list[tuple[float, list[int]]]:
    part = slice(first, last)
    segmenter = Segmenter(size[part], seconds[part], weight[part], LIMITS)
    return segmenter.solve(THRESHOLDS.most_lines)


def _affordable(solutions: list[tuple[float, list[int]]], noise: float) -> list[int]:
    """The segmentation that saves most after paying for each of its lines."""
    return min(solutions, key=lambda one: one[0] / noise + THRESHOLDS.penalty * len(one[1]))[1]


def _least_noise(solutions: list[tuple[float, list[int]]], sizes: int) -> float:
    """What any number of lines leaves for each degree of freedom, at least.

    Too few lines leave misfit, too many leave no freedom: a quarter of the sizes must stay free.
    """
    free = [(cost, sizes + 1 - PARAMETERS * len(begins)) for cost, begins in solutions]
    known = [cost / freedom for cost, freedom in free if freedom >= max(sizes / 4, 2)]
    return max(min(known), THRESHOLDS.least_noise)


def _steps(observed: Observed, noise: float) -> list[int]:
    """Where a table without repetitions steps by more than a factor of two, for at least an octave: indices.

    No line with an intercept of 0 or more more than doubles from one size to its double, whatever the rest of the table
    does.
    """
    if any(point.samples.size > 1 for point in observed.points):
        return []
    size, level = observed.message_bytes.astype(np.float64), np.log(observed.seconds)
    clear = THRESHOLDS.step_errors * np.sqrt(2.0 * noise) * THRESHOLDS.resolution
    found = []
    for at in range(1, size.size):
        beyond = level[at:] - level[at - 1] - np.log(np.maximum(size[at:] / size[at - 1], 2.0))
        lasting = (size[at:] <= 2.0 * size[at - 1]) | (np.arange(size.size - at) == 0)
        if np.all(beyond[lasting] > clear):
            found.append(at)
    return found
