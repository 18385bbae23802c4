"""One series cut into lines in the best way, for each number of lines: exact, by dynamic programming.

The lines are never negative and never fall. A few sizes that fit no line lose weight, so that they do not decide where
the lines of all others begin.

Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4 (1961); P. J.
Huber, "Robust estimation of a location parameter", Ann. Math. Stat. 35 (1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chiplog._native import Limits, Segmenter
from chiplog.fitting.settings import FEWEST_SIZES, HUBER_DEVIATIONS, MOST_REGIMES
from chiplog.statistics import MAD_TO_DEVIATION

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
