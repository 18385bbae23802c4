"""Constrained relative least squares of a curve that is linear in all but one or two of its parameters.

For given nonlinear parameters the linear ones, never negative, follow by non-negative least squares; what is left is a
search over the nonlinear ones within their bounds, from the best few of many starts. Replicates are searched all at
once from the best fit, by the steps of Levenberg and Marquardt.

Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", SIAM Journal on Numerical Analysis 10 (1973).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.non_negative import non_negative
from chiplog.fitting.one_to_many.settings import (
    DIFFERENCE,
    FIRST_DAMPING,
    LESS,
    MORE,
    MOST_TURNS,
    NEAR,
    POLISHED,
)
from chiplog.fitting.settings import SMALLEST_PART

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SeparableCurve:
    """`basis` gives the columns, shape (..., points, linear), for nonlinear parameters, shape (..., nonlinear)."""

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
    return np.asarray(np.hypot(sigma, SMALLEST_PART * np.abs(value)))


def _linear(
    curve: SeparableCurve, nonlinear: Array, value: Array, error: Array
) -> tuple[Array, Array]:
    columns = curve.basis(nonlinear) / error[:, None]
    target = value / error
    scale = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    from scipy.optimize import nnls  # loads in 0.25 s; only runs of one to many need it

    coefficients, _ = nnls(columns / scale, target)
    linear: Array = coefficients / scale
    return linear, np.asarray(columns @ linear - target)


def solve(
    curve: SeparableCurve,
    value: Array,
    error: Array,
) -> Solution:
    """The best parameters for `value`, shape (points,), with the errors `error`."""
    from scipy.optimize import least_squares

    def residual(nonlinear: Array) -> Array:
        return _linear(curve, nonlinear, value, error)[1]

    costs = np.array([float(np.sum(residual(start) ** 2)) for start in curve.starts])
    best: Solution | None = None
    for start in curve.starts[np.argsort(costs, kind="stable")[:POLISHED]]:
        optimum = least_squares(
            residual,
            start,
            bounds=(curve.lower, curve.upper),
            x_scale="jac",
        )
        if best is None or 2.0 * optimum.cost < best.squares:
            linear, _ = _linear(curve, optimum.x, value, error)
            best = Solution(optimum.x, linear, 2.0 * float(optimum.cost))
    if best is None:
        raise ValueError("a curve needs at least one start")
    return best


def replicates(
    curve: SeparableCurve, best: Solution, draws: Array, error: Array, rng: np.random.Generator
) -> Array:
    """Nonlinear, then linear parameters of each of `draws`, shape (parameters, draws), searched from `best`.

    Where the best fit's residuals are larger than `error`, the draws get as much more noise.
    """
    freedom = max(draws.shape[0] - best.nonlinear.size - best.linear.size, 1)
    missing = np.sqrt(max(best.squares / freedom - 1.0, 0.0)) * error
    noisy = draws + missing[:, None] * rng.standard_normal(draws.shape)
    nonlinear, linear = _follow(curve, best.nonlinear, noisy.T / error, error)
    return np.concatenate((nonlinear, linear), axis=1).T


def _projected(
    curve: SeparableCurve, nonlinear: Array, targets: Array, error: Array
) -> tuple[Array, Array, Array]:
    """Linear parameters (..., linear), residuals (..., points) and their squares (...), at `nonlinear` ones.

    `nonlinear` has shape (..., B, nonlinear), `targets` (B, points).
    """
    columns = curve.basis(nonlinear) / error[:, None]
    turned = np.swapaxes(columns, -1, -2)
    linear, _ = non_negative(turned @ columns, (turned @ targets[..., None])[..., 0])
    residual = (columns @ linear[..., None])[..., 0] - targets
    return linear, residual, np.sum(residual**2, axis=-1)


def _follow(
    curve: SeparableCurve, start: Array, targets: Array, error: Array
) -> tuple[Array, Array]:
    """Nonlinear (B, nonlinear) and linear parameters of all `targets`, shape (B, points), searched from `start`."""
    theta = np.repeat(start[None, :], targets.shape[0], axis=0)
    damping = np.full(targets.shape[0], FIRST_DAMPING)
    linear, residual, squares = _projected(curve, theta, targets, error)
    moving = np.ones(targets.shape[0], dtype=bool)
    for _ in range(MOST_TURNS):
        step = _step(curve, theta, residual, targets, error, damping)
        tried = np.clip(theta + step, curve.lower, curve.upper)
        new = _projected(curve, tried, targets, error)
        better = moving & (new[2] < squares)
        gained = squares - new[2] > NEAR * squares
        far = np.max(np.abs(tried - theta), axis=1) > NEAR
        moving &= ~better | gained | far
        moving &= better | (np.max(np.abs(step), axis=1) > NEAR)
        theta = np.where(better[:, None], tried, theta)
        linear = np.where(better[:, None], new[0], linear)
        residual = np.where(better[:, None], new[1], residual)
        squares = np.where(better, new[2], squares)
        damping *= np.where(better, LESS, MORE)
        if not np.any(moving):
            break
    return theta, linear


def _step(
    curve: SeparableCurve,
    theta: Array,
    residual: Array,
    targets: Array,
    error: Array,
    damping: Array,
) -> Array:
    """The damped step of each, shape (B, nonlinear); none over a bound that a parameter is at."""
    count = theta.shape[1]
    inwards = np.where(theta + DIFFERENCE > curve.upper, -DIFFERENCE, DIFFERENCE)
    moved = theta + np.eye(count)[:, None, :] * inwards
    change = _projected(curve, moved, targets, error)[1] - residual
    slopes = np.moveaxis(change / inwards.T[..., None], 0, -1)
    falls = -np.einsum("bpk,bp->bk", slopes, residual)
    stuck = ((theta >= curve.upper) & (falls > 0)) | ((theta <= curve.lower) & (falls < 0))
    slopes = np.where(stuck[:, None, :], 0.0, slopes)
    gram = np.einsum("bpj,bpk->bjk", slopes, slopes)
    diagonal = np.einsum("bkk->bk", gram)
    added = damping[:, None] * diagonal + np.where(diagonal > 0, 0.0, 1.0)
    falls = np.where(stuck, 0.0, falls)
    return np.asarray(
        np.linalg.solve(gram + added[..., None] * np.eye(count), falls[..., None])[..., 0]
    )
