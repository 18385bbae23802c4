"""LogP: short messages of one fixed size.

    T = L + o_s + o_r        a train of m: + (m-1) max(g, o_s)        at most floor(L/g) messages in flight
    RTT(p) = 2L + 2 o_s + 2 o_r + (p-1) max(g, o_s)        one process to p peers, each of which answers at once

With o_s = o_r = o the last line is the form with 4o; RDMA writes have o_r = 0, which gives the form with 2o.

Source: D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993, section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import SKY
from chiplog.models.loggp import FORMULAS, LOGGP_PARAMETERS, gap, one_way
from chiplog.models.protocol import Formula, Model, Points, Theta

Seconds = NDArray[np.float64]


def _one_to_many(points: Points, theta: Theta) -> Seconds:
    round_trip = 2.0 * one_way(points.message_bytes, theta)
    if not np.any(points.peers > 1):
        return round_trip
    step = np.maximum(gap(points.message_bytes, theta), theta["o_s"])
    return np.asarray(round_trip + (points.peers - 1) * step)


def to_many_seconds(peers: int, theta: Theta, *, is_list: bool) -> float:
    """Seconds until the last of the messages to all peers has arrived, without the overhead of its receiver.

    Those of a list go out after all of them have been posted.
    """
    o_s, g = theta["o_s"], theta["g"]
    return float(o_s + theta["L"] + (peers - 1) * (o_s + g if is_list else max(o_s, g)))


def _posts(points: Points, theta: Theta) -> Seconds:
    return np.asarray(points.sends * theta["o_s"])


def _of_any_size(formula: Formula) -> Formula:
    """The formula without the gap per byte: what LogP says of a message doesn't depend on its size."""
    return lambda points, theta: formula(points, {**theta, "G": 0.0})


LOGP = Model(
    name="logp",
    label="LogP",
    source="Culler et al. 1993, section 3",
    parameters=LOGGP_PARAMETERS[:4],
    formulas={
        pattern: _of_any_size(formula)
        for pattern, formula in {
            **FORMULAS,
            "send_overhead": _posts,
            "one_to_many": _one_to_many,
        }.items()
    },
    estimators={
        **dict.fromkeys(("prtt", "culler", "bell"), "chiplog.fitting.estimates.loggp:logp"),
        "one-to-many": "chiplog.fitting.one_to_many.logp:logp_estimates",
    },
    colour=SKY.dashed("8 4 2 4"),
    speaker="chiplog.prediction.loggp:LogGPSpeaker",
    precedence=70,
)
