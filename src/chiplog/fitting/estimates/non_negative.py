"""Least squares with a few coefficients, none of them negative, for many problems at once.

The optimum is the unconstrained solution on its own set of positive coefficients. Where the solution on all of them has
no negative one, it is the optimum. Elsewhere all smaller sets are solved in closed form from the normal equations, and
of those without a negative coefficient the one with the least squares is taken.

Source: C. L. Lawson, R. J. Hanson, "Solving least squares problems" (1974), ch. 23.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.settings import SINGULAR

Floats = NDArray[np.float64]


def non_negative(gram: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """The coefficients, shape (..., C), and by how much they lower the sum of squares, shape (...).

    `gram` has shape (..., C, C), the inner products of the columns; `moment` (..., C), those with the target.
    """
    length = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    length = np.where(length > 0, length, 1.0)
    right = moment / length
    unit = gram / (length[..., :, None] * length[..., None, :])
    unit = np.broadcast_to(unit, (*right.shape, right.shape[-1]))
    coefficients, gain = _unconstrained(unit, right)
    is_bound = np.isneginf(gain)
    if np.any(is_bound):
        coefficients[is_bound], gain[is_bound] = _on_fewer(unit[is_bound], right[is_bound])
    return coefficients / length, gain


def _on_fewer(gram: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """The best solution with at least one coefficient 0, of B problems: `gram` has shape (B, C, C)."""
    best, gain = np.zeros(moment.shape), np.zeros(moment.shape[:-1])
    problems, count = np.arange(gain.size), moment.shape[-1]
    for size in range(count - 1, 0, -1):
        sets = np.array(list(combinations(range(count), size)))
        part = gram[:, sets[:, :, None], sets[:, None, :]]
        solved, of_set = _unconstrained(part, moment[:, sets])
        chosen = np.argmax(of_set, axis=1)
        coefficients = np.zeros(moment.shape)
        np.put_along_axis(coefficients, sets[chosen], solved[problems, chosen], axis=1)
        more = of_set[problems, chosen]
        is_better = more > gain
        gain = np.where(is_better, more, gain)
        best = np.where(is_better[:, None], coefficients, best)
    return best, gain


def _unconstrained(gram: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """The solution, and by how much it lowers the sum of squares.

    Where it has a negative coefficient or is none, that is -infinity.
    """
    regular = np.linalg.det(gram) > SINGULAR
    safe = np.where(regular[..., None, None], gram, np.eye(moment.shape[-1]))
    solved = np.asarray(np.linalg.solve(safe, moment[..., None])[..., 0], dtype=np.float64)
    feasible = regular & np.all(solved >= 0.0, axis=-1)
    return solved, np.where(feasible, (solved * moment).sum(axis=-1), -np.inf)
