"""How uncertain the parameters are by launches and by (size, k), from the scores of the points.

Let A be a parameter's variance when the scores of a launch go together, B when those of a (size, k) do, and P when each
point stands alone. A and B both hold P, so the variance is A + B - P: what the points scatter at each (size, k), plus
what launches differ by beyond that. (B, if smaller, is taken for P: it is free of what whole launches differ by.)
Both come from few launches and few (size, k), and are taken with Student's t. A (size, k) that a parameter hangs on draws
the fit to itself, and its residual is too small; so B is the jackknife's, of the fits that leave one (size, k) out.

Source: A. C. Cameron, J. B. Gelbach, D. L. Miller, "Robust inference with multiway clustering", J. Bus. Econ. Stat. 29
(2011), eq. (2.11); A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", J. Human Resources
50 (2015), section VI.B for the jackknife (CR3) and VI.D for Student's t.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from chiplog.fit.pairs.table import Floats, Integers, PairTable
from chiplog.fit.parameters import TAILS
from chiplog.models.protocol import Model

LEAST_FREEDOM = 2
"""Degrees of freedom of each spread, however few launches or (size, k) there are; 1 would give no interval at all."""
STEP = 1e-4
"""Relative step of the derivatives."""


def standard_errors(model: Model, table: PairTable, theta: Mapping[str, float]) -> dict[str, float]:
    """The relative standard error of each parameter in `theta` that is above 0; 1.96 of them make an interval."""
    symbols = [symbol for symbol, value in theta.items() if value > 0.0]
    if not symbols:
        return {}
    slopes, residual = _linearised(model, table, {symbol: theta[symbol] for symbol in symbols})
    scores, hessian = residual[:, None] * slopes, slopes.T @ slopes
    cells = int(table.cell_index.max()) + 1
    variance = _jackknife(slopes, scores, table.cell_index) * _student(cells - len(symbols)) ** 2
    launches = int(table.launch.max()) + 1
    if launches > 1:
        inverse = np.linalg.pinv(hessian)
        together = _variance(_sums(scores, table.launch), inverse) * launches / (launches - 1)
        by_cell = _variance(_sums(scores, table.cell_index), inverse)
        scatter = np.minimum(_variance(scores, inverse), by_cell)
        excess = np.maximum(together - scatter, 0.0)
        variance = variance + excess * _student(launches - 1) ** 2
    return dict(zip(symbols, np.sqrt(variance).tolist(), strict=True))


def _student(freedom: int) -> float:
    """By how much Student's interval is wider than the normal one."""
    return float(t.ppf(TAILS[1], max(freedom, LEAST_FREEDOM)) / norm.ppf(TAILS[1]))


def _linearised(
    model: Model, table: PairTable, theta: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """What each point's relative prediction changes by with relative parameters, shape (P, parameters); residuals."""

    def relative(changed: Mapping[str, float]) -> Floats:
        return np.asarray(model.seconds(table.points, changed) / (2.0 * table.seconds))

    slopes = np.stack(
        [
            (
                relative({**theta, symbol: value * (1.0 + STEP)})
                - relative({**theta, symbol: value * (1.0 - STEP)})
            )
            / (2.0 * STEP)
            for symbol, value in theta.items()
        ],
        axis=1,
    )
    return slopes, relative(theta) - 1.0


def _jackknife(slopes: Floats, scores: Floats, group: Integers) -> NDArray[np.float64]:
    """The relative variance of each parameter, shape (parameters,), from the fits that leave one group out."""
    products = slopes[:, :, None] * slopes[:, None, :]
    count = int(group.max()) + 1
    own = np.zeros((count, *products.shape[1:]))
    np.add.at(own, group, products)
    without = np.linalg.pinv(products.sum(axis=0) - own)
    shift = np.einsum("gij,gj->gi", without, _sums(scores, group))
    return np.asarray((count - 1) / count * np.sum(shift**2, axis=0))


def _sums(scores: Floats, group: Integers) -> Floats:
    return np.stack([np.bincount(group, column) for column in scores.T], axis=1)


def _variance(scores: Floats, inverse: Floats) -> NDArray[np.float64]:
    """The relative variance of each parameter, shape (parameters,), from the scores of independent groups."""
    return np.asarray(np.diag(inverse @ (scores.T @ scores) @ inverse))
