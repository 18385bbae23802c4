"""How uncertain the parameters are by launches and by (size, k), from the scores of the points.

Let A be a parameter's variance when the scores of a launch go together, B when those of a (size, k) do, and P when each
point stands alone. A and B both hold P, so the variance is A + B - P: what the points scatter at each (size, k), plus
what launches differ by beyond that. (B, if smaller, is taken for P: it is free of what whole launches differ by.)

Both come from few launches and few (size, k), and are taken with Student's t. A (size, k) that a parameter hangs on
draws the fit to itself, and its residual is too small; so B is the jackknife's, of the fits that leave one (size, k)
out. Where a parameter hangs on a few of many (size, k), as s0 does on those of short messages, its degrees of freedom
are few, too.

Source: A. C. Cameron, J. B. Gelbach, D. L. Miller, "Robust inference with multiway clustering", J. Bus. Econ. Stat. 29
(2011), eq. (2.11); A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", J. Human
Resources 50 (2015), section VI.B for the jackknife (CR3); G. W. Imbens, M. Kolesár, "Robust standard errors in small
samples: some practical advice", Rev. Econ. Stat. 98 (2016), for the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit  # scipy.stats takes a second to load

from chiplog.fitting.pairs.settings import DERIVATIVE_STEP
from chiplog.fitting.pairs.table import Floats, Integers, PairTable
from chiplog.fitting.settings import LEAST_FREEDOM
from chiplog.models.protocol import Model
from chiplog.statistics import TAILS, UNIFORM_DEVIATION


def standard_errors(model: Model, table: PairTable, theta: Mapping[str, float]) -> dict[str, float]:
    """The relative standard error of each parameter in `theta` that is above 0; 1.96 of them make an interval."""
    symbols = [symbol for symbol, value in theta.items() if value > 0.0]
    if not symbols:
        return {}
    slopes, residual = _linearised(model, table, {symbol: theta[symbol] for symbol in symbols})
    scores = residual[:, None] * slopes
    inverse = np.asarray(np.linalg.pinv(slopes.T @ slopes))
    variance = _by_cell(slopes, scores, inverse, table.cell_index)
    launches = int(table.launch.max()) + 1
    if launches > 1:
        together = _variance(_sums(scores, table.launch), inverse) * launches / (launches - 1)
        by_cell = _variance(_sums(scores, table.cell_index), inverse)
        scatter = np.minimum(_variance(scores, inverse), by_cell)
        excess = np.maximum(together - scatter, 0.0)
        variance = variance + excess * _student(launches - 1) ** 2
    variance = variance + _by_rounding(slopes, inverse, table.rounding) ** 2
    return dict(zip(symbols, np.sqrt(variance).tolist(), strict=True))


def _by_rounding(slopes: Floats, inverse: Floats, rounding: Floats) -> Floats:
    """What steps of the clock, or of printed times, may move each parameter by, shape (parameters,), as a deviation.

    All times may be rounded the same way, so their errors add up: half a step each, uniformly.
    """
    return np.asarray(np.abs(inverse @ slopes.T) @ (UNIFORM_DEVIATION * rounding))


def _student(freedom: Floats | int) -> Floats:
    """By how much Student's interval is wider than the normal one, shape of `freedom`."""
    enough = np.maximum(freedom, LEAST_FREEDOM)
    return np.asarray(stdtrit(enough, TAILS[1]) / ndtri(TAILS[1]))


def _linearised(
    model: Model, table: PairTable, theta: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """What each point's relative prediction changes by with relative parameters, shape (P, parameters); residuals."""

    def relative(changed: Mapping[str, float]) -> Floats:
        return np.asarray(model.seconds(table.points, changed) / (2.0 * table.seconds))

    slopes = np.stack(
        [
            (
                relative({**theta, symbol: value * (1.0 + DERIVATIVE_STEP)})
                - relative({**theta, symbol: value * (1.0 - DERIVATIVE_STEP)})
            )
            / (2.0 * DERIVATIVE_STEP)
            for symbol, value in theta.items()
        ],
        axis=1,
    )
    return slopes, relative(theta) - 1.0


def _by_cell(slopes: Floats, scores: Floats, inverse: Floats, cell: Integers) -> Floats:
    """The variance of each parameter, shape (parameters,), from the fits that leave one cell out, and Student's t."""
    products = slopes[:, :, None] * slopes[:, None, :]
    count = int(cell.max()) + 1
    cell_products = np.zeros((count, *products.shape[1:]))
    np.add.at(cell_products, cell, products)
    without = np.linalg.pinv(products.sum(axis=0) - cell_products)
    shift = np.einsum("cij,cj->ci", without, _sums(scores, cell))
    variance = (count - 1) / count * np.sum(shift**2, axis=0)
    return np.asarray(variance * _student(_freedom(cell_products, without, inverse)) ** 2)


def _freedom(cell_products: Floats, without: Floats, inverse: Floats) -> Floats:
    """Degrees of freedom of each parameter's jackknife, shape (parameters,), if all points scatter alike.

    The shifts of the cells then have the covariance `diag(d) - U H^-1 U'`; its trace squared over its squares' sum.
    """
    leverage = without @ cell_products
    squares = np.einsum("cij,cij->ci", leverage, without)
    freedom = []
    for d, U in zip(squares.T, np.moveaxis(leverage, 1, 0), strict=True):
        covariance = np.diag(d) - U @ inverse @ U.T
        freedom.append(np.trace(covariance) ** 2 / max(float(np.sum(covariance**2)), 1e-300))
    return np.array(freedom)


def _sums(scores: Floats, group: Integers) -> Floats:
    return np.stack([np.bincount(group, column) for column in scores.T], axis=1)


def _variance(scores: Floats, inverse: Floats) -> NDArray[np.float64]:
    """The relative variance of each parameter, shape (parameters,), from the scores of independent groups."""
    return np.asarray(np.diag(inverse @ (scores.T @ scores) @ inverse))
