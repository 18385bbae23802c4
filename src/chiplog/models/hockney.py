"""Hockney's (the postal) model: a start-up time and a bandwidth.

    T(s) = alpha + s/R            n_half = alpha * R

Source: R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel
Computing 20 (1994), eq. (1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.guess import rough_line
from chiplog.models.protocol import ParameterSpec, Points, Theta
from chiplog.models.refuse import unknown_pattern


@dataclass(frozen=True)
class Hockney:
    """`T(s) = alpha + s/R`; speaks of single messages only."""

    name: str = "hockney"
    source: str = "Hockney 1994, eq. (1)"
    parameters: tuple[ParameterSpec, ...] = (
        ParameterSpec("alpha", "s", 0.0, np.inf, "start-up time of a message"),
        ParameterSpec("R", "B/s", 0.0, np.inf, "bandwidth of a message of infinite length"),
    )
    patterns: tuple[str, ...] = ("ping_pong", "prtt")

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Full round trips in seconds: `2 (alpha + s/R)`; a train or a delay isn't in the model."""
        if points.pattern not in self.patterns:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        if np.any(points.train > 1) or np.any(points.delay_seconds > 0):
            raise unknown_pattern(self.name, f"{points.pattern} of a train", self.patterns)
        return 2.0 * (theta["alpha"] + points.message_bytes / theta["R"])

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """From the shortest and the longest message."""
        alpha, slope = rough_line(points.message_bytes.astype(np.float64), seconds / 2.0)
        return {"alpha": alpha, "R": 1.0 / slope if slope > 0 else np.inf}


HOCKNEY = Hockney()
