"""Centres, scales and sums over groups that a few wild values don't move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from chiplog.machine_survey.settings import SETTINGS
from chiplog.statistics import MAD_TO_DEVIATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]
    FloatArray = NDArray[np.float64]

TUKEY_CUT = 4.685
"""Derived: standard deviations beyond which a value has no weight: 95 % efficient with normal noise."""
_BIWEIGHT_CUT = 9.0
"""Given: median absolute deviations beyond which a value has no weight, as in the source of `scale`."""
_FEW = 5
"""Given: values from which most of them can be told from a few wild ones."""


def mad(values: FloatArray) -> float:
    """Returns the standard deviation by the median absolute deviation from the median; 0 without values."""
    if not values.size:
        return 0.0
    return MAD_TO_DEVIATION * float(np.median(np.abs(values - np.median(values))))


def scale(values: FloatArray) -> float:
    """Returns the standard deviation of most values (biweight midvariance; of fewer than 5, that of all); 0 of one.

    Source: Mosteller and Tukey, Data Analysis and Regression, 1977, section 10.
    """
    if values.size < _FEW:
        return float(values.std(ddof=1)) if values.size > 1 else 0.0
    deviations = values - np.median(values)
    width = float(np.median(np.abs(deviations)))
    if width == 0:
        return 0.0
    squares = (deviations / (_BIWEIGHT_CUT * width)) ** 2
    inside = squares < 1
    # Derived: powers of the weight function (1 - u²)², and its derivative.
    above = np.sum(deviations[inside] ** 2 * (1 - squares[inside]) ** 4)
    # Derived: likewise.
    below = float(np.sum((1 - squares[inside]) * (1 - 5 * squares[inside])))
    count = values.size
    return float(np.sqrt(count * count / (count - 1) * above)) / abs(below)


def spread_of_controls(values: FloatArray) -> tuple[float, float]:
    """Returns the standard deviation of healthy values and its degrees of freedom, with which t quantiles are right.

    Of fewer than 15 values it is the plain one: one wild control then costs power, and no confidence.
    """
    if values.size >= SETTINGS.enough_for_scale:
        return scale(values), degrees_of_freedom(values.size)
    sigma = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return sigma, max(1.0, values.size - 1.0)


def shared_ends(values: IntArray, other: IntArray) -> tuple[float, float]:
    """Returns by how much pairs that share nodes spread more than they seem to, and the share of independent ones.

    As if only nodes differed, which each of their pairs shows: the first is a factor of the standard deviation, the
    second one of the degrees of freedom, by Satterthwaite. Both are 1 of disjoint pairs. `one` and `other` (m,), m > 1,
    are the ends.
    """
    _, place = np.unique(np.stack((values, other)), return_inverse=True)
    ends = np.zeros((values.size, int(place.max()) + 1))
    for side in place.reshape(2, -1):
        ends[np.arange(values.size), side] = 1.0
    centred = ends - ends.mean(axis=0)
    common = centred.T @ centred
    total, plain = float(np.trace(common)), values.size - 1
    freedom = total**2 / float(np.sum(common**2))
    return float(np.sqrt(2 * plain / total)), min(1.0, freedom / plain)


def degrees_of_freedom(count: int) -> float:
    """Returns the degrees of freedom of `scale` over that many values."""
    return max(1.0, SETTINGS.scale_efficiency * (count - 1))


def upper_quantile(probability: float, freedom: float) -> float:
    """Returns what Student's t with `freedom` degrees of freedom (infinity: normal) exceeds with this probability."""
    return float(-ndtri(probability) if np.isinf(freedom) else -stdtrit(freedom, probability))


def mean_excess(values: FloatArray) -> tuple[float, int]:
    """Returns by how much those values that are above the median exceed it, on average, and how many these are."""
    above = values - np.median(values)
    above = above[above > 0]
    return (float(above.mean()), above.size) if above.size else (0.0, 1)


def excess_quantile(probability: float, count: int) -> float:
    """Returns what an excess over the median exceeds with this probability at most, in means of `count` excesses.

    That holds where the density above the median is log-concave, as those of the normal, the exponential and of minima
    of one-sided noise are: then no tail is longer than the exponential one with the same mean excess. The ratio of an
    exponential value to the mean of `count` others exceeds q with probability (1 + q / count) ** -count.
    """
    return float(count * np.expm1(-np.log(min(1.0, 2 * probability)) / count))


def tukey_weights(standardized: FloatArray) -> FloatArray:
    """Returns weights between 1, in the middle, and 0, beyond TUKEY_CUT."""
    squares = np.minimum((standardized / TUKEY_CUT) ** 2, 1.0)
    return np.asarray((1 - squares) ** 2)


def group_means(
    values: FloatArray, groups: IntArray, count: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns (count,) weighted mean of each group, 0 where it has no weight, and (count,) sum of its weights."""
    total = np.bincount(groups, weights, count).astype(np.float64)
    sums = np.bincount(groups, weights * values, count)
    return np.divide(sums, total, out=np.zeros(count), where=total > 0), total


def group_medians(values: FloatArray, groups: IntArray, count: int) -> FloatArray:
    """Returns (count,) median of each group; NaN of an empty one."""
    return group_order_statistics(values, groups, count, 0.5)


def group_order_statistics(
    values: FloatArray, groups: IntArray, count: int, share: float
) -> FloatArray:
    """Returns (count,) the value of each group that `share` of its values lie below; NaN of an empty group.

    It is the mean of the two neighbours where the place falls between two of them.
    """
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups, minlength=count)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    place = share * (sizes - 1)
    filled = sizes > 0
    result = np.full(count, np.nan)
    if filled.any():
        sorted_values = values[order]
        low = starts[filled] + np.floor(place[filled]).astype(np.int64)
        high = starts[filled] + np.ceil(place[filled]).astype(np.int64)
        result[filled] = (sorted_values[low] + sorted_values[high]) / 2
    return result
