"""LogP: short messages of one fixed size.

    T = L + o_s + o_r        a train of m: + (m-1) max(g, o_s)        at most floor(L/g) messages in flight
    RTT(p) = 2L + 2 o_s + 2 o_r + (p-1) max(g, o_s)        one process to p peers, each of which answers at once

With o_s = o_r = o the last line is the form with 4o; RDMA writes have o_r = 0, which gives the form with 2o.

Source: D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.guess import rough_line
from chiplog.models.loggp import FORMULAS, LOGGP_PARAMETERS, gap, guess, one_way
from chiplog.models.protocol import ParameterSpec, Points, Theta
from chiplog.models.refuse import unknown_pattern

Seconds = NDArray[np.float64]


def _one_to_many(points: Points, theta: Theta) -> Seconds:
    round_trip = 2.0 * one_way(points.message_bytes, theta)
    if not np.any(points.peers > 1):
        return round_trip
    step = np.maximum(gap(points.message_bytes, theta), theta["o_s"])
    return np.asarray(round_trip + (points.peers - 1) * step)


def _posts(points: Points, theta: Theta) -> Seconds:
    return np.asarray(points.sends * theta["o_s"])


_FORMULAS: Mapping[str, Callable[[Points, Theta], Seconds]] = {
    **FORMULAS,
    "send_overhead": _posts,
    "one_to_many": _one_to_many,
}


@dataclass(frozen=True)
class LogP:
    """LogGP without the gap per byte: what LogP says of a message doesn't depend on its size."""

    name: str = "logp"
    source: str = "Culler et al. 1993, section 3"
    parameters: tuple[ParameterSpec, ...] = LOGGP_PARAMETERS[:4]
    patterns: tuple[str, ...] = tuple(_FORMULAS)

    def seconds(self, points: Points, theta: Theta) -> Seconds:
        """Duration of one operation of the points' pattern in seconds, shape (points,)."""
        if points.pattern not in _FORMULAS:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        return _FORMULAS[points.pattern](points, {**theta, "G": 0.0})

    def first_guess(self, points: Points, seconds: Seconds) -> dict[str, float]:
        """LogGP's first guess without G; of RTT(p), from the fewest and the most peers."""
        if points.pattern == "one_to_many":
            start, step = rough_line((points.peers - 1).astype(np.float64), seconds)
            return {"L": 0.375 * start, "o_s": start / 16, "o_r": start / 16, "g": step}
        found = guess(points, seconds)
        del found["G"]
        return found

    def in_flight(self, theta: Theta) -> float:
        """How many messages can be under way at once: floor(L/g); infinite where g is 0."""
        return float(np.floor(theta["L"] / theta["g"])) if theta["g"] > 0 else np.inf


LOGP = LogP()
