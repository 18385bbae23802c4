"""A straight line through one quantity over the message size: never negative, robust, with its replicates.

    y(s) = intercept + slope x,      x = s - 1 (LogGP) or s (Hockney)

Weights are 1/(sigma² + tau² y²): the measured variance of each value, plus the share `tau` by which the quantity is not
a line at all (estimated from the residuals, 0 where the noise explains them). So where the noise is small, what
counts is the relative residual, and the intervals carry the model's own error. A size whose time is still about the
intercept can't miss it by much for being on a curve instead of a line, so tau's share grows with the line's rise, up to
a rise of a quarter: where a line fits badly, its intercept is still about what the smallest messages take, as L_half is
by its definition. Where the values are noisy, residuals that are too large mean that the noise was underestimated, and
sigma grows instead (Birge); then no size is trusted to be much more certain than the others.
Sizes that fit the others badly lose weight (Huber). Intercept and slope are constrained to be >= 0, in every replicate.

Source: R. C. Paule, J. Mandel, "Consensus values and weighting factors", J. Res. NBS 87 (1982) for tau; R. T. Birge,
"The calculation of errors by the method of least squares", Phys. Rev. 40 (1932); P. J. Huber, "Robust estimation of a
location parameter", Ann. Math. Stat. 35 (1964).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes.settings import (
    BAD_MISFIT,
    CLIPPED_SQUARE,
    FAR_OCTAVES,
    FULL_RISE,
    LEAST_RAMP,
    MISFITS,
    NEAR_OCTAVES,
    NOISY,
)
from chiplog.fitting.settings import (
    HUBER_DEVIATIONS,
    MOST_ROUNDS,
    ROUNDING_SHARE,
    SINGULAR,
)
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES


@dataclass(frozen=True)
class RegimeLine:
    """A fitted line; `intercept` in seconds, `slope` in seconds per byte.

    The replicates have shape (B,); `sizes` counts the distinct sizes behind it.
    """

    intercept: float
    slope: float
    intercept_draws: NDArray[np.float64]
    slope_draws: NDArray[np.float64]
    sizes: int
    only_bytes: int | None = None
    """The only size behind a line that may slope, if it is more than `CACHE_LINE_BYTES`: then `intercept` is the whole
    time there, of which nobody knows how much is its bytes'."""

    def at(self, steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """The line's value in seconds at `steps` (x in bytes)."""
        return self.intercept + self.slope * steps


Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def _solve(x: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64]) -> Pair:
    """Non-negative weighted least squares of every column of `y`, shape (sizes, columns)."""
    total, moment, square = w.sum(), (w * x).sum(), (w * x * x).sum()
    sum_y, sum_xy = w @ y, (w * x) @ y
    level = np.maximum(sum_y / total, 0.0)
    determinant = total * square - moment**2
    if determinant <= SINGULAR * total * square or square == 0.0:
        return level, np.zeros_like(level)
    slope = (total * sum_xy - moment * sum_y) / determinant
    intercept = (sum_y - slope * moment) / total
    through_origin = np.maximum(sum_xy / square, 0.0)
    flat = slope * x.max() <= ROUNDING_SHARE * np.abs(level)
    grounded = ~flat & (intercept < 0.0)
    intercept = np.where(flat, level, np.where(grounded, 0.0, intercept))
    slope = np.where(flat, 0.0, np.where(grounded, through_origin, slope))
    return intercept, slope


def _ramp(
    predicted: NDArray[np.float64], intercept: float, octaves: NDArray[np.float64], misfit: float
) -> NDArray[np.float64]:
    """By which share of tau (`misfit`, as far as it is known) each size may miss the line.

    Least where the line has hardly left its intercept; if it fits badly, within a few `octaves` of its smallest size.
    """
    if intercept <= 0.0:
        return np.ones_like(predicted)
    risen = (predicted / intercept - 1.0) / FULL_RISE
    if misfit <= BAD_MISFIT:
        return np.clip(risen, LEAST_RAMP, 1.0)
    far = (octaves - NEAR_OCTAVES) / (FAR_OCTAVES - NEAR_OCTAVES)
    return np.clip(np.maximum(risen, far), LEAST_RAMP * BAD_MISFIT / misfit, 1.0)


