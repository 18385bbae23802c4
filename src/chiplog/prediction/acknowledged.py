"""Sends that end only when their receiver has said that it has the message: a latency more for the sender.

Some MPIs complete sends of some sizes so, as MPICH over libfabric's sockets does above 128 B. Two measurements tell:
a send to a late receiver waits (S of LogGPS), and each message of a train of blocking sends adds what a message takes
and, more or less, what a message of no bytes takes to come back. A send that hands its bytes over adds less than a
message takes, since the next one is under way behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chiplog.fitting.predictions.regime import Vectors, curve_of
from chiplog.fitting.regimes.partition import GAP
from chiplog.prediction.loggp import LogGPSpeaker
from chiplog.schedule.acknowledged import ACKNOWLEDGEMENT_BYTES


def acknowledged_sizes(
    speaker: LogGPSpeaker, sizes: Iterable[int], largest_eager_bytes: int | None
) -> frozenset[int]:
    """Which of the sizes, in bytes, are acknowledged; none where S is not known, or no trains were measured.

    What a message adds to a train is compared with a message alone, and with a message there and one of no bytes back:
    the nearer one holds.
    """
    if largest_eager_bytes is None or curve_of(speaker.fit, GAP) is None:
        return frozenset()
    back = float(speaker.recorded(ACKNOWLEDGEMENT_BYTES).one_way[0])
    acknowledged = set()
    for size in sizes:
        message = speaker.recorded(size)
        step = np.maximum(message.between_sends, message.between_receives)
        waits = float((step - message.one_way)[0])
        if size > largest_eager_bytes and waits > back / 2.0:
            acknowledged.add(size)
    return frozenset(acknowledged)


def without_waiting(costs: Vectors, alone: Vectors, back: Vectors, message_bytes: int) -> Vectors:
    """The costs of an acknowledged message without its acknowledgement, which is a message of its own.

    `costs` are its parameter vectors as it was measured, `alone` those where it crosses no other, and `back` those of
    the acknowledgement. Its trains tell nothing of the sender's CPU and of the NIC, since they wait: the CPU is busy as
    long as with the acknowledgement, at most, and what bytes add to a message alone keeps the NIC. An exchange lasted
    until both messages were acknowledged.
    """
    further = float(max(message_bytes, 1) - 1)
    way = alone["L_half"] + further * alone["G_half"]
    whole = costs["L_half"] + further * costs["G_half"]
    return {
        **costs,
        "L_half": np.where(whole > way, np.maximum(whole - back["L_half"], way), whole),
        "G_half": np.zeros_like(whole),
        "g": np.minimum(costs["g"], back["g"]),
        "G": np.maximum(way - back["L_half"], 0.0) / max(further, 1.0),
        "o_s": np.minimum(costs["o_s"] + further * costs["O_s"], back["o_s"]),
        "O_s": np.zeros_like(whole),
    }
