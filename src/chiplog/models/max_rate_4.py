"""Max-rate with four parameters: each further process adds another rate than the first one has.

    T = s0 + k n / min(R_N, R_Cb + (k-1) R_Ci)                R_Cb > 0, R_Ci >= 0: so the rate is positive for all k

Saturates at k = 1 + (R_N - R_Cb)/R_Ci.

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016: the extended model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import GREEN
from chiplog.models.pair_points import R_N, S0, volume
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta


def _processes(pairs: NDArray[np.int64], theta: Theta) -> NDArray[np.float64]:
    """The rate of k processes that nothing else bounds; what the data couldn't tell doesn't bind."""
    first = theta.get("R_Cb", np.inf)
    if np.all(pairs == 1) or not np.isfinite(first):
        return np.full(pairs.shape, first)
    if "R_Ci" not in theta and "R_N" in theta:
        return np.where(pairs > 1, np.inf, first)
    return np.asarray(first + (pairs - 1) * theta["R_Ci"])


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    """A rate that is missing from `theta` doesn't bind: without R_Ci, two processes reach R_N.

    Raises KeyError where neither R_Ci nor R_N says what more than one process send.
    """
    processes = _processes(points.pairs, theta)
    rate = np.minimum(theta.get("R_N", np.inf), processes)
    return np.asarray(2.0 * (theta.get("s0", 0.0) + volume(points) / rate))


MAX_RATE_4 = Model(
    name="max-rate-4",
    label="max-rate-4",
    source="Gropp, Olson, Samfass 2016",
    parameters=(
        S0,
        ParameterSpec("R_Cb", "B/s", 0.0, np.inf, "rate of the first process"),
        ParameterSpec("R_Ci", "B/s", 0.0, np.inf, "rate that each further process adds"),
        R_N,
    ),
    formulas={"pairs": _round_trip},
    estimators={"k=all": "chiplog.fitting.pairs.solve:max_rate_4"},
    colour=GREEN.dashed("9 4"),
    single_messages=True,
    speaker="chiplog.prediction.max_rate:MaxRateSpeaker",
    precedence=30,
)
