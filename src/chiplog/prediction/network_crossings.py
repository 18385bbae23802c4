"""How often messages of each protocol cross the network, one way after the other, as a fit's times tell.

Acknowledged sends end when their receiver has said that it has the message, a latency later: MPICH over libfabric's
sockets has them above 128 B. The send's own time tells, o_s: one that hands its bytes over is done before they are all
received; one that is acknowledged takes what a message takes and, more or less, what a message of no bytes takes to
come back. A slow NIC does not look like that: o_s is measured in trains with delays that are longer than the gap.

A handshake asks the receiver before the bytes are sent: a message then crosses the network three times. It shows where
a protocol begins, as a jump of the one-way time that is nearer to two messages of no bytes than to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from chiplog.fitting.predictions.regime import Vectors, curve_of
from chiplog.fitting.regimes.partition import HALF, PROTOCOL, SEND
from chiplog.fitting.result import Fit
from chiplog.prediction.network import segment_of
from chiplog.schedule.acknowledged import ACKNOWLEDGEMENT_BYTES

WITH_HANDSHAKE = 3
"""Given: crossings of a message that its receiver is asked for: the question, the answer, the bytes."""


def acknowledged_sizes(
    fit: Fit, sizes: Iterable[int], largest_eager_bytes: int | None
) -> frozenset[int]:
    """Which of the sizes, in bytes, are acknowledged; none up to S, where it is known, or where no o_s was measured."""
    protocols = _acknowledged_protocols(fit)
    least = -1 if largest_eager_bytes is None else largest_eager_bytes
    return frozenset(
        size for size in sizes if size > least and _protocol_of(fit, size) in protocols
    )


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
    """The protocols whose sends are acknowledged, by their first bytes; never that of the smallest messages.

    Told by the smallest measured size of each, where bytes hide least: o_s is nearer to a message there and back than
    to a message there. Where o_s was not measured, a protocol is like the one below it.
    """
    own, ways = (_medians(fit, quantity) for quantity in (SEND, HALF))
    back, first = _empty_message(fit, ways), _protocol_of(fit, ACKNOWLEDGEMENT_BYTES)
    smallest: dict[int, int] = {}
    for size in sorted(own.keys() & ways.keys()):
        smallest.setdefault(_protocol_of(fit, size), size)
    acknowledged, is_acknowledged = set(), False
    for protocol in sorted({_protocol_of(fit, each.first_bytes) for each in fit.segments}):
        if protocol in smallest:
            size = smallest[protocol]
            is_acknowledged = protocol != first and own[size] - ways[size] > back / 2.0
        if is_acknowledged:
            acknowledged.add(protocol)
    return acknowledged


def _empty_message(fit: Fit, ways: Mapping[int, float]) -> float:
    """Seconds of a message of no bytes: at most those of the quickest of the first protocol."""
    first = _protocol_of(fit, ACKNOWLEDGEMENT_BYTES)
    return min(
        (way for size, way in ways.items() if _protocol_of(fit, size) == first), default=math.inf
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
