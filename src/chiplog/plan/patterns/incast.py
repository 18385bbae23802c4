"""One message from each of p peers to one rank, all at once."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    WireCount,
    peer_notices,
    shares_of_peers,
)


def records(point: PointRequest) -> Records:
    """Each number of peers, and in every record one peer, that the others are compared with."""
    return tuple(
        tuple(SeriesRequest("incast", point.message_bytes, peers=p) for p in sorted({1, *share}))
        for share in shares_of_peers(point.ranks)
    )


def wire(series: SeriesRequest) -> WireCount:
    """A message of each peer, and two empty ones before it."""
    # Given: of this pattern.
    return WireCount(3 * series.peers, series.peers * series.message_bytes)


PATTERN = Pattern(
    name="incast",
    measures="n:1: one message from each of p = 1..P-1 peers to one rank at once, until the last is there",
    records=records,
    wire=wire,
    supports=peer_notices,
)
