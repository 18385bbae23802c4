"""k pairs of processes at once, each with its ping-pongs, trains or windows."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    ONE_WAY,
    WINDOW,
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    WireCount,
    beginning_messages,
    numbers_of_pairs,
)


def records(point: PointRequest) -> Records:
    """One record of all numbers of pairs."""
    window = WINDOW if point.direction == ONE_WAY else 1
    series = tuple(
        SeriesRequest(
            "pairs", point.message_bytes, pairs=k, direction=point.direction, window=window
        )
        for k in numbers_of_pairs(point.ranks)
    )
    return (series,)


def wire(series: SeriesRequest) -> WireCount:
    """Windows of trains and an answer in each pair, and the messages that let all begin together."""
    sent = series.train * series.window
    answers = series.direction != ONE_WAY
    messages = series.pairs * (sent + 1) + beginning_messages(series.pairs)
    return WireCount(messages, series.pairs * (sent + answers) * series.message_bytes)


PATTERN = Pattern(
    name="pairs",
    measures="k = 1..P/2 pairs of processes at once, each with its ping-pongs and trains; the slowest counts",
    records=records,
    wire=wire,
    is_over_pairs=True,
)
