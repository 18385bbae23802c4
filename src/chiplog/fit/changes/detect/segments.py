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
COARSE = Limits(
    min_bytes=64, min_points=5, min_factor=1.5, min_points_sparse=3, min_factor_sparse=4.0
)
"""For the lines that matter: none within a cache line, where differences are those of copying words."""
LEAST_SIZES = 6
TINY = float(np.finfo(np.float64).tiny)
PARAMETERS = 3
"""Of each further line: intercept, slope and place."""


@dataclass(frozen=True)
class Lines:
    """The sizes of one series that are usable, in lines that begin at the indices `begins`.

    At `steps`, no line explains how much longer the next size takes; at `doubtful` ones only noise does. `noise` is the
    mean square misfit in units of `weight`, known to `freedom` degrees of freedom.
    """

    observed: Observed
    size: Floats
    seconds: Floats
    weight: Floats
    segmenter: Segmenter
    begins: tuple[int, ...]
    steps: tuple[int, ...]
    doubtful: tuple[int, ...]
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
        segmenter = Segmenter(size, seconds, weight, LIMITS)
        steps, doubtful = _steps(usable, weight)
        ways = _ways(size, seconds, weight, steps)
        noise = _least_noise(ways, size.size)
        left, begins = _affordable(ways, noise)
        freedom = max(size.size + 1 - PARAMETERS * len(begins), 2)
        noise = max(noise, left / freedom)
        return cls(
            usable,
            size,
            seconds,
            weight,
            segmenter,
            tuple(begins),
            tuple(steps),
            tuple(doubtful),
            noise,
            freedom,
        )

    @property
    def repeated(self) -> bool:
        """Whether any size was measured more than once."""
        return _repeated(self.observed)

    def line(self, begin: int, end: int) -> Line:
        """Through the sizes [begin, end)."""
        return Line(*self.segmenter.line(begin, end))

    def noise_of(self, begin: int, at: int, end: int) -> tuple[float, int]:
        """Mean square misfit beside the break at `at`, and to how many degrees of freedom it is known.

        Times of large messages scatter otherwise than those of small ones; so it is that of the two lines, if they have
        enough sizes, and else that of the whole series. Where the misfits of neighbours are alike (a drift, a curve),
        fewer of them count as independent.
        """
        places: tuple[int, ...] = (begin, at, end)
        freedom = end - begin + 1 - 2 * PARAMETERS
        if freedom < THRESHOLDS.local_freedom:
            places, freedom = (*self.begins, self.size.size), self.freedom
        off = np.concatenate(
            [
                (self.seconds[a:b] - self.line(a, b)(self.size[a:b])) * np.sqrt(self.weight[a:b])
                for a, b in itertools.pairwise(places)
            ]
        )
        total = float(np.sum(off**2))
        noise = max(total / freedom, THRESHOLDS.least_noise)
        if freedom == self.freedom:
            noise = max(noise, self.noise)
        alike = max(float(np.sum(off[1:] * off[:-1])) / max(total, TINY), 0.0)
        return noise * (1.0 + alike) / (1.0 - alike), freedom


Way = tuple[float, list[int]]
"""A cost, and where the lines begin."""


def _ways(size: Floats, seconds: Floats, weight: Floats, splits: list[int]) -> list[Way]:
    """The best way into each number of lines, where some begin at `splits`."""
    best: dict[int, Way] = {0: (0.0, [])}
    for first, last in itertools.pairwise([0, *splits, size.size]):
        part = slice(first, last)
        segmenter = Segmenter(size[part], seconds[part], weight[part], LIMITS)
        wider: dict[int, Way] = {}
        for cost, begins in best.values():
            for more, inside in segmenter.solve(THRESHOLDS.most_lines):
                way = cost + more, [*begins, *(first + begin for begin in inside)]
                known = wider.get(len(way[1]))
                if known is None or way[0] < known[0]:
                    wider[len(way[1])] = way
        best = wider
    return [best[lines] for lines in sorted(best)]


def mattering(lines: Lines) -> list[int]:
    """Where the fewest lines begin that predict: each of them lowers the root mean square misfit by `least_gain`.

    Sometimes only two lines together do, each as much.
    """
    ways = Segmenter(lines.size, lines.seconds, lines.weight, COARSE).solve(THRESHOLDS.most_lines)
    misfit = [np.sqrt(max(cost, lines.size.size * THRESHOLDS.least_noise)) for cost, _ in ways]
    kept = 0
    while any(
        misfit[kept + more] <= (1.0 - THRESHOLDS.least_gain) ** more * misfit[kept]
        for more in (1, 2)
        if kept + more < len(ways)
    ):
        kept += 1
    return ways[kept][1][1:]


def _affordable(ways: list[Way], noise: float) -> Way:
    """The way that saves most after paying for each of its lines."""
    return min(ways, key=lambda way: way[0] / noise + THRESHOLDS.penalty * len(way[1]))


def _least_noise(ways: list[Way], sizes: int) -> float:
    """What any number of lines leaves for each degree of freedom, at least.

    Too few lines leave misfit, too many leave no freedom: a quarter of the sizes must stay free.
    """
    free = [(cost, sizes + 1 - PARAMETERS * len(begins)) for cost, begins in ways]
    known = [cost / freedom for cost, freedom in free if freedom >= sizes / 4]
    cost, freedom = free[0]
    return max(min(known, default=cost / max(freedom, 1)), THRESHOLDS.least_noise)


def _repeated(observed: Observed) -> bool:
    return any(point.samples.size > 1 for point in observed.points)


def _steps(observed: Observed, weight: Floats) -> tuple[list[int], list[int]]:
    """Where a table without repetitions steps by more than a factor of two, for at least an octave: indices.

    First those that noise does not explain, then those that it may.

    No line with an intercept of 0 or more more than doubles from one size to its double, whatever the rest of the table
    does. The noise is what lines leave that may begin anew at each of these steps.
    """
    if _repeated(observed):
        return [], []
    size, level = observed.message_bytes.astype(np.float64), np.log(observed.seconds)
    beyond = {}
    for at in range(1, size.size):
        lasting = (size[at:] <= 2.0 * size[at - 1]) | (np.arange(size.size - at) == 0)
        factor = np.log(np.maximum(size[at:] / size[at - 1], 2.0))
        beyond[at] = float(np.min((level[at:] - level[at - 1] - factor)[lasting]))
    possible = [at for at, excess in beyond.items() if excess > 0.0]
    noise = _least_noise(_ways(size, observed.seconds, weight, possible), size.size)
    clear = THRESHOLDS.step_errors * np.sqrt(2.0 * noise) * THRESHOLDS.resolution
    clear = min(clear, np.log(THRESHOLDS.sure_step / 2.0))
    steps = [at for at in possible if beyond[at] > clear]
    return steps, [at for at in possible if at not in steps]
