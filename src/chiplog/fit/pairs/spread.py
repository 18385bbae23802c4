"""How uncertain the parameters are by launches and by (size, k), from the scores of the points.

Let A be a parameter's variance when the scores of a launch go together, B when those of a (size, k) do, and P when each
point stands alone. A and B both hold P, so the variance is A + B - P: what the points scatter at each (size, k), plus
what launches differ by beyond that. (B, if smaller, is taken for P: it is free of what whole launches differ by.)
The latter comes from few launches and is taken with Student's t.

Source: A. C. Cameron, J. B. Gelbach, D. L. Miller, "Robust inference with multiway clustering", J. Bus. Econ. Stat. 29
(2011), eq. (2.11).
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
"""Degrees of freedom for the spread between launches, however few there are; 1 would give no interval at all."""
STEP = 1e-4
"""Relative step of the derivatives."""


def standard_errors(model: Model, table: PairTable, theta: Mapping[str, float]) -> dict[str, float]:
    """The relative standard error of each parameter in `theta` that is above 0; 1.96 of them make an interval."""
    symbols = [symbol for symbol, value in theta.items() if value > 0.0]
    if not symbols:
        return {}
    scores, inverse = _scores(model, table, {symbol: theta[symbol] for symbol in symbols})
    cells = int(table.cell_index.max()) + 1
    by_cell = _variance(_sums(scores, table.cell_index), inverse)
    variance = by_cell * (cells / max(cells - len(symbols), 1))
    launches = int(table.launch.max()) + 1
    if launches > 1:
        together = _variance(_sums(scores, table.launch), inverse) * launches / (launches - 1)
        scatter = np.minimum(_variance(scores, inverse), by_cell)
        excess = np.maximum(together - scatter, 0.0)
        student = t.ppf(TAILS[1], max(launches - 1, LEAST_FREEDOM)) / norm.ppf(TAILS[1])
        variance = variance + student**2 * excess
    return dict(zip(symbols, np.sqrt(variance).tolist(), strict=True))


def _scores(model: Model, table: PairTable, theta: Mapping[str, float]) -> tuple[Floats, Floats]:
    """The gradient of each point's squared relative residual, shape (P, parameters), and the inverse Hessian."""

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
    residual = relative(theta) - 1.0
    return residual[:, None] * slopes, np.asarray(np.linalg.pinv(slopes.T @ slopes))


def _sums(scores: Floats, group: Integers) -> Floats:
    return np.stack([np.bincount(group, column) for column in scores.T], axis=1)


def _variance(scores: Floats, inverse: Floats) -> NDArray[np.float64]:
    """The relative variance of each parameter, shape (parameters,), from the scores of independent groups."""
    return np.asarray(np.diag(inverse @ (scores.T @ scores) @ inverse))
