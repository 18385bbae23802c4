"""Which delay shows the overheads at a size: PRTT(1,0,s), or PRTT(2,0,s) and more where gaps are high.

The first trains tell: a delay must be longer than g + (s-1)G (`chiplog.dataset.delays`). PRTT(1,0,s) is, on most
networks. Where it is not, PRTT(2,0,s) is longer than the gap by a round trip; where noise hides that much of the gap,
PRTT(3,0,s) is longer by another gap.

Source: T. Hoefler, A. Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern interconnection networks",
PMEO-PDS 2007: d = PRTT(1,0,s), with PRTT(2,0,s) for high gaps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from chiplog.dataset.delays import RECEIVES, TRAINS, TrainGap, TrainGaps
from chiplog.plan.request import Request, SeriesRequest
from chiplog.statistics import BEYOND_DOUBT

if TYPE_CHECKING:
    from chiplog.dataset.series import Series

ROUND_TRIP, TWO_MESSAGES = "rtt", "rtt2"
"""Delays by name: the probe measures PRTT(1,0,s) or PRTT(2,0,s) in the record itself."""


def sufficient_delay(gap: TrainGap) -> float | str:
    """The shortest delay that is longer than the gap beyond doubt: by name, or PRTT(3,0,s) in nanoseconds."""
    if gap.is_surely_below(gap.round_trip_seconds):
        return ROUND_TRIP
    noise = BEYOND_DOUBT * gap.error_seconds
    if gap.round_trip_seconds > noise or gap.seconds <= noise:
        return TWO_MESSAGES
    return 1e9 * (gap.round_trip_seconds + 2.0 * gap.seconds)


class DelayChoice:
    """The delays of requests still to come, by the trains that were measured so far."""

    def __init__(self, series: Iterable[Series] = ()) -> None:
        self._gaps = TrainGaps(series)
        self._placement: str | None = None

    def learn(self, record: Iterable[Series]) -> None:
        """Takes in the trains of one record."""
        members = tuple(record)
        self._gaps.add(members)
        self._placement = members[0].placement if members else self._placement

    def applied(self, request: Request) -> Request:
        """The request with a longer delay where a round trip would not be longer than the gap."""
        return replace(request, series=tuple(map(self._with_delay, request.series)))

    def _with_delay(self, series: SeriesRequest) -> SeriesRequest:
        if series.delay_ns != ROUND_TRIP or series.pattern not in (TRAINS, RECEIVES):
            return series
        known = self._gaps.nearest(
            (series.operation, series.posting, self._placement, series.message_bytes)
        )
        if known is None:
            return series
        nearest, gap = known
        delay = sufficient_delay(gap)
        if nearest != series.message_bytes and delay != ROUND_TRIP:
            delay = TWO_MESSAGES
        return replace(series, delay_ns=delay)
