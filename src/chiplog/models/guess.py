"""What the models' first guesses share: a straight line through a few points, never below zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rough_line(steps: NDArray[np.float64], seconds: NDArray[np.float64]) -> tuple[float, float]:
    """Non-negative intercept and slope of `seconds` over `steps`, from the two ends.

    `steps` and `seconds` have shape (points,).

    >>> rough_line(np.array([0.0, 10.0]), np.array([1.0, 6.0]))
    (1.0, 0.5)
    """
    order = np.argsort(steps, kind="stable")
    x, y = steps[order], seconds[order]
    rise = float(x[-1] - x[0])
    slope = max(0.0, float(y[-1] - y[0]) / rise) if rise > 0 else 0.0
    return max(0.0, float(y[0]) - slope * float(x[0])), slope
