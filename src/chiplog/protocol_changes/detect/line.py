"""The line that times follow within one protocol, and how lines are found: factors that are not negative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """T(s) = `intercept_seconds` + s * `slope_seconds_per_byte`, neither negative."""

    intercept_seconds: float
    slope_seconds_per_byte: float

    @classmethod
    def flat(cls) -> Line:
        """The line of a quantity of which nothing is known: only ratios are used of it."""
        return cls(1.0, 0.0)

    def __call__(self, message_bytes: Floats | float) -> Floats:
        """Seconds, in the shape of `message_bytes`."""
        return np.asarray(
            self.intercept_seconds + self.slope_seconds_per_byte * np.asarray(message_bytes)
        )

    def crossing_bytes(self, other: Line) -> float | None:
        """The size in bytes at which the two lines cross; None where they never do at 1 B or above."""
        own, its = ((float(line(1.0)), line.slope_seconds_per_byte) for line in (self, other))
        return line_crossing_bytes(own, its)


def line_crossing_bytes(before: tuple[float, float], after: tuple[float, float]) -> float | None:
    """The message size in bytes at which two lines (seconds at 1 B, seconds per byte) cross.

    None where they never do at a size of 1 B or more, parallel lines included.

    >>> round(line_crossing_bytes((7.78e-6, 0.0045e-6), (13.34e-6, 0.0037e-6)))
    6951
    """
    if before[1] == after[1]:
        return None
    steps = (after[0] - before[0]) / (before[1] - after[1])
    return steps + 1.0 if steps >= 0.0 else None


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
