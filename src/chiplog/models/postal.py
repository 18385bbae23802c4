"""The postal model of k pairs: each pair alone, whatever the others do; the baseline of max-rate.

    T = s0 + n/R_C

Source: R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel
Computing 20 (1994), eq. (1), as W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP
nodes: is it time to retire the ping pong test", EuroMPI 2016, use it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.pair_points import PATTERNS, R_C, S0, check, guess
from chiplog.models.protocol import ParameterSpec, Points, Theta


@dataclass(frozen=True)
class Postal:
    """`T = s0 + n/R_C`, the same for every number of pairs."""

    name: str = "postal"
    source: str = "Hockney 1994, eq. (1)"
    parameters: tuple[ParameterSpec, ...] = (S0, R_C)
    patterns: tuple[str, ...] = PATTERNS

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Full round trips `2 T` in seconds; a rate that is missing from `theta` doesn't bind."""
        check(self.name, points)
        return 2.0 * (theta.get("s0", 0.0) + points.message_bytes / theta.get("R_C", np.inf))

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """From the fewest pairs, the shortest and the longest message."""
        guessed = guess(points, seconds)
        del guessed["R_N"]
        return guessed


POSTAL = Postal()
