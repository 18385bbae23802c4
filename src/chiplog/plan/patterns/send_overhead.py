"""The time that posting sends takes on the sender."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import Pattern, PointRequest, Records
from chiplog.plan.patterns.trains import FEW_SENDS
from chiplog.plan.series_request import SeriesRequest


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
