"""Into which lines one series of times over sizes falls, and how much the sizes scatter about them.

One penalised, robust segmentation: a size adds at most `cap` to a line's misfit, so that one outlying size, or two,
make no line of their own, and three do. The scatter of the sizes is the one that makes the series likeliest. Where each
size was measured once, a state of the machine may have come and gone within a range of sizes; such a range, which both
sides of it follow one line across, is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chiplog._native import Limits, Segmenter
from chiplog.machine_state.noise import LAUNCHES_DIFFER
from chiplog.protocol_changes.detect.line import Line, nonnegative_least_squares
from chiplog.protocol_changes.detect.observed import Observed
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES, THRESHOLDS
from chiplog.statistics import BEYOND_DOUBT, MEDIAN_ABSOLUTE

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DENSE_POINTS, SPARSE_POINTS = 5, 2
"""Given: sizes of a line at least: five or, over an octave, two."""
LINE_FACTOR, LINE_SHARE = 1.5, 0.25
"""Given: a line covers this factor in size or, where a grid has less, this share of its logarithmic range."""
MOST_ALIKE = 0.9
"""Given: correlation of neighbours' misfits at most: what lasts for more than ten sizes is part of the lines."""
SIZES_OF_A_BLOCK = 48
"""Derived: sizes of a series for each size of a block: the three blocks of a chord are cut by a change, and four
changes cut a quarter of all chords at most."""
PARAMETERS = 3
"""Derived: of each further line: intercept, slope and place."""
WIDE = 4.0
"""Given: factor in size that the lines that matter cover where sizes are sparse."""
COARSE = Limits(
    min_bytes=CACHE_LINE_BYTES,
    min_points=DENSE_POINTS,
    min_factor=LINE_FACTOR,
    min_points_sparse=PARAMETERS,
    min_factor_sparse=WIDE,
)
"""For the lines that matter: none within a cache line, where differences are those of copying words."""
TINY = float(np.finfo(np.float64).tiny)


def _told(observed: Observed) -> slice:
    """The sizes that are searched: all, where each median is above 0.

    Where a difference of series is 0 or less at some sizes, noise hides it at others, too, and those that happen to be
    above 0 would be chosen by their noise. Then it is the longest range of sizes that are above 0 beyond doubt.
    """
    if np.all(observed.seconds > 0.0):
        return slice(None)
    is_sampled = np.array([point.standard_error > 0.0 for point in observed.points])
    is_told = (
        is_sampled & (observed.seconds > 0.0) & (BEYOND_DOUBT * observed.relative_errors < 1.0)
    )
    ends = [-1, *np.flatnonzero(~is_told).tolist(), is_told.size]
    before, after = max(itertools.pairwise(ends), key=lambda ends: ends[1] - ends[0])
    return slice(before + 1, after)


