"""The max-rate model: k pairs share the rate at which their node sends.

    T = s0 + k n / min(R_N, k R_C) = s0 + max(k n/R_N, n/R_C)            saturates at k = R_N/R_C

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.pair_points import PATTERNS, R_C, R_N, S0, check, guess, volume
from chiplog.models.protocol import ParameterSpec, Points, Theta


@dataclass(frozen=True)
class MaxRate:
    """`T = s0 + max(k n/R_N, n/R_C)`."""

    name: str = "max-rate"
    source: str = "Gropp, Olson, Samfass 2016"
    parameters: tuple[ParameterSpec, ...] = (S0, R_C, R_N)
    patterns: tuple[str, ...] = PATTERNS

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Full round trips `2 T` in seconds; a rate that is missing from `theta` doesn't bind."""
        check(self.name, points)
        alone = points.message_bytes / theta.get("R_C", np.inf)
        shared = volume(points) / theta.get("R_N", np.inf)
        return np.asarray(2.0 * (theta.get("s0", 0.0) + np.maximum(shared, alone)))

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """From the fewest pairs, and from where most leaves the node."""
        return guess(points, seconds)


MAX_RATE = MaxRate()
