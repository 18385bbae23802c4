"""Least squares with two or three coefficients, none of them negative, for many problems at once.

The optimum is the unconstrained solution on its own set of positive coefficients. So all sets are solved in closed form
from the normal equations, and of those without a negative coefficient the one with the least squares is taken.

Source: C. L. Lawson, R. J. Hanson, "Solving least squares problems" (1974), ch. 23.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SINGULAR = 1e-12
"""Columns of unit length whose Gram determinant is smaller than this say the same twice."""


def non_negative(gram: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """The coefficients, shape (..., C), and by how much they lower the sum of squares, shape (...).

    `gram` has shape (..., C, C), the inner products of the columns; `moment` (..., C), those with the target.
    """
    length = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    length = np.where(length > 0, length, 1.0)
    unit = gram / (length[..., :, None] * length[..., None, :])
    right = moment / length
    best, gain = np.zeros(moment.shape), np.zeros(moment.shape[:-1])
    count = moment.shape[-1]
    for size in range(count, 0, -1):
        for chosen in combinations(range(count), size):
            coefficients, more = _unconstrained(unit, right, chosen)
            better = more > gain
            gain = np.where(better, more, gain)
            best = np.where(better[..., None], coefficients, best)
    return best / length, gain


def _unconstrained(gram: Floats, moment: Floats, chosen: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The solution on the `chosen` coefficients, the others 0, and by how much it lowers the sum of squares.

    Where it has a negative coefficient or is none, that is -infinity.
    """
    part = gram[..., chosen, :][..., chosen]
    right = moment[..., chosen]
    regular = np.linalg.det(part) > SINGULAR
    safe = np.where(regular[..., None, None], part, np.eye(len(chosen)))
    solved = np.linalg.solve(safe, right[..., None])[..., 0]
    coefficients = np.zeros(moment.shape)
    coefficients[..., chosen] = solved
    feasible = regular & np.all(solved >= 0.0, axis=-1)
    return coefficients, np.where(feasible, (solved * right).sum(axis=-1), -np.inf)
