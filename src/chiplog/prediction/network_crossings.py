"""How often messages of each protocol cross the network, one way after the other, as a fit's times tell.

Acknowledged sends end when their receiver has said that it has the message, a latency later: MPICH over libfabric's
sockets has them above 128 B. Their o_s is longer than what the message takes: the sender still waits when the receiver
has it. What it is longer by is the acknowledgement's way, and more than a CPU is busy with a message of no bytes. A
send that waits for its receive only, as in simulators, or for a handshake's answer, is done before the receiver.

A handshake asks the receiver before the bytes are sent: a message then crosses the network three times. It shows where
a protocol begins, as a jump of the one-way time that is nearer to two messages of no bytes than to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from statistics import median

import numpy as np

from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.regime import Vectors, curve_of
from chiplog.fitting.regimes.partition import HALF, PROTOCOL, SEND
from chiplog.fitting.result import Fit
from chiplog.prediction.network import segment_of
from chiplog.schedule.acknowledged import ACKNOWLEDGEMENT_BYTES

WITH_HANDSHAKE = 3
"""Given: crossings of a message that its receiver is asked for: the question, the answer, the bytes."""


def acknowledged_sizes(fit: Fit, sizes: Iterable[int]) -> frozenset[int]:
    """Which of the sizes, in bytes, are acknowledged."""
    protocols = _acknowledged_protocols(fit)
    return frozenset(size for size in sizes if _protocol_of(fit, size) in protocols)


def handshake_sizes(
    fit: Fit, sizes: Iterable[int], largest_eager_bytes: int | None
) -> frozenset[int]:
    """Which of the sizes, in bytes, are sent after a handshake; none up to S, where it is known."""
    protocols = _handshake_protocols(fit)
    least = -1 if largest_eager_bytes is None else largest_eager_bytes
    return frozenset(
        size for size in sizes if size > least and _protocol_of(fit, size) in protocols
    )


def _handshake_protocols(fit: Fit) -> set[int]:
    """The protocols whose messages follow a handshake, by their first bytes; as far as is seen, the first has none.

    The jump is from the last size of a protocol to the quickest of the next, less what the bytes between the last size
    and the next protocol's first cost in the lower protocol. A protocol keeps the handshake until one jumps back.
    """
    ways = _medians(fit, HALF)
    by_protocol: dict[int, list[int]] = {}
    for size in sorted(ways):
        by_protocol.setdefault(_protocol_of(fit, size), []).append(size)
    back = _empty_message(fit, ways)
    shaking: set[int] = set()
    for before, protocol in pairwise(by_protocol):
        lower, size = by_protocol[before], by_protocol[protocol][0]
        byte = (ways[lower[-1]] - ways[lower[0]]) / max(lower[-1] - lower[0], 1)
        quickest = min(ways[each] for each in by_protocol[protocol])
        jump = quickest - ways[lower[-1]] - max(byte, 0.0) * (size - lower[-1])
        if jump > back or (before in shaking and -jump <= back):
            shaking.add(protocol)
    return shaking


def _acknowledged_protocols(fit: Fit) -> set[int]:
    """The protocols, by their first bytes, of which the median size has an o_s longer than message and CPU together.

    A protocol without any measured o_s is like the one below it.
    """
    sends, ways = (_medians(fit, quantity) for quantity in (SEND, HALF))
    busy = _empty_message(fit, sends)
    waits: dict[int, list[bool]] = {}
    for size in sends.keys() & ways.keys():
        waits.setdefault(_protocol_of(fit, size), []).append(sends[size] > ways[size] + busy)
    acknowledged, is_acknowledged = set(), False
    for protocol in sorted({_protocol_of(fit, each.first_bytes) for each in fit.segments}):
        if protocol in waits:
            is_acknowledged = median(waits[protocol]) > 0.5
        if is_acknowledged:
            acknowledged.add(protocol)
    return acknowledged


def _empty_message(fit: Fit, times: Mapping[int, float]) -> float:
    """Seconds of a message of no bytes: at most those of the quickest of the first protocol; endless without any."""
    first = _protocol_of(fit, ACKNOWLEDGEMENT_BYTES)
    return min(
        (seconds for size, seconds in times.items() if _protocol_of(fit, size) == first),
        default=math.inf,
    )


def _protocol_of(fit: Fit, message_bytes: int) -> int:
    """The first bytes of the protocol in which messages of that size are sent; of the first one those of the fit."""
    segments = fit.segments[: segment_of(fit, message_bytes) + 1]
    borders = [segment.first_bytes for segment in segments if segment.border == PROTOCOL]
    return borders[-1] if borders else segments[0].first_bytes


def _medians(fit: Fit, quantity: str) -> dict[int, float]:
    """Seconds by bytes; none of sizes that were measured in another state of the machine."""
    curve = curve_of(fit, quantity)
    if curve is None:
        return {}
    pairs = zip(curve.message_bytes.tolist(), curve.measured_seconds.tolist(), strict=True)
    return {
        int(size): seconds
        for size, seconds in pairs
        if seconds > 0.0 and size not in fit.other_state_bytes
    }


def acknowledgement_seconds(alone: Vectors, message_bytes: int) -> Array:
    """The way of a message's acknowledgement, of each vector: by how much the send takes longer than the message."""
    further = float(max(message_bytes, 1) - 1)
    way = alone["L_half"] + further * alone["G_half"]
    return np.maximum(alone["o_s"] + further * alone["O_s"] - way, 0.0)


def without_waiting(costs: Vectors, alone: Vectors, empty: Vectors, message_bytes: int) -> Vectors:
    """The costs of an acknowledged message without its acknowledgement, which is a message of its own.

    `costs` are its parameter vectors as it was measured, `alone` those where it crosses no other, and `empty` those of
    a message of no bytes. Its trains tell nothing of the sender's CPU and of the NIC, since they wait: the CPU is busy
    as long as with an empty message, at most, and what bytes add to a message alone keeps the NIC. An exchange lasted
    until both messages were acknowledged.
    """
    further = float(max(message_bytes, 1) - 1)
    way = alone["L_half"] + further * alone["G_half"]
    whole = costs["L_half"] + further * costs["G_half"]
    back = acknowledgement_seconds(alone, message_bytes)
    return {
        **costs,
        "L_half": np.where(whole > way, np.maximum(whole - back, way), whole),
        "G_half": np.zeros_like(whole),
        "g": np.minimum(costs["g"], empty["g"]),
        "G": np.maximum(way - empty["L_half"], 0.0) / max(further, 1.0),
        "o_s": np.minimum(costs["o_s"] + further * costs["O_s"], empty["o_s"]),
        "O_s": np.zeros_like(whole),
    }
