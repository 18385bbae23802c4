"""The max-rate model: k pairs share the rate at which their node sends.

    T = s0 + k n / min(R_N, k R_C) = s0 + max(k n/R_N, n/R_C)            saturates at k = R_N/R_C

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import BLUE
from chiplog.models.pair_points import R_C, R_N, S0, volume
from chiplog.models.protocol import Model, Points, Theta


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    """A rate that is missing from `theta` doesn't bind."""
    alone = points.message_bytes / theta.get("R_C", np.inf)
    shared = volume(points) / theta.get("R_N", np.inf)
    return np.asarray(2.0 * (theta.get("s0", 0.0) + np.maximum(shared, alone)))


MAX_RATE = Model(
    name="max-rate",
    label="max-rate",
    source="Gropp, Olson, Samfass 2016",
    parameters=(S0, R_C, R_N),
    formulas={"pairs": _round_trip},
    estimators={"k=all": "chiplog.fitting.pairs.solve:max_rate"},
    colour=BLUE,
    single_messages=True,
    speaker="chiplog.prediction.max_rate:MaxRateSpeaker",
    precedence=40,
    headline=20,
)
