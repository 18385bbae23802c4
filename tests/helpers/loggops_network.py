"""Messages as the models of the LogP family see them: logp, loggp, loggps, and LogGOPS, which covers them all.

LogP is LogGOPS with G = O = 0, LogGP and LogGPS are it with O = 0.

Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS model",
LSAP 2010; R. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP
model", SPAA 1995.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chiplog.collectives.costs import Message, Seconds
from chiplog.schedule.traffic import Traffic


@dataclass(frozen=True)
class LogGOPSProtocol:
    """Parameters of messages of `first_bytes` and more, shape (draws,): seconds, G and O in seconds per byte."""

    first_bytes: int
    L: Seconds
    o: Seconds
    g: Seconds
    G: Seconds
    O: Seconds

    def message(self, message_bytes: int) -> Message:
        """The costs of a message; one of 0 bytes counts as one of 1."""
        further = max(message_bytes, 1) - 1
        wire = further * self.G
        return Message(
            send_busy=self.o + further * self.O,
            gap=self.g + wire,
            way=self.o + self.L,
            receive_busy=self.o + np.maximum(further * self.O, wire),
        )


@dataclass(frozen=True)
class LogGOPSNetwork:
    """The protocols by ascending size; the first one's parameters hold below it, too."""

    protocols: tuple[LogGOPSProtocol, ...]

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """The costs under the protocol of that size; both directions of a network are independent."""
        del traffic
        chosen = self.protocols[0]
        for protocol in self.protocols[1:]:
            if protocol.first_bytes <= message_bytes:
                chosen = protocol
        return chosen.message(message_bytes)
