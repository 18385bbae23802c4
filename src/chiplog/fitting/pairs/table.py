"""The measured half round trips of k pairs, one row a series, and their sums by size and k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.quantities.location import locate
from chiplog.fitting.quantities.measured import MeasuredSeries, RecordValue
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.settings import SHORTEST_SECONDS
from chiplog.models.protocol import Points, points

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Derived: how many one-way times a sample of this direction holds.
TRIPS = {"round-trip": 2.0, "one-way": 1.0}


@dataclass(frozen=True)
class Cells:
    """Weighted sums over the points of each (size, k), all of shape (cells,).

    With the sums `sum w (f/T - 1)^2 = sum over cells of square f^2 - 2 linear f + weight` for any prediction f.
    """

    message_bytes: Floats
    pairs: Floats
    square: Floats
    linear: Floats
    weight: Floats

    @cached_property
    def root(self) -> Floats:
        """The weight of a cell's residual in seconds: square root of `square`."""
        return np.sqrt(self.square)

    @cached_property
    def target(self) -> Floats:
        """The prediction with the least relative squares in each cell, times `root`."""
        return np.asarray(self.linear / np.maximum(self.root, 1e-300))

    def only(self, chosen: NDArray[np.bool_]) -> Cells:
        """The same cells, without the weight of those that are not `chosen`."""
        return Cells(
            self.message_bytes,
            self.pairs,
            self.square * chosen,
            self.linear * chosen,
            self.weight * chosen,
        )

    def cost(self, predicted: Floats) -> float:
        """The sum of squared relative residuals of `predicted` seconds, shape (cells,)."""
        return float(
            np.sum(self.square * predicted**2 - 2.0 * self.linear * predicted + self.weight)
        )


@dataclass(frozen=True)
class PairTable:
    """One-way times of P points: size in bytes, pairs, launch (numbered from 0), seconds; all of shape (P,).

    `rounding`, shape (P,), is the clock's step as a share of what it timed. `series` are the series that the points
    come from, in the same order.
    """

    message_bytes: Integers
    pairs: Integers
    launch: Integers
    seconds: Floats
    rounding: Floats
    series: tuple[Series, ...]

    def subset(self, chosen: NDArray[np.bool_]) -> PairTable:
        """The points where `chosen`, shape (P,), is true; their launches are numbered anew."""
        return PairTable(
            self.message_bytes[chosen],
            self.pairs[chosen],
            _numbered(self.launch[chosen]),
            self.seconds[chosen],
            self.rounding[chosen],
            tuple(self.series[index] for index in np.flatnonzero(chosen)),
        )

    def within(self, first_bytes: int, last_bytes: int) -> PairTable:
        """The points of the sizes from `first_bytes` to `last_bytes`, both included."""
        return self.subset((self.message_bytes >= first_bytes) & (self.message_bytes <= last_bytes))

    @cached_property
    def sizes(self) -> Integers:
        """The distinct sizes in bytes, ascending."""
        return np.unique(self.message_bytes)

    @cached_property
    def points(self) -> Points:
        """The points as models are asked about them."""
        return points("pairs", self.message_bytes, pairs=self.pairs)

    @property
    def cell_index(self) -> Integers:
        """The number of each point's (size, k), shape (P,)."""
        return self._cell[1]

    @cached_property
    def _cell(self) -> tuple[Integers, Integers]:
        """The distinct (size, k), shape (cells, 2), and the cell of each point."""
        keys = np.stack([self.message_bytes, self.pairs], axis=1)
        distinct, index = np.unique(keys, axis=0, return_inverse=True)
        return distinct, index.reshape(-1)

    def _sums(self, values: Floats) -> Floats:
        keys, index = self._cell
        return np.asarray(np.bincount(index, values, len(keys)), dtype=np.float64)

    def cells(self, weight: Floats | None = None) -> Cells:
        """The sums by (size, k), each point with its `weight`, shape (P,); 1 by default."""
        keys, _ = self._cell
        weights = np.ones(self.seconds.size) if weight is None else weight
        return Cells(
            keys[:, 0].astype(np.float64),
            keys[:, 1].astype(np.float64),
            self._sums(weights / self.seconds**2),
            self._sums(weights / self.seconds),
            self._sums(weights),
        )

    def random_weights(self, rng: np.random.Generator) -> Floats:
        """Weights of one bootstrap replicate, shape (P,): a factor for each launch times one for each (size, k)."""
        keys, index = self._cell
        weight = rng.standard_exponential(len(keys))[index]
        launches = int(self.launch.max()) + 1
        if launches > 1:
            weight = weight * rng.standard_exponential(launches)[self.launch]
        return np.asarray(weight / weight.mean())


