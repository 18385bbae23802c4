"""What the models of k pairs of processes between two nodes have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.protocol import ParameterSpec, Points

S0 = ParameterSpec("s0", "s", 0.0, np.inf, "start-up time of a message")
R_C = ParameterSpec("R_C", "B/s", 0.0, np.inf, "rate of one process's messages")
R_N = ParameterSpec("R_N", "B/s", 0.0, np.inf, "rate that all processes of a node share")


def volume(points: Points) -> NDArray[np.float64]:
    """`k n`: what leaves a node in one direction, in bytes, shape (points,)."""
    return np.asarray(points.pairs * points.message_bytes.astype(np.float64))
