"""Whether a delay was long enough to show an overhead: longer than the gap of the trains of that size.

With a delay d a further message of a train takes max(o_s + d, g + (s-1)G), and a late receiver takes its messages as
far apart as max(o_r + d, g + (s-1)G). So only d > g + (s-1)G shows an overhead; a shorter delay bounds it from above.

NumPy is loaded where it is used: a run starts its ranks before.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiplog.statistics import BEYOND_DOUBT, MAD_TO_DEVIATION, MEDIAN_ERROR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chiplog.dataset.series import Series

TRAINS, RECEIVES = "prtt", "receive_overhead"

Kind = tuple[str, str, str | None, int]
"""Operation, posting, placement and message size in bytes: whose trains have one gap."""


@dataclass(frozen=True)
class TrainGap:
    """What a further message adds to a train, beside the round trip; seconds."""

    round_trip_seconds: float
    seconds: float
    error_seconds: float
    """Standard error of `seconds`; 0 where there is one sample."""

    def is_surely_below(self, delay_seconds: float) -> bool:
        """Is the gap shorter than the delay beyond doubt?"""
        return delay_seconds > max(self.seconds, 0.0) + BEYOND_DOUBT * self.error_seconds


class TrainGaps:
    """The gaps that the trains of some series show, by what their messages are; more may be added."""

    def __init__(self, series: Iterable[Series] = ()) -> None:
        self._round_trips: dict[Kind, list[NDArray[np.float64]]] = defaultdict(list)
        self._further: dict[Kind, list[NDArray[np.float64]]] = defaultdict(list)
        self.add(series)

    def add(self, series: Iterable[Series]) -> None:
        """Takes in the trains of whole records."""
        records: dict[tuple[Kind, int, int], list[Series]] = defaultdict(list)
        for one_series in series:
            if (
                one_series.pattern == TRAINS
                and one_series.delay_seconds == 0.0
                and one_series.seconds.size
            ):
                records[kind_of(one_series), one_series.launch, one_series.record_id].append(
                    one_series
                )
        for (kind, _, _), members in records.items():
            single = next((member for member in members if member.train == 1), None)
            several = max(members, key=lambda member: member.train)
            if single is not None and several.train > 1:
                rounds = min(single.seconds.size, several.seconds.size)
                paired = several.seconds[:rounds] - single.seconds[:rounds]
                self._round_trips[kind].append(single.seconds)
                self._further[kind].append(paired / (several.train - 1))

    def at(self, kind: Kind) -> TrainGap | None:
        """The gap of one kind of message; None without trains of it."""
        if kind not in self._further:
            return None
        import numpy as np

        further = np.concatenate(self._further[kind])
        gap = float(np.median(further))
        error = (
            MEDIAN_ERROR
            * MAD_TO_DEVIATION
            * float(np.median(np.abs(further - gap)))
            / math.sqrt(further.size)
        )
        return TrainGap(float(np.median(np.concatenate(self._round_trips[kind]))), gap, error)

    def nearest(self, kind: Kind) -> tuple[int, TrainGap] | None:
        """The gap of the size that is nearest to this kind's, and that size in bytes; None without any trains."""
        sizes = [size for *way, size in self._further if tuple(way) == kind[:-1]]
        if not sizes:
            return None
        nearest = min(sizes, key=lambda size: abs(math.log2(max(size, 1) / max(kind[-1], 1))))
        gap = self.at((*kind[:-1], nearest))
        assert gap is not None
        return nearest, gap


def kind_of(series: Series) -> Kind:
    """Whose trains tell the gap that this series' delay must be longer than."""
    return series.operation, series.posting, series.placement, series.message_bytes


def shows_overhead(series: Series) -> bool:
    """Is it a train or a late receiver with a delay between messages, whose gap may hide the overhead?"""
    return series.pattern in (TRAINS, RECEIVES) and series.train > 1 and series.delay_seconds > 0.0


def short_delays(series: Sequence[Series]) -> frozenset[int]:
    """The indices of the trains and late receivers that show no overhead, since the gap is as long as their delay.

    Where other delays at a size are longer than the gap beyond doubt, only these count. Where no train tells the gap, a
    delay is taken to be long enough: a rank of a ping-pong sends once a round trip, so longer gaps would show in it.
    """
    gaps = TrainGaps(series)
    by_kind: dict[tuple[str, Kind], list[int]] = defaultdict(list)
    for index, one_series in enumerate(series):
        if shows_overhead(one_series):
            by_kind[one_series.pattern, kind_of(one_series)].append(index)
    short: set[int] = set()
    for (_, kind), members in by_kind.items():
        gap = gaps.at(kind)
        if gap is None:
            continue
        sure = {at for at in members if gap.is_surely_below(series[at].delay_seconds)}
        enough = sure or {at for at in members if series[at].delay_seconds > gap.seconds}
        short.update(set(members) - enough)
    return frozenset(short)


def without_short_delays(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series without trains and late receivers that show no overhead."""
    short = short_delays(series)
    return tuple(one_series for index, one_series in enumerate(series) if index not in short)
