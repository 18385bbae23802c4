"""LogP: short messages of one fixed size.

    T = L + o_s + o_r        a train of m: + (m-1) max(g, o_s)        at most floor(L/g) messages in flight

Source: D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.loggp import FORMULAS, LOGGP_PARAMETERS, guess
from chiplog.models.protocol import ParameterSpec, Points, Theta
from chiplog.models.refuse import unknown_pattern


@dataclass(frozen=True)
class LogP:
    """LogGP without the gap per byte: what LogP says of a message doesn't depend on its size."""

    name: str = "logp"
    source: str = "Culler et al. 1993, section 3"
    parameters: tuple[ParameterSpec, ...] = LOGGP_PARAMETERS[:4]
    patterns: tuple[str, ...] = tuple(FORMULAS)

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Duration of one operation of the points' pattern in seconds, shape (points,)."""
        if points.pattern not in FORMULAS:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        return FORMULAS[points.pattern](points, {**theta, "G": 0.0})

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """LogGP's first guess without G."""
        found = guess(points, seconds)
        del found["G"]
        return found

    def in_flight(self, theta: Theta) -> float:
        """How many messages can be under way at once: floor(L/g); infinite where g is 0."""
        return float(np.floor(theta["L"] / theta["g"])) if theta["g"] > 0 else np.inf


LOGP = LogP()
