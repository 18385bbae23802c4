"""k pairs of processes at once, each with its ping-pongs, trains or windows."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    Pattern,
    PointRequest,
    Records,
    WireCount,
    numbers_of_pairs,
)
from chiplog.plan.patterns.trains import WINDOW
from chiplog.plan.series_request import ONE_WAY, SeriesRequest


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
    return WireCount(
        series.pairs * (sent + 4) - 2, series.pairs * (sent + answers) * series.message_bytes
    )


PATTERN = Pattern(
    name="pairs",
    measures="k = 1..P/2 pairs of processes at once, each with its ping-pongs and trains; the slowest counts",
    records=records,
    wire=wire,
    is_over_pairs=True,
)
