"""LogGPS: LogGP whose sends above S bytes wait for the receiver.

    s <= S: LogGP
    s >  S: LogGP + handshake;   handshake = 0 (the synchronisation alone) or 2 (L + o_s + o_r)

Source: F. Ino, N. Fujimoto, K. Hagihara, "LogGPS: a parallel computational model for synchronization analysis",
PPoPP 2001, section 3; handshake = 0 is how T. Hoefler et al.'s LogGOPSim (2010) reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.colours import GREEN
from chiplog.models.loggp import FORMULAS, LOGGP_PARAMETERS, one_way
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta

MESSAGES_WITH_HANDSHAKE = {"ping_pong": 2, "prtt": 2, "flood": 1}
"""Given: how many messages of s bytes stand one after the other in one operation of a pattern, without trains."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogGPS(Model):
    """LogGP with a synchronisation threshold; `sync_handshake` adds `2 (L + o_s + o_r)` above it."""

    sync_handshake: bool = False

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Duration of one operation of the points' pattern in seconds, shape (points,)."""
        seconds = super().seconds(points, theta)
        synchronised = points.message_bytes > theta.get("S", np.inf)
        if points.pattern == "late_receiver":
            return np.where(synchronised, np.maximum(seconds, points.delay_seconds), seconds)
        if not self.sync_handshake:
            return seconds
        handshake = 2.0 * one_way(np.zeros_like(points.message_bytes), theta)
        messages = MESSAGES_WITH_HANDSHAKE.get(points.pattern, 0)
        return np.asarray(seconds + np.where(synchronised, messages * handshake, 0.0))


LOGGPS = LogGPS(
    name="loggps",
    label="LogGPS",
    source="Ino et al. 2001, section 3",
    parameters=(
        *LOGGP_PARAMETERS,
        ParameterSpec("S", "B", 0.0, np.inf, "largest message whose send doesn't wait"),
    ),
    formulas=FORMULAS,
    estimators=dict.fromkeys(("prtt", "culler", "bell"), "chiplog.fitting.estimates.loggp:loggps"),
    colour=GREEN.dashed("9 4"),
    speaker="chiplog.prediction.loggp:LogGPSpeaker",
    exports=("simgrid", "loggopsim", "simulate"),
    precedence=90,
    headline=70,
)
