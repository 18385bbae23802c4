"""Both ranks of a pair send a message to the other at once."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    WireCount,
    beginning_messages,
    numbers_of_pairs,
    peer_notices,
)

EXCHANGES_A_SAMPLE = 2
"""Given: an even number, so that it does not matter how far apart the two ranks begin; more where one is very short."""


def records(point: PointRequest) -> Records:
    """Each exchange after a round trip of as many pairs, whose half is the time of a message alone."""
    size = point.message_bytes
    if point.ranks == 2:
        return ((SeriesRequest("prtt", size), SeriesRequest("exchange", size)),)
    return (
        tuple(
            SeriesRequest(pattern, size, pairs=k)
            for k in numbers_of_pairs(point.ranks)
            for pattern in ("pairs", "exchange")
        ),
    )


def wire(series: SeriesRequest) -> WireCount:
    """Two messages an exchange and pair, and the messages that let all begin together."""
    exchanged = 2 * EXCHANGES_A_SAMPLE * series.pairs
    return WireCount(exchanged + beginning_messages(series.pairs), exchanged * series.message_bytes)


PATTERN = Pattern(
    name="exchange",
    measures="k = 1..P/2 pairs of ranks that both send at once, beside messages alone: how full the duplex is",
    records=records,
    wire=wire,
    supports=peer_notices,
    is_over_pairs=True,
)
