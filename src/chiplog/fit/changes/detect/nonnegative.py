"""Least squares with factors that are not negative, of few columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def nonnegative_least_squares(
    design: NDArray[np.float64], target: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The factors, none negative, of the few columns of `design` that come nearest to `target`, and how near.

    `design` has shape (..., values, columns), `target` (values,); the factors have shape (..., columns), and the
    distances, each the root of a sum of squares, (...). The best of all subsets of columns whose own factors are not
    negative is the optimum; scipy.optimize, which has one for many columns, takes longer to load than a command may
    last.
    """
    columns = design.shape[-1]
    scale = np.linalg.norm(design, axis=-2)
    scale[scale == 0.0] = 1.0
    scaled = design / scale[..., np.newaxis, :]
    # The diagonal is raised by what rounding hides, so that columns that are alike don't stop it.
    products = np.swapaxes(scaled, -1, -2) @ scaled + np.finfo(float).eps * np.eye(columns)
    shares = target @ scaled
    best = np.zeros(shares.shape)
    nearest = np.full(shares.shape[:-1], float(np.linalg.norm(target)))
    for count in range(1, columns + 1):
        for chosen in map(list, combinations(range(columns), count)):
            part = products[..., chosen, :][..., chosen]
            factors = np.zeros(shares.shape)
            factors[..., chosen] = np.linalg.solve(part, shares[..., chosen, np.newaxis])[..., 0]
            distance = np.linalg.norm(target - (scaled @ factors[..., np.newaxis])[..., 0], axis=-1)
            better = (distance < nearest) & np.all(factors >= 0.0, axis=-1)
            best[better], nearest[better] = factors[better], distance[better]
    return best / scale, nearest