def _numbered(names: Integers) -> Integers:
    """Equal names as equal numbers from 0 on, shape of `names`."""
    return np.asarray(np.unique(names, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def is_pair_point(series: Series) -> bool:
    """Is this an undelayed single exchange of k pairs with samples?"""
    return (
        series.pattern == "pairs"
        and series.direction in TRIPS
        and series.train == 1
        and series.delay_seconds == 0
        and series.seconds.size > 0
    )


def pair_table(dataset: Dataset, statistic: str) -> PairTable:
    """The one-way times of all series of k pairs; round trips are halved. Empty where there are none.

    Raises UsageError for an unknown statistic.
    """
    series = tuple(point for point in dataset.series if is_pair_point(point))
    if not series:
        none = np.empty(0, dtype=np.int64)
        return PairTable(none, none, none, np.empty(0), np.empty(0), ())
    located = locate(
        series,
        statistic=statistic,
        replicates=2,
        resolution_seconds=0.0,
        rng=np.random.default_rng(0),
    )
    seconds = located.value / np.array([TRIPS[point.direction] for point in series])
    table = PairTable(
        np.array([point.message_bytes for point in series], dtype=np.int64),
        np.array([point.pairs for point in series], dtype=np.int64),
        _numbered(np.array([point.launch for point in series], dtype=np.int64)),
        seconds,
        dataset.clock_step_seconds
        / (
            np.maximum(located.value, SHORTEST_SECONDS)
            * np.array([point.batch for point in series])
        ),
        series,
    )
    return table.subset(seconds > 0)


def half_round_trips(measured: MeasuredSeries) -> dict[int, Quantity]:
    """By k, ascending, the half round trips of the slowest of k pairs over the size; one-way times as they are."""
    by_pairs: dict[int, list[RecordValue]] = {}
    for index in measured.indices(is_pair_point):
        series = measured.series[index]
        value = RecordValue(((index, 1.0 / TRIPS[series.direction]),))
        by_pairs.setdefault(series.pairs, []).append(value)
    return {
        pairs: measured.quantity(f"half_round_trip(k={pairs})", by_pairs[pairs])
        for pairs in sorted(by_pairs)
    }


def launch_medians(table: PairTable, rng: np.random.Generator, resamples: int) -> Floats:
    """Medians over the launches in seconds by size and k, NaN where not measured.

    Shape (1 + resamples, sizes, pairs): of all launches first, then of resampled ones, where there are several.
    """
    times = _by_launch(table)
    launches = times.shape[0]
    picks = [np.arange(launches)]
    if launches > 1:
        picks += list(rng.integers(0, launches, (resamples, launches)))
    return np.stack([_median(times[pick]) for pick in picks])


def _by_launch(table: PairTable) -> Floats:
    """Seconds by launch, size and k (geometric mean of visits), NaN where not measured."""
    pairs, column = np.unique(table.pairs, return_inverse=True)
    row = np.searchsorted(table.sizes, table.message_bytes)
    shape = (int(table.launch.max()) + 1, table.sizes.size, pairs.size)
    place = np.ravel_multi_index((table.launch, row, column.reshape(-1)), shape)
    places = int(np.prod(shape))
    count = np.bincount(place, minlength=places)
    total = np.bincount(place, np.log(table.seconds), minlength=places)
    mean = np.where(count > 0, np.exp(total / np.maximum(count, 1)), np.nan)
    return np.asarray(mean.reshape(shape))


def _median(times: Floats) -> Floats:
    """The median over the first axis of what is not NaN; NaN where all is."""
    ordered = np.sort(times, axis=0)
    count = np.isfinite(times).sum(axis=0)
    middle = np.stack([np.maximum(count - 1, 0) // 2, np.minimum(count // 2, times.shape[0] - 1)])
    return np.asarray(np.take_along_axis(ordered, middle, axis=0).mean(axis=0))
