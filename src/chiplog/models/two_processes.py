"""What the LogP family says of two processes: the times of all patterns follow from four of a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from chiplog.models.protocol import Formula, Points, Theta

Seconds = NDArray[np.float64]
OfSizes = Callable[[NDArray[np.int64], Theta], Seconds]
"""Seconds of one message, shape (points,), by its size in bytes and the parameters."""


def two_process_formulas(
    one_way: OfSizes, step: Formula, send_busy: OfSizes, receive_busy: OfSizes
) -> Mapping[str, Formula]:
    """Seconds of one operation by pattern; `step` is what a further message of a train takes."""

    def prtt(points: Points, theta: Theta) -> Seconds:
        round_trip = 2.0 * one_way(points.message_bytes, theta)
        further = points.train - 1
        if not np.any(further):
            return round_trip
        return np.asarray(round_trip + np.where(further, further * step(points, theta), 0.0))

    def ping_pong(points: Points, theta: Theta) -> Seconds:
        round_trip = 2.0 * one_way(points.message_bytes, theta)
        if not np.any(points.delay_seconds > 0):
            return round_trip
        received = receive_busy(points.message_bytes, theta)
        sending = send_busy(points.message_bytes, theta) + points.delay_seconds
        return np.asarray(np.maximum(round_trip - received, sending) + received)

    def send_overhead(points: Points, theta: Theta) -> Seconds:
        return np.asarray(points.train * send_busy(points.message_bytes, theta))

    def receive_overhead(points: Points, theta: Theta) -> Seconds:
        received = points.train * receive_busy(points.message_bytes, theta)
        return np.asarray(received + (points.train - 1) * points.delay_seconds)

    def flood(points: Points, theta: Theta) -> Seconds:
        acknowledgement = one_way(np.zeros_like(points.message_bytes), theta)
        train = (points.train - 1) * step(points, theta)
        return np.asarray(one_way(points.message_bytes, theta) + train + acknowledgement)

    return {
        "ping_pong": ping_pong,
        "prtt": prtt,
        "send_overhead": send_overhead,
        "receive_overhead": receive_overhead,
        "flood": flood,
        "late_receiver": send_overhead,
    }
