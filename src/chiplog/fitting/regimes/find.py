"""How many regimes a series has: the fewest that predict sizes which were held out.

A further regime must be real, so that noise cannot explain it, and it must pay: sizes that were held out must be
predicted better with it. So of all numbers of lines that a penalised sum of squares allows, the smallest one is taken
that predicts held-out sizes about as well as the best one.

The penalty of one more line is what its three numbers (two of the line, and where it begins) gain from noise alone at
the best of all places, in all but the share `ALPHA` of series. Its unit is the noise of the sizes, or what the finest
lines leave, where that is more: a curve that is no line anywhere is not cut into ever more lines.

The series is cut into lines in the best way, for each number of lines: exact, by dynamic programming. The lines are
never negative and never fall. A few sizes that fit no line lose weight, so that they do not decide where the lines of
all others begin.

Source: Y.-C. Yao, "Estimating the number of change-points via Schwarz' criterion", Stat. Prob. Lett. 6 (1988), for the
penalty; L. Breiman et al., "Classification and regression trees" (1984), section 3.4.3, for taking the simplest that
predicts as well as the best; R. Bellman, "On the approximation of curves by line segments using dynamic programming",
CACM 4 (1961); P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Stat. 35 (1964).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from chiplog._native import Limits, Segmenter
from chiplog.fitting.regimes.settings import ALPHA, LINE_NUMBERS
from chiplog.fitting.settings import (
    AS_GOOD,
    FEWEST_SIZES,
    FOLDS,
    HUBER_DEVIATIONS,
    MOST_REGIMES,
    RESOLUTION,
)
from chiplog.statistics import CONFIDENCE, MAD_TO_DEVIATION

Floats = NDArray[np.float64]

# Derived: of one size on, with no factor between the sizes of a line.
_ONE = Limits(
    min_bytes=1.0,
    min_points=FEWEST_SIZES,
    min_factor=1.0,
    min_points_sparse=FEWEST_SIZES,
    min_factor_sparse=1.0,
)


@dataclass(frozen=True)
class LinesOfCut:
    """One way to cut the sizes: where each line begins (indices), and the lines.

    `intercept` and `slope` have shape (lines,), in seconds at 0 B and seconds per byte; `starts` has shape (lines,):
    the size in bytes from which each line holds, midway (geometrically) between the sizes beside the cut.
    """

    begins: tuple[int, ...]
    starts: Floats
    intercept: Floats
    slope: Floats
    cost: float
    """Weighted sum of squared residuals."""

    def at(self, sizes: Floats) -> Floats:
        """Seconds at sizes in bytes, shape of `sizes`."""
        place = np.searchsorted(self.starts, sizes, side="right") - 1
        return np.asarray(self.intercept[place] + self.slope[place] * sizes)


@dataclass(frozen=True)
class CurveToCut:
    """What is cut: sizes in bytes, seconds, and the standard deviation that each may miss its line by; shape (sizes,).

    `limits` are sizes in bytes after which a line must end.
    """

    sizes: Floats
    seconds: Floats
    error: Floats
    limits: tuple[int, ...] = ()

    def without(self, held_out: NDArray[np.bool_]) -> CurveToCut:
        """The curve at all other sizes."""
        kept = ~held_out
        return CurveToCut(self.sizes[kept], self.seconds[kept], self.error[kept], self.limits)


def best_lines(curve: CurveToCut) -> dict[int, LinesOfCut]:
    """The best way to cut `curve`, by the number of lines: from the fewest that its limits allow."""
    weight = curve.error**-2.0
    first = _cut(curve, weight)
    rough = first[max(first)]
    residual = np.abs(curve.seconds - rough.at(curve.sizes)) / curve.error
    spread = max(1.0, MAD_TO_DEVIATION * float(np.median(residual)))
    return _cut(curve, weight * HUBER_DEVIATIONS / np.maximum(residual / spread, HUBER_DEVIATIONS))


def costs_of_places(curve: CurveToCut, begin: int, end: int) -> dict[int, float]:
    """What two lines over the sizes [begin, end) cost, by the index at which the second one begins."""
    span = slice(begin, end)
    weight = curve.error[span] ** -2.0
    segmenter = Segmenter(curve.sizes[span], curve.seconds[span], weight, _ONE)
    places = range(FEWEST_SIZES, end - begin - FEWEST_SIZES + 1)
    return {begin + at: segmenter.cost(0, at) + segmenter.cost(at, end - begin) for at in places}


def _cut(curve: CurveToCut, weight: Floats) -> dict[int, LinesOfCut]:
    cuts: dict[int, tuple[float, list[int], list[tuple[float, float]]]] = {0: (0.0, [], [])}
    for first, end in _pieces(curve):
        span = slice(first, end)
        segmenter = Segmenter(curve.sizes[span], curve.seconds[span], weight[span], _ONE)
        solved = segmenter.solve(MOST_REGIMES)
        longer: dict[int, tuple[float, list[int], list[tuple[float, float]]]] = {}
        for known, (cost, begins, lines) in cuts.items():
            for more, (further, inner) in enumerate(solved, start=1):
                total, count = cost + further, known + more
                if count in longer and longer[count][0] <= total:
                    continue
                ends = [*inner, end - first]
                piece_lines = [segmenter.line(low, high) for low, high in pairwise(ends)]
                longer[count] = (
                    total,
                    [*begins, *(first + at for at in inner)],
                    [*lines, *piece_lines],
                )
        cuts = longer
    return {count: _lines(curve, *parts) for count, parts in cuts.items()}


def _pieces(curve: CurveToCut) -> list[tuple[int, int]]:
    """The sizes between the limits, as indices; a limit that leaves too few sizes for a line is passed over."""
    count = curve.sizes.size
    cuts = [0]
    for limit in sorted(curve.limits):
        at = int(np.searchsorted(curve.sizes, limit, side="right"))
        if at - cuts[-1] >= FEWEST_SIZES and count - at >= FEWEST_SIZES:
            cuts.append(at)
    return list(pairwise([*cuts, count]))


def _lines(
    curve: CurveToCut, cost: float, begins: Sequence[int], lines: Sequence[tuple[float, float]]
) -> LinesOfCut:
    inner = np.array(begins[1:], dtype=np.int64)
    starts = np.sqrt(curve.sizes[inner - 1] * curve.sizes[inner]) if inner.size else np.empty(0)
    parts = np.array(lines)
    return LinesOfCut(
        tuple(begins), np.concatenate([[0.0], starts]), parts[:, 0], parts[:, 1], cost
    )


@dataclass(frozen=True)
class Border:
    """Where one regime ends and the next begins; sizes in bytes."""

    last_before: int
    """The last size of the regime before, where the lines fit best."""
    lowest: int
    highest: int
    """The least and the largest that it may be: there, the lines fit about as well."""


@dataclass(frozen=True)
class Regimes:
    """The regimes of one series over S sizes."""

    sizes: NDArray[np.int64]
    """Bytes, ascending, shape (S,)."""
    seconds: Floats
    """As measured, shape (S,)."""
    lines: LinesOfCut
    held_out_seconds: Floats | None
    """What each size is predicted to take from the other folds, shape (S,); None where there are too few sizes."""
    borders: tuple[Border, ...] = ()


def find_regimes(
    sizes: NDArray[np.int64],
    seconds: Floats,
    error: Floats,
    scale: Floats,
    protocol_limits: tuple[int, ...] = (),
    suggested: tuple[int, ...] = (),
) -> Regimes:
    """The regimes of one series; all arrays have shape (S,), sizes ascend and each stands once.

    `error` is the standard error of `seconds`; `scale` in seconds is what misses are judged against: `seconds`
    themselves, or what they are a part of. `protocol_limits` are the last sizes in bytes before each protocol change:
    regimes end there. So they do at `suggested` borders, those of another quantity, where the held-out sizes are
    predicted better with these.
    """
    bytes_ = np.maximum(
        sizes.astype(np.float64), 0.5
    )  # 0 B is below 1 B, and the logarithm needs a place for it
    allowed = np.hypot(error, RESOLUTION * scale)
    curve = CurveToCut(bytes_, seconds, allowed, protocol_limits)
    loss, regimes = _regimes(sizes, curve, scale)
    if suggested:
        shared = CurveToCut(bytes_, seconds, allowed, (*protocol_limits, *suggested))
        other_loss, other = _regimes(sizes, shared, scale)
        if other_loss < loss:
            return other
    return regimes


def _regimes(sizes: NDArray[np.int64], curve: CurveToCut, scale: Floats) -> tuple[float, Regimes]:
    """The regimes of one curve, and the mean held-out loss; infinite where there are too few sizes to tell."""
    seconds = curve.seconds
    cuts = best_lines(curve)
    real = _real(cuts, curve)
    predicted = {
        count: times for count, times in _held_out(curve, max(real)).items() if count in real
    }
    if not predicted:
        fewest = cuts[min(real)]
        return np.inf, Regimes(sizes, seconds, fewest, None, _borders(curve, fewest, sizes))
    loss = {
        count: float(np.mean(_loss((times - seconds) / scale)))
        for count, times in predicted.items()
    }
    least = min(loss.values())
    count = min(number for number in loss if loss[number] <= least * (1.0 + AS_GOOD))
    borders = _borders(curve, cuts[count], sizes)
    return loss[count], Regimes(sizes, seconds, cuts[count], predicted[count], borders)


def _borders(curve: CurveToCut, lines: LinesOfCut, sizes: NDArray[np.int64]) -> tuple[Border, ...]:
    """Each border with the places where the sum of squares is as small, give or take the noise of one number."""
    squares = ((curve.seconds - lines.at(curve.sizes)) / curve.error) ** 2
    noise = max(1.0, MAD_TO_DEVIATION**2 * float(np.median(squares)))
    allowed = noise * float(chdtri(1.0, 1.0 - CONFIDENCE))
    borders = []
    edges = [*lines.begins, curve.sizes.size]
    for begin, at, end in zip(edges, edges[1:], edges[2:], strict=False):
        cost = costs_of_places(curve, begin, end)
        as_good = [
            place for place, place_cost in cost.items() if place_cost <= cost.get(at, 0.0) + allowed
        ]
        low, high = min([at, *as_good]), max([at, *as_good])
        borders.append(Border(int(sizes[at - 1]), int(sizes[low - 1]), int(sizes[high - 1])))
    return tuple(borders)


def _real(cuts: dict[int, LinesOfCut], curve: CurveToCut) -> list[int]:
    """The numbers of lines that noise can't explain."""
    points = curve.sizes.size
    finest = cuts[max(cuts)]
    residual = np.abs(curve.seconds - finest.at(curve.sizes)) / curve.error
    freedom = points - 2 * len(finest.begins)
    spread = (
        MAD_TO_DEVIATION * float(np.median(residual)) * np.sqrt(points / freedom)
        if freedom > 0
        else 1.0
    )
    penalty = max(1.0, spread) ** 2 * float(chdtri(LINE_NUMBERS, ALPHA / points))
    best = min(cuts, key=lambda count: cuts[count].cost + penalty * count)
    return [count for count in cuts if count <= best]


def _held_out(curve: CurveToCut, most: int) -> dict[int, Floats]:
    """What each size is predicted to take from the other folds, by the number of lines (up to `most`)."""
    points = curve.sizes.size
    if points < 2 * FEWEST_SIZES:
        return {}
    fold = np.arange(points) % FOLDS
    predicted: dict[int, Floats] = {}
    seen: Counter[int] = Counter()
    for number in range(FOLDS):
        held = fold == number
        for count, lines in best_lines(curve.without(held)).items():
            if count <= most:
                predicted.setdefault(count, np.zeros(points))[held] = lines.at(curve.sizes[held])
                seen[count] += 1
    return {count: times for count, times in predicted.items() if seen[count] == FOLDS}


def _loss(relative: Floats) -> Floats:
    """The square root of the relative error: a few sizes that no line predicts do not decide."""
    return np.sqrt(np.abs(relative))
