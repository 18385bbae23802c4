"""What a message costs, and the timeline of one rank: what closed forms are made of.

Under LogGOPS a send of s bytes that starts at t keeps the CPU until t + o + (s-1)O and the sending NIC until
t + g + (s-1)G; it is at the receiver at t + o + L. The receive keeps the CPU for o + max((s-1)O, (s-1)G) and the
receiving NIC for g + (s-1)G. Sends do not wait for their receivers, as if S had no limit. All costs are arrays of shape
(draws,), one for each draw of the parameters, in seconds.

Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS model",
LSAP 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.schedule.traffic import Traffic

Seconds = NDArray[np.float64]


@dataclass(frozen=True)
class Message:
    """The costs of one message: seconds, shape (draws,)."""

    send_busy: Seconds
    """CPU of the sender, o + (s-1)O."""
    gap: Seconds
    """Each NIC, g + (s-1)G."""
    way: Seconds
    """From the start of the send until the message is at the receiver, o + L."""
    receive_busy: Seconds
    """CPU of the receiver, o + max((s-1)O, (s-1)G)."""
    lead: Seconds | float = 0.0
    """How much of the gap passes before `way`, at the receiver's NIC: 0 where the first byte counts, as in LogGOPS."""

    @property
    def one_way(self) -> Seconds:
        """From the start of the send until it is received."""
        return self.way + self.receive_busy

    @property
    def between_sends(self) -> Seconds:
        """Between the starts of two sends of one rank."""
        return np.maximum(self.send_busy, self.gap)

    @property
    def between_receives(self) -> Seconds:
        """Between two receives of one rank, when both messages are there."""
        return np.maximum(self.receive_busy, self.gap)

    @property
    def exchange(self) -> Seconds:
        """From the start of a send until a message that a partner sent at the same time is received."""
        return np.maximum(self.way, self.send_busy) + self.receive_busy


def _costs(message: Message) -> tuple[Seconds | float, ...]:
    """The costs in the order of `Message`."""
    return message.send_busy, message.gap, message.way, message.receive_busy, message.lead


_REMEMBERED: dict[tuple[object, ...], dict[Any, Any]] = {}
MOST_REMEMBERED = 128
"""Given: costs of messages for which results are kept."""


def remembered(message: Message, *what: object) -> dict[Any, Any]:
    """A table of what was computed for messages of the same costs, by whoever asks for `what`; kept for a while.

    Many numbers of ranks have the same subtrees, and the same costs are asked for several times.
    """
    costs = (np.asarray(cost, dtype=np.float64) for cost in _costs(message))
    key = (*what, *((cost.shape, cost.tobytes()) for cost in costs))
    if key not in _REMEMBERED:
        if len(_REMEMBERED) >= MOST_REMEMBERED:
            _REMEMBERED.clear()
        _REMEMBERED[key] = {}
    return _REMEMBERED[key]


class Network(Protocol):
    """What a fitted model says of single messages."""

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """The costs of a message of that size, beside what its sender receives meanwhile."""


def _start() -> Seconds:
    return np.zeros(1)


@dataclass(frozen=True)
class Rank:
    """When a rank's CPU and its two NICs are free: seconds, shape (draws,), or (1,) at the start."""

    free: Seconds = field(default_factory=_start)
    send_nic: Seconds = field(default_factory=_start)
    receive_nic: Seconds = field(default_factory=_start)

    def send(self, message: Message) -> tuple[Rank, Seconds]:
        """The rank after a send that starts as soon as it can, and when the message is at its receiver."""
        start = np.maximum(self.free, self.send_nic)
        after = Rank(start + message.send_busy, start + message.gap, self.receive_nic)
        return after, start + message.way

    def receive(self, message: Message, arrival: Seconds, times: ArrayLike = 1) -> Rank:
        """The rank after it took `times` messages that are there at `arrival`; `times` is 1 or more."""
        start = np.maximum(np.maximum(self.free, self.receive_nic + message.lead), arrival)
        start = start + (np.asarray(times) - 1) * message.between_receives
        nic = start + message.gap - message.lead
        return Rank(start + message.receive_busy, self.send_nic, nic)

    def receive_all(self, messages: Sequence[Message], arrivals: Sequence[Seconds]) -> Rank:
        """The rank after it took one message each at `arrivals`, in the order in which they are there."""
        if not arrivals:
            return self
        table = np.stack(np.broadcast_arrays(*arrivals))
        order = np.argsort(table, axis=0, kind="stable")
        ordered = [
            np.take_along_axis(np.stack(np.broadcast_arrays(*costs, table[0])[:-1]), order, axis=0)
            for costs in zip(*map(_costs, messages), strict=True)
        ]
        rank = self
        for *costs, arrival in zip(*ordered, np.take_along_axis(table, order, axis=0), strict=True):
            rank = rank.receive(Message(*costs), arrival)
        return rank

    def exchange(self, message: Message) -> Rank:
        """The rank after a send, and the receive from a partner with the same timeline."""
        after, arrival = self.send(message)
        return after.receive(message, arrival)


def latest(times: Sequence[Seconds]) -> Seconds:
    """The latest of several times, draw by draw."""
    maximum: Seconds = np.maximum.reduce(times)
    return maximum


ANY_SIZE = -1
"""Given: of a message that is not sent: any size that the network knows."""


def nothing(network: Network) -> Seconds:
    """No time at all: zeros of shape (draws,)."""
    return np.zeros_like(network.message(ANY_SIZE).way)
