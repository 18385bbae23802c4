"""How much of a non-blocking transfer is hidden behind a computation.

    hidden share = 1 - (T(c) - c) / T(0)

T(0) is the transfer alone, T(c) the same with a computation of c between its post and its wait; c is measured and taken
off record by record. What the processor does itself, as in posting and waiting, is never hidden. A computation that is
shorter than the transfer can't hide all of it: by the rest the share may be larger than it was seen.

Sources: W. Lawry et al., "COMB: a portable benchmark suite for assessing MPI overlap", Cluster 2002 (post, work, wait);
the OSU micro-benchmarks' non-blocking collectives have the same share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.patterns import OVERLAP, OVERLAP_RECEIVE
from chiplog.fitting.quantities.measured import MeasuredSeries, RecordValue
from chiplog.fitting.quantities.over_sizes import series_quantity
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.quantities.value_intervals import intervals
from chiplog.json_values import members
from chiplog.statistics import FEWEST_SAMPLES

SIDES = {"send": OVERLAP, "receive": OVERLAP_RECEIVE}
"""The pattern of each side that computes."""


@dataclass(frozen=True)
class HiddenShare:
    """The hidden share of one size, for a sender or a receiver that computes; NaN ends where there is no interval."""

    side: str
    message_bytes: int
    transfer_seconds: float
    """Of the transfer alone, with the empty message that ends or begins it."""
    computed_seconds: float
    value: float
    low: float
    high: float

    @property
    def is_identified(self) -> bool:
        """Whether the samples tell anything: an interval from 0 to 1 is what was known before."""
        return np.isfinite(self.low) and not (self.low <= 0.0 and self.high >= 1.0)

    @property
    def reason(self) -> str | None:
        """Why the share is not identified."""
        if self.is_identified:
            return None
        if not np.isfinite(self.low):
            return f"fewer than {FEWEST_SAMPLES} samples tell no interval"
        return "the times scatter by more than the computation could hide"

    def to_json(self) -> dict[str, object]:
        """The members of a row in files."""
        ends = (self.value, self.low, self.high) if self.is_identified else (None, None, None)
        return {
            **members(self, "side", "message_bytes", "transfer_seconds", "computed_seconds"),
            **dict(zip(("hidden_share", "low", "high"), ends, strict=True)),
            "identified": bool(self.is_identified),
            "reason": self.reason,
        }


def hidden_shares(measured: MeasuredSeries) -> tuple[HiddenShare, ...]:
    """The shares of both sides, each by size, of the sizes that have both times."""
    return tuple(
        share for side, pattern in SIDES.items() for share in _of_side(measured, side, pattern)
    )


def _of_side(measured: MeasuredSeries, side: str, pattern: str) -> Iterator[HiddenShare]:
    alone = series_quantity(
        measured, f"{pattern} alone", lambda s: s.pattern == pattern and s.delay_seconds == 0
    )
    exposed = _exposed(measured, pattern)
    for size in np.intersect1d(alone.message_bytes, exposed.message_bytes):
        yield _share(measured, side, alone.within(size, size), exposed.within(size, size))


def _exposed(measured: MeasuredSeries, pattern: str) -> Quantity:
    """T(c) - c: by how much the computation takes longer with the transfer."""
    entries = [
        RecordValue(((index, 1.0),), -series.delay_seconds)
        for index, series in enumerate(measured.series)
        if series.pattern == pattern and series.delay_seconds > 0
    ]
    return measured.quantity(f"{pattern} exposed", entries)


def _share(measured: MeasuredSeries, side: str, alone: Quantity, exposed: Quantity) -> HiddenShare:
    """The share of one size, between 0 and 1; of both quantities only this size is there."""
    transfer = float(alone.value[0])
    computed = float(
        np.median([measured.series[index].delay_seconds for index in _indices(measured, exposed)])
    )
    low, high = intervals(1.0 - exposed.draws[0] / alone.draws[0])
    value = 1.0 - float(exposed.value[0]) / transfer
    unseen = max(0.0, 1.0 - computed / transfer)
    if min(alone.samples[0], exposed.samples[0]) < FEWEST_SAMPLES:
        low = high = np.nan
    ends = np.clip([value, min(low, value), max(high, value) + unseen], 0.0, 1.0)
    return HiddenShare(side, int(alone.message_bytes[0]), transfer, computed, *map(float, ends))


def _indices(measured: MeasuredSeries, quantity: Quantity) -> list[int]:
    size = int(quantity.message_bytes[0])
    return [index for index in quantity.series if measured.series[index].message_bytes == size]