@dataclass(frozen=True)
class Lines:
    """The usable sizes of one series, in lines that begin at the indices `begins`.

    All arrays have the shape (sizes,) and ascend in size. Sizes that a passing state slowed are left out.
    """

    observed: Observed
    size: Floats
    seconds: Floats
    deviation: Floats
    """Relative standard deviation of each time about its line."""
    cap: float
    """Most that a size adds to a cost: the square of as many deviations."""
    segmenter: Segmenter
    begins: tuple[int, ...]
    passing: tuple[tuple[int, float], ...]
    """Sizes in each range that a passing state slowed, or that lies off all lines, and how far off as logarithm."""

    @classmethod
    def of(cls, observed: Observed) -> Lines | None:
        """The likeliest lines; None where the series is too short to be searched."""
        usable = replace(observed, points=observed.points[_told(observed)])
        if len(usable.points) < 2 * PARAMETERS:
            return None
        lines = _likeliest(usable)
        if observed.is_in_order and lines.size.size < THRESHOLDS.dense_sizes:
            lines = lines._without_passing_states()
        return lines._with_last_size()

    @property
    def weight(self) -> Floats:
        """Inverse variances of the times, 1/s^2."""
        return np.asarray((self.seconds * self.deviation) ** -2.0)

    @property
    def edges(self) -> tuple[int, ...]:
        """Where lines begin and the last one ends."""
        return (*self.begins, self.size.size)

    def unlikelihood(self) -> float:
        """Minus twice the log likelihood of the series under the lines, with what each line must save."""
        costs = [self.segmenter.cost(a, b) for a, b in itertools.pairwise(self.edges)]
        penalty = _penalty(self.cap) * len(self.begins)
        return sum(costs) + penalty + 2.0 * float(np.sum(np.log(self.deviation)))

    @property
    def places(self) -> float:
        """Independent places of a break: as many as the shortest lines that the series may fall into."""
        is_dense = self.size.size >= THRESHOLDS.dense_sizes
        return self.size.size / (DENSE_POINTS if is_dense else SPARSE_POINTS)

    def line(self, begin: int, end: int) -> Line:
        """Through the sizes [begin, end)."""
        return Line(*self.segmenter.line(begin, end))

    def off(self, begin: int, end: int) -> Floats:
        """How far the sizes [begin, end) lie off the line through them, in deviations, shape (end - begin,)."""
        part = slice(begin, end)
        misfit = self.seconds[part] - self.line(begin, end)(self.size[part])
        return np.asarray(misfit / (self.seconds[part] * self.deviation[part]))

    def follows(self, begin: int, end: int) -> Flags:
        """Which of the sizes [begin, end) follow the line through them, shape (end - begin,)."""
        return np.asarray(self.off(begin, end) ** 2 < self.cap)

    def noise(self, begin: int, at: int, end: int) -> tuple[float, float, int]:
        """Mean square deviation beside the break at `at`, how alike neighbours' are, and its degrees of freedom.

        It is that of the two lines if they have enough sizes, and else that of the whole series, and never below 1.
        The second is a correlation from 0 to 0.9: of a drift, or a curve.
        """
        places: tuple[int, ...] = (begin, at, end)
        freedom, least = end - begin + 1 - 2 * PARAMETERS, 0.0
        if freedom < THRESHOLDS.local_freedom:
            places, least = self.edges, 1.0
            freedom = max(self.size.size + 1 - PARAMETERS * len(self.begins), 2)
        off = np.concatenate([self.off(a, b) for a, b in itertools.pairwise(places)])
        off = off[off**2 < self.cap]
        total = float(off @ off)
        alike = max(float(off[1:] @ off[:-1]) / total, 0.0) if total > 0.0 else 0.0
        return max(total / freedom, least, 1e-6), min(alike, MOST_ALIKE), freedom

    def excess(self, begin: int, at: int, end: int) -> tuple[float, int]:
        """That mean square as it counts for a line, and to how many degrees of freedom it is known.

        Where the misfits of neighbours are alike, fewer of them count as independent.
        """
        square, alike, freedom = self.noise(begin, at, end)
        return square * (1.0 + alike) / (1.0 - alike), freedom

    def _with_the_nearer(self) -> Lines:
        """These lines, with the sizes beside a break that follow neither line on the side that they are nearer to.

        They cost the same on both sides: a state of the machine may have slowed them, in the one protocol or the other.
        """
        edges = list(self.edges)
        for k in range(1, len(self.begins)):
            begin, at, end = edges[k - 1 : k + 2]
            follows = self.follows(begin, at), self.follows(at, end)
            first = at - int(np.argmax(follows[0][::-1])) if follows[0].any() else at
            last = at + int(np.argmax(follows[1])) if follows[1].any() else at
            run = slice(first, last)
            lines = self.line(begin, at), self.line(at, end)
            before, after = (
                np.abs(np.log(self.seconds[run] / np.maximum(line(self.size[run]), TINY)))
                for line in lines
            )
            edges[k] = first + int(np.argmin(np.cumsum([0.0, *(before - after)])))
        return replace(self, begins=tuple(edges[:-1]))

    def _without_passing_states(self) -> Lines:
        """These lines without the ranges of sizes that a passing state of the machine changed."""
        lines, passing = self, self._outlying()
        while ranges := lines._passing_states():
            passing += tuple((end - begin, step) for begin, end, step in ranges)
            passed = {k for begin, end, _ in ranges for k in range(begin, end)}
            kept = [k for k in range(lines.size.size) if k not in passed]
            points = tuple(lines.observed.points[k] for k in kept)
            lines = _divided(replace(lines.observed, points=points), lines.deviation[kept])
        return replace(lines, passing=passing)

    def _outlying(self) -> tuple[tuple[int, float], ...]:
        """The runs of sizes that follow no line: how many sizes, and how far the middle one lies off."""
        parts = list(itertools.pairwise(self.edges))
        follows = np.concatenate([self.follows(a, b) for a, b in parts])
        levels = np.concatenate([self.line(a, b)(self.size[a:b]) for a, b in parts])
        off = np.abs(np.log(self.seconds / np.maximum(levels, TINY)))
        runs = itertools.groupby(range(follows.size), key=lambda k: bool(follows[k]))
        outlying = [off[list(run)] for is_near, run in runs if not is_near]
        return tuple((run.size, float(np.median(run))) for run in outlying)

    def _passing_states(self) -> list[tuple[int, int, float]]:
        """Ranges of sizes across which one line goes on, the shortest first, none beside another, and how far off."""
        edges = self.edges
        possible = []
        for first in range(len(edges)):
            for last in range(first + 2, min(first + 2 + THRESHOLDS.most_passing, len(edges) - 1)):
                outer = edges[first], edges[first + 1], edges[last], edges[last + 1]
                length = outer[2] - outer[1]
                if length < (outer[1] - outer[0]) + (outer[3] - outer[2]):
                    possible.append((length, outer))
        chosen: dict[tuple[int, int, int, int], float] = {}
        for _, outer in sorted(possible):
            is_free = all(outer[3] <= other[0] or other[3] <= outer[0] for other in chosen)
            if is_free and (step := self._passing_step(*outer)) is not None:
                chosen[outer] = step
        return [(inner, outer, step) for (_, inner, outer, _), step in chosen.items()]

    def _passing_step(self, begin: int, inner: int, outer: int, end: int) -> float | None:
        """How far the sizes [inner, outer) lie off the line of those beside them, as logarithm.

        None where those beside are not one line, or those inside lie farther off than states may.
        """
        beside = np.r_[begin:inner, outer:end]
        near = np.concatenate([self.follows(begin, inner), self.follows(outer, end)])
        root = 1.0 / (self.seconds * self.deviation)
        design = np.stack([root, self.size * root], axis=1)
        target = (self.seconds * root)[beside[near]]
        line = Line(*nonnegative_least_squares(design[beside[near]], target)[0].tolist())
        off = np.log(self.seconds / np.maximum(line(self.size), TINY))
        cost = float(np.sum(np.minimum((off[beside] / self.deviation[beside]) ** 2, self.cap)))
        cost_apart = self.segmenter.cost(begin, inner) + self.segmenter.cost(outer, end)
        slack = math.sqrt(self.cap) * self.deviation[inner:outer]
        inside = np.abs(off[inner:outer])
        step = float(np.median(inside))
        is_near = step <= LAUNCHES_DIFFER and bool(np.all(inside <= LAUNCHES_DIFFER + slack))
        is_one = cost <= cost_apart + _penalty(self.cap)
        return step if is_near and is_one else None

    def _with_last_size(self) -> Lines:
        """These lines, and one more for the last size where it lies so far off that no outlier explains it."""
        begin, end = self.begins[-1], self.size.size
        if end - begin < 2 or self.follows(begin, end)[-1]:
            return self
        step = math.log(self.seconds[-1] / self.seconds[-2])
        beyond = step - math.log(self.size[-1] / self.size[-2]) if step > 0.0 else -step
        by_chance = math.sqrt(2.0 * self.cap) * float(self.deviation[-1])
        if beyond <= THRESHOLDS.outlying + by_chance:
            return self
        return replace(self, begins=(*self.begins, end - 1))


