"""One value per series with its bootstrap replicates: median, minimum or mean.

A resample's p-quantile needs no resampling: of k samples drawn with replacement, the m-th smallest is the original
sample at the quantile of a Beta(m, k - m + 1) variate. So all replicates of all series cost one draw each.

Samples far above the rest are set aside before the statistic is taken: a share e of one-sided outliers would move the
median of the others to their (1 + e)/2 quantile, which a difference of two trains magnifies. They stay in the dataset.
Where more than `MOST_OUTLIERS` lie there, they are not outliers but a mode, and stay in the statistic too.

Source: J. S. Maritz, R. G. Jarrett, "A note on estimating the variance of the sample median", JASA 73 (1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.errors import UsageError
from chiplog.fitting.quantities.settings import (
    LOW_QUANTILE,
    MOST_OUTLIERS,
    NORMAL_SAMPLES,
    OUTLIER_SPREADS,
)
from chiplog.fitting.settings import RESOLUTION
from chiplog.statistics import UNIFORM_DEVIATION

STATISTICS = ("median", "minimum", "mean")


@dataclass(frozen=True)
class Locations:
    """The statistic of N series with B bootstrap replicates.

    `value` and `sigma` (its standard error) have shape (N,), `draws` has shape (N, B); all in seconds.
    """

    value: NDArray[np.float64]
    sigma: NDArray[np.float64]
    draws: NDArray[np.float64]
    samples: NDArray[np.int64]
    rounding: NDArray[np.float64]
    """Standard error that the clock's step leaves where all samples fell on one step, shape (N,): more samples, or more
    records, do not lessen it. 0 where samples differ."""


def _sorted_samples(all_series: Sequence[Series]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    counts = np.array([series.seconds.size for series in all_series], dtype=np.int64)
    table = np.full((len(all_series), int(counts.max())), np.inf)
    table[np.arange(table.shape[1]) < counts[:, None]] = np.concatenate(
        [series.seconds for series in all_series]
    )
    table.sort(axis=1)
    return table, counts


def _at(table: NDArray[np.float64], place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row by row, the value at a fractional index; `place` has shape (N, anything)."""
    below = np.floor(place).astype(np.int64)
    above = np.ceil(place).astype(np.int64)
    low = np.take_along_axis(table, below, axis=1)
    high = np.take_along_axis(table, above, axis=1)
    return low + (place - below) * (high - low)


def _without_outliers(
    table: NDArray[np.float64], counts: NDArray[np.int64], step: NDArray[np.float64]
) -> NDArray[np.int64]:
    """How many of each row's samples, from the smallest on, are not far above the rest."""
    last = (counts - 1)[:, None].astype(np.float64)
    median = _at(table, 0.5 * last)[:, 0]
    low = _at(table, LOW_QUANTILE * last)[:, 0]
    spread = np.maximum(np.maximum(median - low, step), RESOLUTION * median)
    kept = np.sum(table <= (median + OUTLIER_SPREADS * spread)[:, None], axis=1)
    return np.where(kept < (1.0 - MOST_OUTLIERS) * counts, counts, kept)


def _mean(
    table: NDArray[np.float64], kept: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    inside = np.arange(table.shape[1]) < kept[:, None]
    filled = np.where(inside, table, 0.0)
    mean = filled.sum(axis=1) / kept
    squares = np.where(inside, (filled - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return mean, np.sqrt(squares / np.maximum(kept - 1, 1) / kept)


def _median_quantiles(
    k: NDArray[np.float64], shape: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Beta((k+1)/2, (k+1)/2) variates; for many samples the normal ones of equal variance, five times as fast."""
    if k.min() < NORMAL_SAMPLES:
        return rng.beta((k + 1.0) / 2.0, (k + 1.0) / 2.0, size=shape)
    return 0.5 + rng.standard_normal(shape) / (2.0 * np.sqrt(k + 2.0))


def _drawn(
    table: NDArray[np.float64],
    kept: NDArray[np.int64],
    statistic: str,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The statistic of each row, shape (series,), and replicates of it, shape (series, replicates)."""
    shape = (table.shape[0], replicates)
    k = kept[:, None].astype(np.float64)
    if statistic == "mean":
        value, error = _mean(table, kept)
        return value, value[:, None] + error[:, None] * rng.standard_normal(shape)
    if statistic == "median":
        value = _at(table, 0.5 * (k - 1.0))[:, 0]
        quantile = _median_quantiles(k, shape, rng)
    else:
        value = table[:, 0].copy()
        quantile = 1.0 - rng.random(shape) ** (1.0 / k)
    return value, _at(table, np.clip(quantile * k - 0.5, 0.0, k - 1.0))


def locate(
    all_series: Sequence[Series],
    *,
    statistic: str,
    replicates: int,
    resolution_seconds: float,
    scatter: float = 0.0,
    rng: np.random.Generator,
) -> Locations:
    """The statistic of each series with `replicates` bootstrap replicates.

    `sigma` and the replicates' spread are never below what the clock's step (`resolution_seconds`, over the batch)
    allows; of a series with a single sample, whose own spread nobody knows, not below `scatter` of its value. Raises
    UsageError for an unknown statistic. Source: see the module.
    """
    if statistic not in STATISTICS:
        raise UsageError(
            f"statistic: '{statistic}' is unknown; it accepts {', '.join(STATISTICS)}."
        )
    table, counts = _sorted_samples(all_series)
    step = resolution_seconds / np.array([series.batch for series in all_series], dtype=np.float64)
    kept = _without_outliers(table, counts, step)
    value, draws = _drawn(table, kept, statistic, replicates, rng)
    draws += (value - draws.mean(axis=1))[:, None]
    spread = draws.std(axis=1)
    single = np.where(counts == 1, scatter * np.abs(value), 0.0)
    unresolved = UNIFORM_DEVIATION * step
    floor = np.hypot(unresolved, single)
    missing = np.sqrt(np.maximum(floor**2 - spread**2, 0.0))
    draws += missing[:, None] * rng.standard_normal(draws.shape)
    rounding = np.where(spread < unresolved, unresolved, 0.0)
    return Locations(value, np.maximum(spread, floor), draws, counts, rounding)
