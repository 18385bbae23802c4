"""LogGP: LogP with a gap per byte for long messages.

    T(s)           = o_s + (s-1) G + L + o_r
    PRTT(n, d, s)  = 2 T(s) + (n-1) max(o_s + d, g + (s-1) G)

g is the least time between two sends or two receives (LogP's definition), so o_r doesn't bound a train beside it: a
receiver that can't keep up shows as a larger g. Where receives are seen to bound the trains, the parameter set holds
o_r_train, which a further message takes at least, and g is what it hides. Where a parameter O is given (seconds per
byte, from LogGOPS; LogGP has none), the sender's CPU is busy for o_s + (s-1) O with each message.

Source: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model",
SPAA 1995, section 3; T. Hoefler, A. Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern
interconnection networks", PMEO-PDS 2007, eq. for PRTT(n, d, s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import BLUE
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta, payload_steps
from chiplog.models.two_processes import Seconds, two_process_formulas


def one_way(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    """`T(s)` in seconds, shape of `message_bytes`.

    Where L itself is not known, `L_half` (= L + o_s + o_r) takes the place of the sum. Raises KeyError for any other
    parameter that is not.
    """
    start = theta["L_half"] if "L" not in theta else theta["L"] + theta["o_s"] + theta["o_r"]
    return start + payload_steps(message_bytes) * theta["G"]


def gap(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    """`g + (s-1) G` in seconds."""
    return theta["g"] + payload_steps(message_bytes) * theta["G"]


def _send(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    return theta["o_s"] + payload_steps(message_bytes) * theta.get("O", 0.0)


def _step(points: Points, theta: Theta) -> Seconds:
    busy = _send(points.message_bytes, theta) + points.delay_seconds
    step = np.maximum(busy, gap(points.message_bytes, theta))
    return np.asarray(np.maximum(step, theta.get("o_r_train", 0.0)))


def _receive(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    return np.full(message_bytes.shape, theta["o_r"])


FORMULAS = two_process_formulas(one_way, _step, _send, _receive)
"""Seconds of one operation by pattern; LogP and LogGPS share them."""


LOGGP_PARAMETERS = (
    ParameterSpec("L", "s", 0.0, np.inf, "latency of the network, without the overheads"),
    ParameterSpec("o_s", "s", 0.0, np.inf, "time that a send keeps the sender's CPU busy"),
    ParameterSpec("o_r", "s", 0.0, np.inf, "time that a receive keeps the receiver's CPU busy"),
    ParameterSpec("g", "s", 0.0, np.inf, "least time between two messages of one byte"),
    ParameterSpec("G", "s/B", 0.0, np.inf, "time per byte of a long message"),
)

LOGGP = Model(
    name="loggp",
    label="LogGP",
    source="Alexandrov et al. 1995, section 3; Hoefler et al. 2007, PRTT",
    parameters=LOGGP_PARAMETERS,
    formulas=FORMULAS,
    estimators=dict.fromkeys(("prtt", "culler", "bell"), "chiplog.fitting.estimates.loggp:loggp"),
    colour=BLUE,
    speaker="chiplog.prediction.loggp:LogGPSpeaker",
    exports=("simgrid", "loggopsim", "simulate"),
    precedence=80,
    headline=90,
)