def line_limits(size: Floats) -> Limits:
    """What a line must cover: five sizes, or two or more over an octave where sizes are sparse."""
    factor = min(LINE_FACTOR, float(size[-1] / size[0]) ** LINE_SHARE)
    return Limits(
        min_bytes=1,
        min_points=DENSE_POINTS,
        min_factor=factor,
        min_points_sparse=SPARSE_POINTS,
        min_factor_sparse=2.0,
    )


def _likeliest(observed: Observed) -> Lines:
    """The lines under the scatter of the sizes that makes them likeliest.

    Beside the samples' own errors, sizes scatter by as much as `scatter`: how a copy falls on cache lines, say. Many
    sizes tell it themselves; of few, a change moves too many.
    """
    errors = observed.relative_errors
    if errors.size >= THRESHOLDS.dense_sizes:
        scatter = _scatter_of_neighbours(observed)
        if observed.is_in_order:
            scatter = np.hypot(scatter, _scatter_of_blocks(observed))
        return _divided(observed, np.maximum(errors, scatter))
    tried = [_divided(observed, np.hypot(errors, scatter)) for scatter in THRESHOLDS.scatters]
    return min(tried, key=Lines.unlikelihood)


def _scatter_of_neighbours(observed: Observed) -> Floats:
    """Relative deviation of each size from the chord through its neighbours: the running median, shape (points,)."""
    off = np.pad(_off_chords(observed, 1), 1, mode="edge")
    width = THRESHOLDS.dense_sizes // 2 - 1
    padded = np.pad(off, width // 2, mode="reflect")
    near = np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)
    return np.asarray(np.maximum(near / MEDIAN_ABSOLUTE, THRESHOLDS.least_scatter))