def _excess(
    residual: NDArray[np.float64], sigma: NDArray[np.float64], parameters: int
) -> NDArray[np.float64]:
    """How many times as large as `sigma` allows the mean square residual is, over the last axis of `sigma`."""
    z2 = residual**2 / sigma**2
    freedom = residual.size - parameters
    return np.asarray(np.minimum(z2, HUBER_DEVIATIONS**2).sum(axis=-1) / (CLIPPED_SQUARE * freedom))


def _misfit(
    residual: NDArray[np.float64],
    scale: NDArray[np.float64],
    sigma: NDArray[np.float64],
    parameters: int,
) -> float:
    """The tau with which the residuals are as large as they should be."""
    excess = _excess(residual, np.hypot(sigma, np.outer(MISFITS, scale)), parameters)
    enough = np.flatnonzero(excess <= 1.0)
    if enough.size == 0:
        return float(MISFITS[-1])
    after = int(enough[0])
    if after == 0:
        return 0.0
    share = (excess[after - 1] - 1.0) / (excess[after - 1] - excess[after])
    return float(MISFITS[after - 1] + share * (MISFITS[after] - MISFITS[after - 1]))


def _scatter(
    residual: NDArray[np.float64],
    scale: NDArray[np.float64],
    sigma: NDArray[np.float64],
    noise: NDArray[np.float64],
    parameters: int,
) -> tuple[float, float, float]:
    """The tau; else by how much sigma is too small, and the noise that all sizes then have alike."""
    if residual.size <= parameters:
        return 0.0, 1.0, 0.0
    typical = float(np.median(noise))
    if typical <= NOISY:
        return _misfit(residual, scale, sigma, parameters), 1.0, 0.0
    noisier = max(1.0, float(np.sqrt(_excess(residual, sigma, parameters))))
    return 0.0, noisier, typical if noisier > 1.0 else 0.0


def fit_line(
    quantity: Quantity, steps: NDArray[np.float64], rng: np.random.Generator, *, flat: bool = False
) -> RegimeLine:
    """The line through `quantity` over `steps` (x in bytes, shape (sizes,)); `flat` forces slope 0.

    Needs at least one size; with one size, or equal ones, the slope is 0. Source: see the module.
    """
    x, parameters = (np.zeros_like(steps), 1) if flat else (steps, 2)
    y = quantity.value
    floor = 1e-12 * float(np.max(np.abs(y), initial=1e-12))
    sigma = np.maximum(quantity.sigma, floor)
    weight = sigma**-2.0
    misfit, scale, noisier = 0.0, np.abs(y), 1.0
    sizes = np.unique(quantity.message_bytes)
    octaves = np.log2(quantity.message_bytes.clip(1) / sizes.clip(1)[0])
    for _ in range(MOST_ROUNDS):
        intercept, slope = _solve(x, y[:, None], weight)
        predicted = intercept[0] + slope[0] * x
        height = np.maximum(predicted, 0.1 * np.abs(y))
        scale = _ramp(predicted, float(intercept[0]), octaves, misfit) * height
        residual = y - predicted
        # Where both are 0, as of an overhead that is none, no noise is a share of it: infinite.
        noise = np.divide(sigma, height, out=np.full_like(sigma, np.inf), where=height > 0.0)
        known = np.isfinite(noise)
        misfit, noisier, alike = _scatter(
            residual[known], scale[known], sigma[known], noise[known], parameters
        )
        variance = (noisier * sigma) ** 2 + (misfit * scale) ** 2
        z = np.abs(residual) / np.sqrt(variance)
        weight = (
            HUBER_DEVIATIONS
            / np.maximum(z, HUBER_DEVIATIONS)
            / (variance + (noisier * alike * predicted) ** 2)
        )
    intercept, slope = _solve(x, y[:, None], weight)
    misfit_draws = (misfit * scale)[:, None] * rng.standard_normal(quantity.draws.shape)
    draws = y[:, None] + noisier * (quantity.draws - y[:, None]) + misfit_draws
    intercepts, slopes = _solve(x, draws, weight)
    alone = int(sizes[0]) if sizes.size == 1 and not flat and sizes[0] > CACHE_LINE_BYTES else None
    return RegimeLine(float(intercept[0]), float(slope[0]), intercepts, slopes, sizes.size, alone)
