"""What the models of k pairs of processes between two nodes have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.guess import rough_line
from chiplog.models.protocol import ParameterSpec, Points
from chiplog.models.refuse import unknown_pattern

PATTERNS = ("pairs",)
S0 = ParameterSpec("s0", "s", 0.0, np.inf, "start-up time of a message")
R_C = ParameterSpec("R_C", "B/s", 0.0, np.inf, "rate of one process's messages")
R_N = ParameterSpec("R_N", "B/s", 0.0, np.inf, "rate that all processes of a node share")


def check(model: str, points: Points) -> None:
    """Raises UsageError unless `points` are undelayed single messages between k pairs."""
    if points.pattern not in PATTERNS:
        raise unknown_pattern(model, points.pattern, PATTERNS)
    if np.any(points.train > 1) or np.any(points.delay_seconds > 0):
        raise unknown_pattern(model, f"{points.pattern} of a train", PATTERNS)


def volume(points: Points) -> NDArray[np.float64]:
    """`k n`: what leaves a node in one direction, in bytes, shape (points,)."""
    return np.asarray(points.pairs * points.message_bytes.astype(np.float64))


def guess(points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
    """s0 and R_C from the fewest pairs, R_N from the points where most leaves the node."""
    few = points.pairs == points.pairs.min()
    s0, slope = rough_line(points.message_bytes[few].astype(np.float64), seconds[few] / 2.0)
    sent = volume(points)
    sending = float(np.median(seconds[sent == sent.max()])) / 2.0 - s0
    return {
        "s0": s0,
        "R_C": 1.0 / slope if slope > 0 else np.inf,
        "R_N": float(sent.max()) / sending if sending > 0 else np.inf,
    }