def _scatter_of_blocks(observed: Observed) -> float:
    """What neighbouring sizes have in common adds so much to the scatter of each, as relative deviation.

    A drift or a state of the machine lasts for some sizes, so that a mean of them scatters more than independent sizes
    would let it: by the most that blocks of 1, 2, 4, ... sizes show.
    """
    longest = observed.seconds.size // SIZES_OF_A_BLOCK
    blocks = [1 << k for k in range(longest.bit_length())]
    scatters = [np.median(_off_chords(observed, block)) / MEDIAN_ABSOLUTE for block in blocks]
    return math.sqrt(max(scatters) ** 2 - scatters[0] ** 2)


def _off_chords(observed: Observed, block: int) -> Floats:
    """How far the mean of each `block` sizes lies off the chord through the blocks on both sides.

    In relative deviations of a single size if all were independent; the magnitudes, shape (points - 3 block + 1,).
    """
    size, seconds = observed.message_bytes.astype(np.float64), observed.seconds
    within = np.full(block, 1.0 / block)
    x, y = np.convolve(size, within, "valid"), np.convolve(seconds, within, "valid")
    variance = np.convolve(seconds**2, within / block, "valid")
    low, middle, high = slice(None, -2 * block), slice(block, -block), slice(2 * block, None)
    share = (x[high] - x[middle]) / (x[high] - x[low])
    off = np.abs(y[middle] - share * y[low] - (1.0 - share) * y[high])
    parts = variance[middle] + share**2 * variance[low] + (1.0 - share) ** 2 * variance[high]
    return np.asarray(off / np.sqrt(parts))


def _divided(observed: Observed, deviation: Floats) -> Lines:
    """The lines that cost least, each with its penalty; enough sizes stay free to tell a scatter."""
    size, seconds = observed.message_bytes.astype(np.float64), observed.seconds
    cap = THRESHOLDS.cap(float(np.median(deviation)))
    weight = (seconds * deviation) ** -2.0
    segmenter = Segmenter(size, seconds, weight, line_limits(size), cap)
    most = max((size.size - 2) // PARAMETERS, 1)
    ways = segmenter.solve(min(most, THRESHOLDS.most_lines))
    _, begins = min(ways, key=lambda way: way[0] + _penalty(cap) * len(way[1]))
    best = _at_best(segmenter, begins)
    return Lines(observed, size, seconds, deviation, cap, segmenter, best, ())._with_the_nearer()


def _at_best(segmenter: Segmenter, begins: Sequence[int]) -> tuple[int, ...]:
    """Where the lines begin if each may end where it fits best, though it covers less than `LINE_FACTOR` then."""
    edges = [*begins, len(segmenter)]

    def cost(k: int, at: int) -> float:
        return segmenter.cost(edges[k - 1], at) + segmenter.cost(at, edges[k + 1])

    for k in range(1, len(begins)):
        dense = range(edges[k - 1] + DENSE_POINTS, edges[k + 1] - DENSE_POINTS + 1)
        edges[k] = min((edges[k], *dense), key=partial(cost, k))
    return tuple(edges[:-1])


def mattering(lines: Lines) -> list[int]:
    """Where the fewest lines begin that predict: each of them lowers the root mean square misfit by `least_gain`.

    Sometimes only two lines together do, each as much.
    """
    size, seconds = lines.size, lines.seconds
    deviation = np.hypot(lines.observed.relative_errors, THRESHOLDS.resolution)
    segmenter = Segmenter(size, seconds, (seconds * deviation) ** -2.0, COARSE)
    ways = segmenter.solve(THRESHOLDS.most_lines)
    rounding = (THRESHOLDS.least_scatter / THRESHOLDS.resolution) ** 2
    misfit = [math.sqrt(max(cost, size.size * rounding)) for cost, _ in ways]
    kept = 0
    while any(
        misfit[kept + more] <= (1.0 - THRESHOLDS.least_gain) ** more * misfit[kept]
        for more in (1, 2)
        if kept + more < len(ways)
    ):
        kept += 1
    return ways[kept][1][1:]


def _penalty(cap: float) -> float:
    """What each further line must save: two lines in place of one outlying range cost more than two outliers."""
    return cap / THRESHOLDS.cap_share
