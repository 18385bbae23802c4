"""The time that receiving takes once the message is there."""

from __future__ import annotations

from chiplog.dataset.operations import ONE_SIDED
from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    receive_train_length,
)


def records(point: PointRequest) -> Records:
    """Receives of messages that wait, and the round trip that says for how long they have to."""
    size = point.message_bytes
    waiting = SeriesRequest("receive_overhead", size, receive_train_length(size), "rtt")
    return ((SeriesRequest("prtt", size), waiting),)


def supports(operation: str) -> bool:
    """Nobody receives what is one-sided."""
    return operation not in ONE_SIDED


PATTERN = Pattern(
    name="receive_overhead",
    measures="the time that receiving takes once the message is there",
    records=records,
    supports=supports,
)
