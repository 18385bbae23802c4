"""A dataset with the statistic of each of its series, ready to be combined to quantities.

Series of one record were taken in turn, so that differences are taken within a record: a drift of the machine hits both
sides alike.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.delays import short_delays
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.quantities.combine import RecordValues, combine
from chiplog.fitting.quantities.location import Locations, locate
from chiplog.fitting.quantities.quantity import Quantity, empty_quantity
from chiplog.fitting.quantities.settings import LONG_TRAIN, NEIGHBOURS, REPLICATES, SELF_WEIGHT
from chiplog.fitting.quantities.value_intervals import order_statistics
from chiplog.fitting.settings import SHORTEST_SECONDS


@dataclass(frozen=True)
class RecordValue:
    """One record's value: a linear combination of its series' statistics plus a constant.

    `terms` are indices of series, each with its factor. `at` is where the value stands on its axis; None: at the size
    of the first series.
    """

    terms: tuple[tuple[int, float], ...]
    constant: float = 0.0
    at: int | None = None


class MeasuredSeries:
    """A dataset with each series' statistic, ready to be combined to quantities."""

    def __init__(
        self,
        dataset: Dataset,
        statistic: str,
        seed: int,
        replicates: int = REPLICATES,
        *,
        scatter: float = 0.0,
    ) -> None:
        """Locates every series of `dataset`; equal seeds give equal replicates.

        `scatter` is the relative standard deviation of a series with a single sample, as far as it is known.
        """
        self.series: Sequence[Series] = dataset.series
        self.transport = dataset.transport
        self.statistic = statistic
        self.seed = seed
        self.is_scatter_known = scatter > 0.0
        self.replicates = replicates
        self.resolution_seconds = dataset.clock_step_seconds
        located = locate(
            dataset.series,
            statistic=statistic,
            replicates=replicates,
            resolution_seconds=self.resolution_seconds,
            scatter=scatter,
            rng=np.random.default_rng(seed),
        )
        without_clock = _without_clock(dataset.series, located, dataset.clock_overhead_seconds)
        self.at: Locations = _as_round_trips(dataset.series, without_clock)
        self.sigma = smoothed_errors(dataset.series, self.at)
        self._draws = self._smoothed_draws()
        self._single: dict[tuple[int, ...], int] = {}
        for index, series in enumerate(self.series):
            if is_round_trip(series):
                rank = 0 if series.pattern == "prtt" else 1
                for key in _partner_keys(series):
                    if key not in self._single or rank < self._rank(self._single[key]):
                        self._single[key] = index

    def _smoothed_draws(self) -> NDArray[np.float64]:
        """The replicates of each series with its smoothed standard error.

        Those of three samples, one of them an outlier, would have ten times the spread of their neighbours.
        """
        scale = self.sigma / np.maximum(self.at.sigma, SHORTEST_SECONDS)
        deviation: NDArray[np.float64] = self.at.draws - self.at.value[:, None]
        return self.at.value[:, None] + scale[:, None] * deviation

    @cached_property
    def short_delays(self) -> frozenset[int]:
        """The indices of delayed series that show no overhead, since the gap is as long as their delay."""
        return short_delays(self.series)

    def _rank(self, index: int) -> int:
        return 0 if self.series[index].pattern == "prtt" else 1

    def round_trip_beside(self, series: Series) -> int | None:
        """The index of PRTT(1,0,s) of the same record, else of the same launch, else of any."""
        for key in _partner_keys(series):
            if key in self._single:
                return self._single[key]
        return None

    def indices(self, wanted: Callable[[Series], bool]) -> list[int]:
        """The indices of the series that `wanted` accepts."""
        return [index for index, series in enumerate(self.series) if wanted(series)]

    def quantity(self, name: str, entries: Iterable[RecordValue]) -> Quantity:
        """Combines the records' values to one value a size."""
        ordered = sorted(entries, key=self._place_of)
        if not ordered:
            return empty_quantity(name, self.replicates)
        records = self._evaluate(ordered)
        combined = combine(records, self._rng_of(name))
        is_difference = any(len(entry.terms) > 1 or entry.constant for entry in ordered)
        return Quantity(
            name=name,
            message_bytes=records.sizes[records.starts],
            value=combined.value,
            sigma=combined.sigma,
            draws=combined.draws,
            series=frozenset(index for entry in ordered for index, _ in entry.terms),
            samples=np.add.reduceat(records.samples, records.starts),
            is_difference=is_difference,
            is_scatter_known=self.is_scatter_known,
            order_statistics=None if is_difference else self._order_statistics(ordered),
        )

    def _first(self, entry: RecordValue) -> Series:
        return self.series[entry.terms[0][0]]

    def _place_of(self, entry: RecordValue) -> int:
        return self._first(entry).message_bytes if entry.at is None else entry.at

    def _order_statistics(self, entries: Sequence[RecordValue]) -> NDArray[np.float64] | None:
        """Of all samples of each size together, those of each record about its value; None unless these are medians."""
        if self.statistic != "median":
            return None
        samples: dict[int, list[NDArray[np.float64]]] = {}
        for entry in entries:
            ((index, factor),) = entry.terms
            series = self.series[index]
            level = series.median or 1.0
            scaled = series.seconds * (factor * float(self.at.value[index]) / level)
            samples.setdefault(self._place_of(entry), []).append(scaled)
        return np.array([order_statistics(np.concatenate(sample)) for sample in samples.values()]).T

    def _rng_of(self, name: str) -> np.random.Generator:
        """Equal seeds give a quantity equal replicates, whatever else was asked for before."""
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def _evaluate(self, entries: Sequence[RecordValue]) -> RecordValues:
        """The value of each entry with its replicates and errors."""
        width = max(len(entry.terms) for entry in entries)
        index = np.zeros((len(entries), width), dtype=np.int64)
        factor = np.zeros((len(entries), width))
        for row, entry in enumerate(entries):
            for column, (series, share) in enumerate(entry.terms):
                index[row, column], factor[row, column] = series, share
        constant = np.array([entry.constant for entry in entries])
        value = constant.copy()
        draws = np.repeat(constant[:, None], self.replicates, axis=1)
        variance, rounded = np.zeros(len(entries)), np.zeros(len(entries))
        sigma = self.sigma
        for column in range(width):
            where, weight = index[:, column], factor[:, column]
            value += weight * self.at.value[where]
            draws += weight[:, None] * self._draws[where]
            variance += (weight * sigma[where]) ** 2
            rounded += (weight * self.at.rounding[where]) ** 2
        samples = [min(int(self.at.samples[term]) for term, _ in entry.terms) for entry in entries]
        return RecordValues(
            sizes=np.array([self._place_of(entry) for entry in entries], dtype=np.int64),
            launches=np.array([self._first(entry).launch for entry in entries], dtype=np.int64),
            value=value,
            draws=draws,
            sigma=np.sqrt(variance),
            rounding=np.sqrt(rounded),
            samples=np.array(samples, dtype=np.int64),
        )


