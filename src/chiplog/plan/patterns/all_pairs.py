"""Every two ranks once, in rounds of disjoint pairs."""

from __future__ import annotations

from dataclasses import replace

from chiplog.plan.patterns.pattern import (
    ONE_WAY,
    WINDOW,
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    WireCount,
)

BEGINNING_MESSAGES = 5
"""Given: empty messages of each pair that let all begin together."""


def records(point: PointRequest) -> Records:
    """A record for each round."""
    every = SeriesRequest(
        "all_pairs",
        point.message_bytes,
        direction=point.direction,
        window=WINDOW if point.direction == ONE_WAY else 1,
        ranks=point.ranks,
    )
    return tuple((replace(every, round=number),) for number in range(rounds_of(point.ranks)))


def rounds_of(ranks: int) -> int:
    """Rounds of disjoint pairs in which every two ranks meet once: P - 1 if P is even, P if it is odd."""
    return ranks - 1 + ranks % 2


def wire(series: SeriesRequest) -> WireCount:
    """A window of messages one way or a round trip in each pair, and the messages that let all begin together."""
    is_one_way = series.direction == ONE_WAY
    ways = 1 if is_one_way else 2
    exchanged = series.window if is_one_way else 2
    pairs = links(series)
    messages = pairs * (ways * series.window + BEGINNING_MESSAGES)
    return WireCount(messages, pairs * exchanged * series.message_bytes)


def links(series: SeriesRequest) -> int:
    """The pairs of the round."""
    return series.pairs_of_round


PATTERN = Pattern(
    name="all_pairs",
    measures="every two ranks once, in rounds of disjoint pairs, whose slowest counts; see `chiplog survey`",
    records=records,
    wire=wire,
    links=links,
)
