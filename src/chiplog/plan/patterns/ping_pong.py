"""The bare round trip, and one with a delay above it (Culler's o_r)."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    answered_trains,
)


def records(point: PointRequest) -> Records:
    """One record, with the assessment's round trip in turn."""
    size = point.message_bytes
    return (
        (
            SeriesRequest("prtt", size),
            SeriesRequest("ping_pong", size),
            SeriesRequest("ping_pong", size, 1, "rtt2"),
        ),
    )


PATTERN = Pattern(
    name="ping_pong",
    measures="round trips, bare and with a delay before the receive (Culler's o_r)",
    records=records,
    wire=answered_trains,
)
