"""What a model is fitted to over the message size, and what its estimator hands back.

An estimator of the methods prtt, culler, kielmann and bell is a function of a `Job` that returns `SegmentEstimates`.
A line per protocol through the half round trips would be:

    def estimate(job: Job) -> SegmentEstimates:
        half = job.quantities_in_lines.half_round_trip
        parts = partition((half,), job.limits)
        return SegmentEstimates(parts, [parameters_of(half.within(*one)) for one in parts.ranges])

`chiplog.fitting.estimates.hockney` is just that, `chiplog.fitting.estimates.loggp` uses `Job.lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import UsageError
from chiplog.fitting.estimates.parameters import Estimates
from chiplog.fitting.estimates.settings import MAX_FACTOR, MIN_SHARE, MIN_SIZES
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.regimes import Partition, Range, partition
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.models.protocol import Model
from chiplog.protocol_changes.change import Change


def without_unlike(
    quantities: MethodQuantities, ranges: Sequence[tuple[int, int]], unlike: frozenset[int]
) -> MethodQuantities:
    """The quantities without the `unlike` sizes of those `ranges` (first and last bytes) that keep enough others."""
    sizes = quantities.half_round_trip.message_bytes
    left_out: set[int] = set()
    for first, last in ranges:
        range_sizes = sizes[(sizes >= first) & (sizes <= last)]
        of_range = unlike.intersection(range_sizes.tolist())
        if of_range and _enough(np.setdiff1d(range_sizes, list(of_range)), range_sizes):
            left_out |= of_range
    return quantities.without(left_out) if left_out else quantities


def _enough(kept: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
    if kept.size < max(MIN_SIZES, MIN_SHARE * sizes.size):
        return False
    return bool(kept[0] <= MAX_FACTOR * sizes[0] and sizes[-1] <= MAX_FACTOR * kept[-1])


NO_ROUND_TRIPS = "the run lacks round trips (prtt or ping_pong)."


@dataclass(frozen=True)
class Job:
    """One model by one method on one operation's series."""

    model: Model
    method: str
    measured: MeasuredSeries
    """All series, each with the statistic that stands for it and with bootstrap replicates."""
    quantities: MethodQuantities
    """Half round trips, gaps and overheads in seconds over the size in bytes, as the method measures them."""
    changes: tuple[Change, ...]
    """The protocol changes that are known."""
    one_sided: bool
    """Has the receiver's CPU no part in the operation, so that o_r is 0?"""
    unlike_bytes: frozenset[int]
    """Sizes that met the machine in another state than most."""
    known_lines: dict[str, RegimeLines]
    """The lines of all regimes by method, as they were fitted for an earlier model."""

    @cached_property
    def quantities_in_lines(self) -> MethodQuantities:
        """The quantities at the sizes that lines go through."""
        return without_unlike(self.quantities, [self.range], self.unlike_bytes)

    @property
    def other_state_bytes(self) -> tuple[int, ...]:
        """The sizes in bytes that no line goes through, as the machine was in another state."""
        sizes, in_lines = (
            quantities.half_round_trip.message_bytes
            for quantities in (self.quantities, self.quantities_in_lines)
        )
        return tuple(np.setdiff1d(sizes, in_lines).tolist())

    @property
    def range(self) -> Range:
        """First and last size in bytes of what was measured; UsageError where the method measured nothing."""
        half = self.quantities.half_round_trip
        sizes = half.message_bytes if half.value.size else self.quantities.gap.message_bytes
        if sizes.size == 0:
            raise UsageError(NO_ROUND_TRIPS)
        return int(sizes[0]), int(sizes[-1])

    @property
    def limits(self) -> list[int]:
        """The last size in bytes before each protocol change."""
        return [change.last_before_bytes for change in self.changes]

    @property
    def lines(self) -> RegimeLines:
        """The lines of all quantities' regimes, found once for all models by one method."""
        if self.method not in self.known_lines:
            quantities = self.quantities_in_lines
            parts = partition(
                (quantities.half_round_trip, quantities.o_s, quantities.o_r, quantities.gap),
                self.limits,
            )
            self.known_lines[self.method] = RegimeLines(quantities, parts, self.rng)
        return self.known_lines[self.method]

    @property
    def rng(self) -> np.random.Generator:
        """Equal seeds give equal replicates, whatever was fitted before."""
        return np.random.default_rng([self.measured.seed, 1])


@dataclass(frozen=True)
class SegmentEstimates:
    """The segments of a fit with the parameters of each, and what a reader must be told."""

    parts: Partition
    estimates: list[Estimates]
    """By segment, then by symbol; symbols that are not parameters of the model are reported beside them."""
    cautions: tuple[str, ...] = ()
    other_forms: tuple[str | None, ...] = ()
    """By segment: its form (`Segment.form`), of a model that has others than the published one."""

    @property
    def forms(self) -> tuple[str | None, ...]:
        """The form of each segment."""
        return self.other_forms or (None,) * len(self.estimates)


SizeEstimator = Callable[[Job], SegmentEstimates]
"""Fits a model over the message size; raises UsageError with what the run lacks."""
