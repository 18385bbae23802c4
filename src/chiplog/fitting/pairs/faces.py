"""Relative least squares of a time that is the larger of two linear ones, for many weightings of the same points.

    T = max(shared columns x their coefficients, columns of a pair alone x theirs)        no coefficient below 0

Where it is known which of the two holds at each point, both are linear least squares. So the points are assigned to the
larger one and both are solved anew, until no point changes sides; from several first assignments, of which the one with
the least squares is taken.

Source: A. Magnani, S. P. Boyd, "Convex piecewise-linear fitting", Optim. Eng. 10 (2009), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from chiplog.fitting.estimates.non_negative import non_negative
from chiplog.fitting.pairs.settings import MOST_ASSIGNMENTS, SQUARES_ROUNDING, STARTS
from chiplog.fitting.pairs.table import Cells, Floats, Integers
from chiplog.fitting.settings import ROUNDING_SHARE, SMALLEST_PART
from chiplog.models.max_rate_modified import DELAYS

Solution = dict[str, float]
"""Parameters by symbol, in seconds and bytes per second; a rate that the data don't reach is infinite."""


class Solver(Protocol):
    """Fits a model of k pairs to one regime."""

    def __call__(
        self, many: Sequence[Cells], *, delays: bool = False, reached: bool = True
    ) -> list[Solution]:
        """The parameters with the least relative squares for each weighting of the same points in `many`.

        With `delays` pairs delay one another in this regime, which a model may tell by further parameters; where not
        `reached`, R_N must be infinite: the bootstrap did not tell it.
        """


def two_faces(
    many: Sequence[Cells], *, delays: bool = False, reached: bool = True
) -> list[Solution]:
    """s0, R_C and R_N of `max(k n/R_N, s0 + n/R_C)` for each weighting.

    With `delays` also s_k, G_k and g_N of `max(k (g_N + n/R_N), s0 + n/R_C + (k-1) (s_k + n G_k))`. Where not
    `reached`, or where a rate of the node lowers the squares by no more than chance would, R_N is infinite.
    """
    n, k = many[0].message_bytes, many[0].pairs
    alone, shared = _columns(n, k, delays=delays)
    square, linear, weight = (
        np.stack([getattr(cells, name) for cells in many])
        for name in ("square", "linear", "weight")
    )
    problem = _Problem(alone, shared, square, linear, weight)
    coefficients, squares = problem.without_node()
    node = np.zeros((len(many), shared.shape[0]))
    if reached:
        both, limited, less = problem.with_node(k * n)
        better = problem.told(squares, less)
        coefficients[better], node[better] = both[better], limited[better]
    return [
        _solution(of_pair, of_node, n, k, alone, shared)
        for of_pair, of_node in zip(coefficients, node, strict=True)
    ]


def _columns(n: Floats, k: Floats, *, delays: bool) -> tuple[Floats, Floats]:
    ones = np.ones_like(n)
    if not delays:
        return np.stack([ones, n]), (k * n)[None]
    return np.stack([ones, n, k - 1.0, (k - 1.0) * n]), np.stack([k * n, k])


class _Problem:
    """The weighted sums of B weightings, shape (B, cells), and the columns of both faces, shape (C, cells)."""

    def __init__(
        self, alone: Floats, shared: Floats, square: Floats, linear: Floats, weight: Floats
    ) -> None:
        self._alone, self._shared = alone, shared
        self._square, self._linear, self._weight = square, linear, weight
        self._total = weight.sum(axis=1)
        self._points = (weight > 0).sum(axis=1)

    def without_node(self) -> tuple[Floats, Floats]:
        """Coefficients of the pair alone and the squares that are left."""
        coefficients = self._solved(self._alone, np.ones(self._square.shape))
        return coefficients, self._cost(coefficients @ self._alone)

    def with_node(self, sent: Floats) -> tuple[Floats, Floats, Floats]:
        """Coefficients of the pair alone, of the node, and the squares; `sent` is k n of each cell."""
        rate = sent * np.divide(
            self._square, self._linear, out=np.zeros_like(self._square), where=self._weight > 0
        )
        most = rate.max(axis=1, keepdims=True)
        least = np.full(self._points.shape, np.inf)
        alone = np.zeros((least.size, self._alone.shape[0]))
        node = np.zeros((least.size, self._shared.shape[0]))
        for share in STARTS:
            limited = rate >= share * most
            for turn in range(MOST_ASSIGNMENTS):
                of_pair = self._solved(self._alone, ~limited)
                of_node = self._solved(self._shared, limited)
                times = of_pair @ self._alone, of_node @ self._shared
                squares = self._cost(np.maximum(*times))
                better = squares < (1.0 - ROUNDING_SHARE) * least
                if not np.any(better) and turn > 1:
                    break
                least = np.where(better, squares, least)
                alone[better], node[better] = of_pair[better], of_node[better]
                limited = times[1] > times[0]
        return alone, node, least

    def told(self, without: Floats, squares: Floats) -> Integers:
        """Where a rate of the node lowers the squares by more than its coefficients and its border would by chance.

        That is the Bayesian information criterion; shape (B,), of truth values.
        """
        floor = np.maximum(SQUARES_ROUNDING * self._total, 1e-300)
        gain = np.log(np.maximum(without, floor) / np.maximum(squares, floor))
        numbers = self._shared.shape[0] + 1
        points = np.maximum(self._points, 2)
        return np.asarray(points * gain > numbers * np.log(points))

    def _solved(self, columns: Floats, chosen: Floats | Integers) -> Floats:
        count = columns.shape[0]
        products = (columns[:, None] * columns[None]).reshape(count * count, -1)
        gram = (self._square * chosen) @ products.T
        return non_negative(gram.reshape(-1, count, count), (self._linear * chosen) @ columns.T)[0]

    def _cost(self, seconds: Floats) -> Floats:
        squares = self._square * seconds**2 - 2.0 * self._linear * seconds + self._weight
        return np.asarray(np.maximum(squares.sum(axis=1), 0.0))


def _solution(
    alone: Floats, node: Floats, n: Floats, k: Floats, columns: Floats, shared: Floats
) -> Solution:
    binds = node @ shared > (1.0 + SMALLEST_PART) * (alone @ columns)
    solution = {
        "s0": float(alone[0]),
        "R_C": np.inf if np.all(binds) else _rate(alone[1]),
        "R_N": _rate(node[0]) if np.any(binds) else np.inf,
    }
    if alone.size == 2:
        return solution
    more = (alone[2], alone[3], node[1])
    return solution | dict(zip(DELAYS, map(float, more), strict=True))


def _rate(seconds_per_byte: float) -> float:
    return 1.0 / float(seconds_per_byte) if seconds_per_byte > 0 else np.inf
