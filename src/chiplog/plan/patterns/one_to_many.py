"""One message to each of p peers, who answer at once, and the time to post them."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    WireCount,
    shares_of_peers,
)


def records(point: PointRequest) -> Records:
    """Each number of peers, the round trips beside the posts; several records where there are many."""
    size = point.message_bytes
    return tuple(
        tuple(
            series
            for p in share
            for series in (
                SeriesRequest("one_to_many", size, peers=p),
                SeriesRequest("send_overhead", size, p, peers=p),
            )
        )
        for share in shares_of_peers(point.ranks)
    )


def wire(series: SeriesRequest) -> WireCount:
    """A message to each peer and one back, and before them an empty one of each."""
    messages = 3 * series.peers  # Derived: there, back, and the empty ones
    return WireCount(messages, 2 * series.peers * series.message_bytes)


PATTERN = Pattern(
    name="one_to_many",
    measures="1:n n:1: one message to each of p = 1..P-1 peers, who answer at once, and the time to post them",
    records=records,
    wire=wire,
    takes_lists=True,
)
