"""Which way of posting an operation is the fastest, at each number of peers: normal, inline or list.

The median's 95 % interval is that of the pooled samples' order statistics: no assumption on their distribution. A
posting is the fastest where its interval lies below those of all others; else that is unclear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.operations import POSTINGS
from chiplog.dataset.series import Series
from chiplog.measurement.precision import lower_rank

ROUND_TRIP, POST = "one_to_many", "send_overhead"
UNCLEAR = "unclear"


@dataclass(frozen=True)
class PostingTime:
    """The time for one of p messages, by one way of posting, in seconds."""

    posting: str
    minimum: float
    median: float
    low: float
    high: float
    mean: float
    samples: int


@dataclass(frozen=True)
class PostingPoint:
    """All ways of posting one operation to `peers` peers, in the order normal, inline, list.

    `pattern` says what was timed: one_to_many, the round trips, or send_overhead, the posting alone.
    """

    operation: str
    pattern: str
    message_bytes: int
    peers: int
    times: tuple[PostingTime, ...]

    @property
    def fastest(self) -> str:
        """The posting whose median is below all others' beyond doubt, else `unclear`."""
        best = min(self.times, key=lambda time: time.median)
        others = [time.low for time in self.times if time is not best]
        return best.posting if others and best.high < min(others) else UNCLEAR


def compare_postings(series: Iterable[Series]) -> tuple[PostingPoint, ...]:
    """The points of one process to many, with times per message; ordered by operation, pattern, size and peers."""
    by_point: dict[tuple[str, str, int, int], dict[str, list[Series]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one_series in series:
        over_peers = one_series.pattern in (ROUND_TRIP, POST) and one_series.delay_seconds == 0
        if over_peers and (
            one_series.pattern == ROUND_TRIP or one_series.train == one_series.peers
        ):
            point = (
                one_series.operation,
                one_series.pattern,
                one_series.message_bytes,
                one_series.peers,
            )
            by_point[point][one_series.posting].append(one_series)
    return tuple(
        PostingPoint(
            *point, tuple(_time(name, members[name]) for name in POSTINGS if name in members)
        )
        for point, members in sorted(by_point.items())
    )


def _time(posting: str, members: list[Series]) -> PostingTime:
    samples = np.sort(np.concatenate([member.seconds for member in members])) / members[0].peers
    rank = lower_rank(samples.size)
    low, high = (0.0, np.inf) if rank is None else (samples[rank], samples[-1 - rank])
    return PostingTime(
        posting,
        float(samples[0]),
        float(np.median(samples)),
        float(low),
        float(high),
        float(np.mean(samples)),
        int(samples.size),
    )
