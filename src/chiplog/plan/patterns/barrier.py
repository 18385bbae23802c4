"""The n-way dissemination barrier of all ranks, message by message."""

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
    """Each number of peers that a rank tells in a round; several records where there are many."""
    return tuple(
        tuple(
            SeriesRequest("barrier", point.message_bytes, peers=n, ranks=point.ranks) for n in share
        )
        for share in shares_of_peers(point.ranks)
    )


def wire(series: SeriesRequest) -> WireCount:
    """The messages of all ranks, of a barrier and of one before it."""
    messages = 2 * series.ranks * _messages_of_a_rank(series.ranks, series.peers)
    return WireCount(messages, messages * series.message_bytes)


def _messages_of_a_rank(ranks: int, peers: int) -> int:
    """Messages that each rank sends in one n-way dissemination barrier."""
    from chiplog.collectives.shapes import distances  # NumPy, which the command line need not load

    return sum(min(peers, (ranks - 1) // step) for step in distances(ranks, peers + 1))


PATTERN = Pattern(
    name="barrier",
    measures="n-way dissemination barriers of all P ranks, n = 1..P-1, message by message without an MPI",
    records=records,
    wire=wire,
    supports=peer_notices,
)
