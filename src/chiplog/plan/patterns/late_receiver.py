"""One send to a receiver that is late: does it wait or return?"""

from __future__ import annotations

from chiplog.plan.patterns.pattern import Pattern, PointRequest, Records, SeriesRequest, only_sends


def records(point: PointRequest) -> Records:
    """One send, and the round trip that says how late the receiver has to be."""
    size = point.message_bytes
    return ((SeriesRequest("prtt", size), SeriesRequest("late_receiver", size, 1, "rtt")),)


PATTERN = Pattern(
    name="late_receiver",
    measures="one send to a receiver that is late: does it wait (rendezvous) or return (eager)?",
    records=records,
    supports=only_sends,
)
