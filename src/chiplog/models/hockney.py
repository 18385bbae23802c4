"""Hockney's (the postal) model: a start-up time and a bandwidth.

    T(s) = alpha + s/R            n_half = alpha * R

Source: R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel
Computing 20 (1994), eq. (1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import AMBER
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    return np.asarray(2.0 * (theta["alpha"] + points.message_bytes / theta["R"]))


HOCKNEY = Model(
    name="hockney",
    label="Hockney",
    source="Hockney 1994, eq. (1)",
    parameters=(
        ParameterSpec("alpha", "s", 0.0, np.inf, "start-up time of a message"),
        ParameterSpec("R", "B/s", 0.0, np.inf, "bandwidth of a message of infinite length"),
    ),
    formulas={"ping_pong": _round_trip, "prtt": _round_trip},
    estimators={"prtt": "chiplog.fitting.estimates.hockney:hockney"},
    colour=AMBER.dashed("2 4"),
    single_messages=True,
    headline=50,
)
