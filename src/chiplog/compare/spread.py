"""How far the visits or launches of each row lie apart, and by how much its ratio is off by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from chiplog.compare.points import Key, Rows

ERROR_RATE = 0.0025
"""One-sided, of the whole, and as much of all single rows together: half a percent for `slower`, and for `faster`."""
SHARED_FREEDOM = 10.0
"""The other rows' variance counts for so many degrees of freedom at most, however alike the rows are."""
LEAST_SPREAD = 1e-4
"""As logarithm: a smaller spread of the visits is rounding, and is raised to this."""
TELLS_NOTHING = math.log(1000.0)
"""As logarithm: a larger half width is as good as infinite."""


def half_widths(both: Sequence[Rows], common: Sequence[Key]) -> dict[Key, float]:
    """The half width of each row's log ratio, from how far its visits or launches lie apart.

    The error rate holds for all rows together.

    Infinite where a run hardly visited a row twice: what disturbed the machine for a moment, disturbed all samples of a
    visit, and nothing in the run tells that from a change.
    """
    squares, freedom = {}, {}
    for key in common:
        visits = [np.array([one.log for one in of_run[key]]) for of_run in both]
        squares[key] = sum(float(np.var(one)) * one.size for one in visits)
        freedom[key] = sum(one.size - 1 for one in visits)
    of_each_run = [sum(len(of_run[key]) - 1 for key in common) for of_run in both]
    if min(of_each_run) < SHARED_FREEDOM:
        return dict.fromkeys(common, math.inf)
    shared = _shared(
        [(squares[key] / freedom[key], freedom[key]) for key in common if freedom[key]]
    )
    found = {}
    for key in common:
        degrees = freedom[key] + shared.freedom
        spread = (squares[key] + shared.freedom * shared.variance) / degrees
        of_mean = math.sqrt(spread * sum(1.0 / len(of_run[key]) for of_run in both))
        quantile = float(stats.t.isf(ERROR_RATE / len(common), degrees))
        half_width = quantile * of_mean
        found[key] = half_width if half_width < TELLS_NOTHING else math.inf
    return found


@dataclass(frozen=True)
class _Shared:
    """The variance that a row's own is joined with, and how many degrees of freedom that counts for."""

    variance: float
    freedom: float


def _shared(of_rows: Sequence[tuple[float, int]]) -> _Shared:
    """What the rows have in common, from each one's variance and degrees of freedom: little if they are unlike.

    The variances behind the rows' own are taken for scaled inverse chi-squared, with the freedom that the spread of the
    rows' logarithms leaves once chance is taken off.

    Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2.
    """
    variances, freedom = np.array(of_rows).T
    halves = freedom / 2.0
    logs = np.log(np.maximum(variances, LEAST_SPREAD**2)) - special.digamma(halves) + np.log(halves)
    spread = float(np.var(logs, ddof=1)) if logs.size > 1 else 0.0
    unlike = spread - float(np.mean(special.polygamma(1, halves)))
    half = SHARED_FREEDOM / 2.0
    if unlike > float(special.polygamma(1, half)):
        half = optimize.brentq(lambda one: special.polygamma(1, one) - unlike, 1e-6, half)
    variance = float(np.exp(np.mean(logs) + special.digamma(half) - np.log(half)))
    return _Shared(variance, 2.0 * half)


def student(groups: Sequence[Sequence[float]], error_rate: float) -> float:
    """The half width of the difference of two groups' means, by Student's t; each group has two values or more."""
    freedom = sum(len(one) - 1 for one in groups)
    spread = sum(float(np.var(one)) * len(one) for one in groups) / freedom
    of_mean = math.sqrt(spread * sum(1.0 / len(one) for one in groups))
    return float(stats.t.ppf(1.0 - error_rate, freedom)) * of_mean
