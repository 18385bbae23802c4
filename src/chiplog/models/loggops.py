"""LogGOPS between two processes: LogGP whose overheads grow with the message, by O_s and O_r a byte.

    T(s)          = L + o_s + o_r + (s-1) (G + O_s + O_r)
    step(n, d, s) = max(o_s + (s-1) O_s + d, g + (s-1) G, o_r + (s-1) O_r)
    PRTT(n, d, s) = 2 T(s) + (n-1) step(n, d, s)

A message alone costs G + O_s + O_r a byte, a train the largest of the three. Where copies of one message overlap each
other, or a train goes faster than its sends and receives by themselves, that cannot hold. Then the slopes are free: a
parameter set that holds G_half, the cost of a byte of a message alone, has

    T(s)          = L_half + (s-1) G_half
    step(n, 0, s) = g + (s-1) G                             what a further message of a train takes, whatever bounds it
    step(n, d, s) = max(o_s + (s-1) O_s + d, g + (s-1) G)

Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS model",
LSAP 2010, section 2, for O, here one for the sender and one for the receiver; T. Hoefler, A. Lichei, W. Rehm,
"Low-overhead LogGP parameter assessment for modern interconnection networks", PMEO-PDS 2007, for PRTT(n, d, s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import PURPLE
from chiplog.models.loggp import LOGGP_PARAMETERS
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta, payload_steps
from chiplog.models.two_processes import Seconds, two_process_formulas


def one_way(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    """`T(s)` in seconds, shape of `message_bytes`; L_half and G_half, where given, stand for their sums."""
    start = theta["L_half"] if "L_half" in theta else theta["L"] + theta["o_s"] + theta["o_r"]
    slope = theta["G_half"] if "G_half" in theta else theta["G"] + theta["O_s"] + theta["O_r"]
    return np.asarray(start + payload_steps(message_bytes) * slope)


def send_busy(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    """`o_s + (s-1) O_s` in seconds."""
    return np.asarray(theta["o_s"] + payload_steps(message_bytes) * theta["O_s"])


def receive_busy(message_bytes: NDArray[np.int64], theta: Theta) -> Seconds:
    """`o_r + (s-1) O_r` in seconds."""
    return np.asarray(theta["o_r"] + payload_steps(message_bytes) * theta["O_r"])


def _step(points: Points, theta: Theta) -> Seconds:
    wire = np.asarray(theta["g"] + payload_steps(points.message_bytes) * theta["G"])
    if "G_half" in theta:
        delayed = points.delay_seconds > 0
        if not np.any(delayed):
            return wire
        sender = send_busy(points.message_bytes, theta) + points.delay_seconds
        return np.asarray(np.where(delayed, np.maximum(sender, wire), wire))
    sender = send_busy(points.message_bytes, theta) + points.delay_seconds
    return np.maximum(np.maximum(sender, wire), receive_busy(points.message_bytes, theta))


LOGGOPS = Model(
    name="loggops",
    label="LogGOPS",
    source="Hoefler et al. 2010, section 2; Hoefler et al. 2007, PRTT",
    parameters=(
        *LOGGP_PARAMETERS,
        ParameterSpec(
            "O_s", "s/B", 0.0, np.inf, "time per byte that a send keeps the sender's CPU busy"
        ),
        ParameterSpec("O_r", "s/B", 0.0, np.inf, "time per byte that a receive keeps the CPU busy"),
    ),
    formulas=two_process_formulas(one_way, _step, send_busy, receive_busy),
    estimators=dict.fromkeys(
        ("prtt", "culler", "bell"), "chiplog.fitting.estimates.loggops:loggops"
    ),
    colour=PURPLE,
    speaker="chiplog.prediction.loggp:LogGPSpeaker",
    exports=("simgrid", "loggopsim", "simulate"),
    precedence=100,
    headline=80,
)
