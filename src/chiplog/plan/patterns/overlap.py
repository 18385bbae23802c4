"""A transfer alone, and with a computation between its post and its wait."""

from __future__ import annotations

from chiplog.dataset.patterns import OVERLAP, OVERLAP_RECEIVE
from chiplog.plan.patterns.pattern import Pattern, PointRequest, Records, SeriesRequest, only_sends


def records(point: PointRequest) -> Records:
    """A send and a receive, each alone and with as much computation as a round trip takes: no transfer takes longer."""
    size = point.message_bytes
    return (
        tuple(
            SeriesRequest(side, size, delay_ns=delay)
            for side in (OVERLAP, OVERLAP_RECEIVE)
            for delay in (0, "rtt")
        ),
    )


PATTERN = Pattern(
    name=OVERLAP,
    measures="a posted send, and a posted receive, with a computation before the wait: how much of it is hidden",
    records=records,
    supports=only_sends,
)
