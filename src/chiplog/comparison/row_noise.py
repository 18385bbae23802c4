"""The noise of each row's log ratio: from its visits or launches, else from how neighbouring sizes scatter.

Two tables of one value a size have no repetition. But the log ratio of two runs over the sizes has no curve left, so
what neighbouring log ratios differ by, robustly, is the scatter of single values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from chiplog.comparison.points import Key, Rows
from chiplog.comparison.ranges import levels_of
from chiplog.statistics import BEYOND_DOUBT, MAD_TO_DEVIATION

Floats = NDArray[np.float64]

ERROR_RATE = 0.0025
"""Given: one-sided, of the whole, and as much of all rows together: half a percent for `slower`, and for `faster`."""
SHARED_FREEDOM = 10.0
"""Given: the other rows' variance counts for so many degrees of freedom at most, however alike the rows are. Visits
with fewer in all tell no noise."""
MIN_SCATTER = 1e-4
"""Given: a smaller relative scatter is rounding, and is raised to this."""
NEIGHBOURS = 12
"""Study (decision 0037): differences of neighbouring sizes that tell the scatter around a size."""


@dataclass(frozen=True)
class RowNoise:
    """Standard error and degrees of freedom of each row's log ratio."""

    errors: Mapping[Key, float]
    freedom: Mapping[Key, float]
    outlier: float | None = None
    """Log ratio by which a row of single values may be off; None where visits or launches tell the noise."""

    @property
    def is_repeated(self) -> bool:
        """Whether visits or launches tell it; else single values do, any of which may be an outlier."""
        return self.outlier is None

    def quantile(self, keys: Iterable[Key]) -> float:
        """Errors by which a level of these rows is off, at a rate for all rows together."""
        freedom = max(self.freedom[key] for key in keys)
        return float(stats.t.isf(ERROR_RATE / len(self.errors), freedom))

    def error_of(self, keys: Iterable[Key]) -> float:
        """The standard error of the weighted mean of these rows."""
        return math.sqrt(1.0 / sum(self.errors[key] ** -2 for key in keys))


def noise_of_visits(both: Sequence[Rows], common: Sequence[Key]) -> RowNoise | None:
    """The noise by how far the points of each row lie apart; None where a run hardly visited a row twice.

    What disturbed the machine for a moment, disturbed all samples of a visit, so these do not count. A row's variance
    is joined with what the rows have in common.
    """
    squares, freedom = {}, {}
    for key in common:
        visits = [np.array([point.log for point in rows[key]]) for rows in both]
        squares[key] = sum(float(np.var(logs)) * logs.size for logs in visits)
        freedom[key] = sum(logs.size - 1 for logs in visits)
    of_each_run = [sum(len(rows[key]) - 1 for key in common) for rows in both]
    if min(of_each_run) < SHARED_FREEDOM:
        return None
    known = [key for key in common if freedom[key]]
    variance, shared = _shared(
        np.array([squares[key] / freedom[key] for key in known]),
        np.array([freedom[key] for key in known]),
    )
    errors, degrees = {}, {}
    for key in common:
        degrees[key] = freedom[key] + shared
        joined = (squares[key] + shared * variance) / degrees[key]
        errors[key] = math.sqrt(joined * sum(1.0 / len(rows[key]) for rows in both))
    return RowNoise(errors, degrees)


def _shared(variances: Floats, freedom: Floats) -> tuple[float, float]:
    """The variance that the rows have in common, and for how many degrees of freedom it counts: few if they are unlike.

    The variances behind the rows' own are taken for scaled inverse chi-squared, with the freedom that the spread of the
    rows' logarithms leaves once chance is taken off.

    Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2.
    """
    halves = freedom / 2.0
    logs = np.log(np.maximum(variances, MIN_SCATTER**2)) - special.digamma(halves) + np.log(halves)
    spread = float(np.var(logs, ddof=1)) if logs.size > 1 else 0.0
    unlike = spread - float(np.mean(special.polygamma(1, halves)))
    half = SHARED_FREEDOM / 2.0
    if unlike > float(special.polygamma(1, half)):
        half = optimize.brentq(lambda x: special.polygamma(1, x) - unlike, 1e-6, half)
    variance = float(np.exp(np.mean(logs) + special.digamma(half) - np.log(half)))
    return variance, 2.0 * half


def noise_of_sizes(curves: Sequence[Mapping[Key, float]], outlier: float) -> RowNoise:
    """The noise by how far the log ratios of the sizes scatter; `curves` are the log ratios of each curve.

    First by what neighbours differ by, which tells the ranges of sizes that differ alike; then by what these leave. A
    single value is off by `outlier` at most.
    """
    steps = [dict(zip(curve, _steps(list(curve.values())), strict=True)) for curve in curves]
    most = math.sqrt(2.0) * outlier / BEYOND_DOUBT  # two values off by so much are outliers
    first = _local_scales(curves, steps, 1.0, most)
    levels = [levels_of(curve, first) for curve in curves]
    residuals = [
        {key: curve[key] - level.log_ratio for level in of_curve for key in level.members}
        for curve, of_curve in zip(curves, levels, strict=True)
    ]
    count = sum(map(len, residuals))
    freedom = max(count - sum(map(len, levels)), 1)
    errors = _local_scales(curves, residuals, math.sqrt(max(count, 1) / freedom), most)
    return RowNoise(errors, dict.fromkeys(errors, float(freedom)), outlier)


def _steps(logs: Sequence[float]) -> list[float]:
    """How far each value lies from the one before, as the deviation of one of them; the first's is the second's."""
    steps = (np.diff(logs) / math.sqrt(2.0)).tolist()
    return [*steps[:1], *steps] if steps else [0.0] * len(logs)


def _local_scales(
    curves: Sequence[Mapping[Key, float]],
    deviations: Sequence[Mapping[Key, float]],
    factor: float,
    most: float,
) -> dict[Key, float]:
    """The standard deviation around each row: of the nearest `NEIGHBOURS` deviations, but at least of all, by `factor`.

    It is `most` at most.
    """
    pooled = _scale(np.array([value for of_curve in deviations for value in of_curve.values()]))
    scales = {}
    for curve, of_curve in zip(curves, deviations, strict=True):
        values = np.array([of_curve[key] for key in curve if key in of_curve])
        before = 0
        for key in curve:
            begin = max(min(before - NEIGHBOURS // 2, values.size - NEIGHBOURS), 0)
            scale = factor * max(_scale(values[begin : begin + NEIGHBOURS]), pooled)
            scales[key] = min(scale, most)
            before += key in of_curve
    return scales


def _scale(deviations: Floats) -> float:
    """The standard deviation that these tell, each bounded at so many errors; at least the rounding."""
    if not deviations.size:
        return MIN_SCATTER
    sizes = np.abs(deviations)
    scale = max(MAD_TO_DEVIATION * float(np.median(sizes)), MIN_SCATTER)
    return max(float(np.sqrt(np.mean(np.minimum(sizes, BEYOND_DOUBT * scale) ** 2))), MIN_SCATTER)