def _without_clock(
    all_series: Sequence[Series], at: Locations, overhead_seconds: float
) -> Locations:
    """The statistics without what reading the clock adds to the time of posting sends.

    A post may be as short as that; all other intervals are 400 times as long, or differences of two.
    """
    batches = np.array(
        [series.batch if series.pattern == "send_overhead" else np.inf for series in all_series],
        dtype=float,
    )
    shift = overhead_seconds / batches
    if not np.any(shift):
        return at
    return replace(at, value=at.value - shift, draws=at.draws - shift[:, None])


def _as_round_trips(all_series: Sequence[Series], at: Locations) -> Locations:
    """The statistics where those of ping-pongs that are given one-way are doubled, as all others are round trips."""
    factor = np.array(
        [
            2.0 if (series.pattern, series.direction) == ("ping_pong", "one-way") else 1.0
            for series in all_series
        ]
    )
    if not np.any(factor != 1.0):
        return at
    return Locations(
        factor * at.value,
        factor * at.sigma,
        factor[:, None] * at.draws,
        at.samples,
        factor * at.rounding,
    )


def smoothed_errors(all_series: Sequence[Series], at: Locations) -> NDArray[np.float64]:
    """Each series' standard error in seconds, drawn towards those of its kind at neighbouring sizes.

    A standard error from some 20 samples is itself off by a third, and weights made of it would favour the values
    that look precise by chance.
    """
    relative = np.log(
        np.maximum(at.sigma, SHORTEST_SECONDS) / np.maximum(np.abs(at.value), SHORTEST_SECONDS)
    )
    kinds: dict[tuple[str, int, bool], list[int]] = {}
    for index, series in enumerate(all_series):
        kind = (series.pattern, min(series.train, LONG_TRAIN), series.delay_seconds > 0)
        kinds.setdefault(kind, []).append(index)
    smooth = np.empty_like(relative)
    for members in kinds.values():
        indices = np.array(members)
        sizes, place = np.unique(
            [all_series[index].message_bytes for index in members], return_inverse=True
        )
        for number in range(sizes.size):
            near = np.abs(place - number) <= NEIGHBOURS
            smooth[indices[place == number]] = np.median(relative[indices[near]])
    blended = np.exp(SELF_WEIGHT * relative + (1.0 - SELF_WEIGHT) * smooth)
    return np.asarray(blended * np.maximum(np.abs(at.value), SHORTEST_SECONDS))


def _partner_keys(series: Series) -> tuple[tuple[int, ...], ...]:
    return (
        (series.message_bytes, series.launch, series.record_id),
        (series.message_bytes, series.launch),
        (series.message_bytes,),
    )


def is_round_trip(series: Series) -> bool:
    """Is this PRTT(1,0,s), under either of its names?"""
    return (
        series.pattern in ("prtt", "ping_pong") and series.train == 1 and series.delay_seconds == 0
    )
