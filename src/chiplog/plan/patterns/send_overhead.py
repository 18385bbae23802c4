"""The time that posting sends takes on the sender."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import FEW_SENDS, Pattern, PointRequest, Records, SeriesRequest


def records(point: PointRequest) -> Records:
    """One send, and a few in a row."""
    size = point.message_bytes
    return (
        (SeriesRequest("send_overhead", size), SeriesRequest("send_overhead", size, FEW_SENDS)),
    )


PATTERN = Pattern(
    name="send_overhead",
    measures="the time that posting sends takes on the sender",
    records=records,
    takes_lists=True,
)
