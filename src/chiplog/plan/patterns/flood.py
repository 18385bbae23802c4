"""Sends back to back until an acknowledgement of them all."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    flood_length,
)


def records(point: PointRequest) -> Records:
    """One flood."""
    size = point.message_bytes
    return ((SeriesRequest("flood", size, flood_length(size)),),)


PATTERN = Pattern(
    name="flood",
    measures="sends back to back until an acknowledgement of them all: the gap",
    records=records,
)
