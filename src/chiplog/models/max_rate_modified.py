"""Max-rate modified for networks where the node's rate hides the start-up (found on Blue Gene/Q).

    T = k n / min(R_N, k n/(s0 + n/R_C)) = max(k n/R_N, s0 + n/R_C)

Where pairs delay one another before the node's rate is reached, three more parameters say by how much:

    T = max(k (g_N + n/R_N), s0 + n/R_C + (k-1) (s_k + n G_k))

Each is 0 where `theta` doesn't have it: a fit has them only where they predict times that it was not fitted to.

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016: the model for Blue Gene/Q. The three more parameters are chiplog's own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import ORANGE
from chiplog.models.pair_points import R_C, R_N, S0
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta

DELAY_PARAMETERS = (
    ParameterSpec("s_k", "s", 0.0, np.inf, "start-up time that each further pair adds"),
    ParameterSpec("G_k", "s/B", 0.0, np.inf, "time per byte that each further pair adds"),
    ParameterSpec("g_N", "s", 0.0, np.inf, "time that a node needs for each of its messages"),
)
DELAYS = tuple(spec.symbol for spec in DELAY_PARAMETERS)


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    """A rate that is missing from `theta` doesn't bind, a delay is 0."""
    n, k = points.message_bytes.astype(np.float64), points.pairs
    delay = (k - 1) * (theta.get("s_k", 0.0) + n * theta.get("G_k", 0.0))
    alone = theta.get("s0", 0.0) + n / theta.get("R_C", np.inf) + delay
    shared = k * (theta.get("g_N", 0.0) + n / theta.get("R_N", np.inf))
    return np.asarray(2.0 * np.maximum(shared, alone))


MAX_RATE_MODIFIED = Model(
    name="max-rate-modified",
    label="max-rate-modified",
    source="Gropp, Olson, Samfass 2016",
    parameters=(S0, R_C, R_N),
    formulas={"pairs": _round_trip},
    estimators={"k=all": "chiplog.fitting.pairs.faces:two_faces"},
    colour=ORANGE.dashed("4 3"),
    single_messages=True,
    speaker="chiplog.prediction.max_rate:MaxRateSpeaker",
    precedence=20,
)
