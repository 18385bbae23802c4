"""The postal model of k pairs: each pair alone, whatever the others do; the baseline of max-rate.

    T = s0 + n/R_C

Source: R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel
Computing 20 (1994), eq. (1), as W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP
nodes: is it time to retire the ping pong test", EuroMPI 2016, use it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import AMBER
from chiplog.models.pair_points import R_C, S0
from chiplog.models.protocol import Model, Points, Theta


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    """A rate that is missing from `theta` doesn't bind."""
    alone = points.message_bytes / theta.get("R_C", np.inf)
    return np.asarray(2.0 * (theta.get("s0", 0.0) + alone))


POSTAL = Model(
    name="postal",
    label="postal",
    source="Hockney 1994, eq. (1)",
    parameters=(S0, R_C),
    formulas={"pairs": _round_trip},
    estimators=dict.fromkeys(("k=all", "k=1", "k=max"), "chiplog.fitting.pairs.solve:postal"),
    colour=AMBER.dashed("2 4"),
    single_messages=True,
    speaker="chiplog.prediction.max_rate:MaxRateSpeaker",
    precedence=10,
)
