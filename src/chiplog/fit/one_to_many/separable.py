"""Constrained relative least squares of a curve that is linear in all but one or two of its parameters.

For given nonlinear parameters the linear ones, never negative, follow by non-negative least squares; what is left is a
search over the nonlinear ones within their bounds, from the best few of many starts.

Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", SIAM Journal on Numerical Analysis 10 (1973).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, nnls

Array = NDArray[np.float64]

POLISHED = 3
"""How many of the starts are searched from."""
EXACT, NEAR = 1e-8, 1e-4
"""Relative changes of the sum of squares and of the parameters at which a search ends: of the best, of replicates."""
LEAST_ERROR = 1e-3
"""Relative error that each value is thought to have at least: the curve is none of the machine's laws."""


@dataclass(frozen=True)
class Curve:
    """`basis` gives the columns, shape (points, linear), for nonlinear parameters, shape (nonlinear,)."""

    basis: Callable[[Array], Array]
    starts: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Solution:
    """Nonlinear and linear parameters, and the weighted sum of squares."""

    nonlinear: Array
    linear: Array
    squares: float


def relative_errors(value: Array, sigma: Array) -> Array:
    """The error to weigh each value with: its own, and at least a share of the value."""
    return np.asarray(np.hypot(sigma, LEAST_ERROR * np.abs(value)))


def _linear(curve: Curve, nonlinear: Array, value: Array, error: Array) -> tuple[Array, Array]:
    columns = curve.basis(nonlinear) / error[:, None]
    target = value / error
    scale = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found, _ = nnls(columns / scale, target)
    linear: Array = found / scale
    return linear, np.asarray(columns @ linear - target)


def solve(
    curve: Curve,
    value: Array,
    error: Array,
    starts: Array | None = None,
    tolerance: float = EXACT,
) -> Solution:
    """The best parameters for `value`, shape (points,), with the errors `error`; from `starts` if given."""
    tried = curve.starts if starts is None else starts

    def residual(nonlinear: Array) -> Array:
        return _linear(curve, nonlinear, value, error)[1]

    costs = np.array([float(np.sum(residual(one) ** 2)) for one in tried])
    best: Solution | None = None
    for one in tried[np.argsort(costs, kind="stable")[:POLISHED]]:
        found = least_squares(
            residual,
            one,
            bounds=(curve.lower, curve.upper),
            x_scale="jac",
            ftol=tolerance,
            xtol=tolerance,
        )
        if best is None or 2.0 * found.cost < best.squares:
            linear, _ = _linear(curve, found.x, value, error)
            best = Solution(found.x, linear, 2.0 * float(found.cost))
    if best is None:
        raise ValueError("a curve needs at least one start")
    return best


def replicates(
    curve: Curve, best: Solution, draws: Array, error: Array, rng: np.random.Generator
) -> Array:
    """Nonlinear, then linear parameters of each of `draws`, shape (parameters, draws), searched from `best`.

    Where the best fit's residuals are larger than `error`, the draws get as much more noise.
    """
    freedom = max(draws.shape[0] - best.nonlinear.size - best.linear.size, 1)
    missing = np.sqrt(max(best.squares / freedom - 1.0, 0.0)) * error
    noisy = draws + missing[:, None] * rng.standard_normal(draws.shape)
    start = best.nonlinear[None, :]
    found = [solve(curve, draw, error, start, NEAR) for draw in noisy.T]
    return np.array([np.concatenate((one.nonlinear, one.linear)) for one in found]).T
