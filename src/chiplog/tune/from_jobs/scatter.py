"""How much jobs differ, learned from all cells at once, since two jobs tell little of any one cell.

The variance of a cell's logarithm of the ratio between jobs is drawn from a scaled inverse chi-squared distribution,
whose scale and degrees of freedom are those that make the cells' logarithms of variances scatter as they do. Where all
cells scatter alike, a cell borrows much from the others; where few scatter far more than the rest, little. With the
posterior variance the mean over jobs follows Student's t with the degrees of both, which are at most those of all cells
together.

Source: G. K. Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3 (2004), article 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma, stdtr, stdtrit

from chiplog.tune.from_jobs.job import Floats
from chiplog.tune.measured.statistics import CandidateRatio

LEAST_LOG_DEGREES, MOST_LOG_DEGREES = -10.0, 20.0
"""Given: between e to these, degrees of freedom are looked for: beyond them the prior is nothing, or all."""


@dataclass(frozen=True)
class JobScatter:
    """What all cells say about the variance of each of them."""

    variance: float
    """Of a cell's logarithm of the ratio between jobs, as the prior has it."""
    degrees: float
    """Of freedom, of the prior; 0 where the cells tell nothing of each other."""
    all_degrees: float
    """Of all cells together: no cell has more."""

    def error_and_degrees(self, logs: Floats) -> tuple[float, float]:
        """Standard error of the mean of a cell's logarithms, and its degrees of freedom; infinite and 0 of one job."""
        between = logs.size - 1
        if between < 1:
            return math.inf, 0.0
        degrees = min(self.degrees + between, self.all_degrees)
        squares = between * float(np.var(logs, ddof=1))
        if math.isinf(self.degrees):
            variance = self.variance
        else:
            variance = (self.degrees * self.variance + squares) / (self.degrees + between)
        return math.sqrt(variance / logs.size), degrees

    def chance_of_slower(self, logs: Floats) -> float:
        """The p-value of being slower than the default: how likely a mean as low is where there is no difference."""
        error, degrees = self.error_and_degrees(logs)
        return float(stdtr(degrees, np.mean(logs) / error)) if degrees else 0.5

    def ratio(self, logs: Floats, risk: float) -> CandidateRatio:
        """The typical ratio of a job; `risk` is that of each end of its interval. Nothing bounds that of one job."""
        if not logs.size:
            return CandidateRatio.of_log(math.nan, launches=0)
        mean = float(np.mean(logs))
        error, degrees = self.error_and_degrees(logs)
        reach = -float(stdtrit(degrees, risk)) * error if degrees else math.inf
        return CandidateRatio.of_log(mean, mean - reach, mean + reach, launches=logs.size)


def scatter_of(cells: Iterable[Floats]) -> JobScatter | None:
    """What the cells' logarithms, each of shape (jobs,), say of each other; None where no cell has two that differ."""
    several = [logs for logs in cells if logs.size > 1]
    variances = np.array([np.var(logs, ddof=1) for logs in several])
    halves = np.array([(logs.size - 1) / 2 for logs in several])
    positive = variances[variances > 0]
    if not positive.size:
        return None
    all_degrees = 2 * float(halves.sum())
    if len(several) < 2:
        return JobScatter(float(variances[0]), 0.0, all_degrees)
    logs = np.log(np.maximum(variances, positive.min())) - digamma(halves) + np.log(halves)
    excess = float(np.var(logs, ddof=1) - np.mean(polygamma(1, halves)))
    degrees = 2 * _inverse_trigamma(excess)
    if math.isinf(degrees):
        return JobScatter(math.exp(float(np.mean(logs))), degrees, all_degrees)
    variance = math.exp(float(np.mean(logs) + digamma(degrees / 2)) - math.log(degrees / 2))
    return JobScatter(variance, degrees, all_degrees)


def _inverse_trigamma(value: float) -> float:
    """X with polygamma(1, x) = value, where that is between what is looked for; infinity of what is not positive."""

    def excess(log_x: float) -> float:
        return math.log(float(polygamma(1, math.exp(log_x)))) - math.log(value)

    if value <= 0 or excess(MOST_LOG_DEGREES) >= 0:
        return math.inf
    if excess(LEAST_LOG_DEGREES) <= 0:
        return math.exp(LEAST_LOG_DEGREES)
    return math.exp(float(brentq(excess, LEAST_LOG_DEGREES, MOST_LOG_DEGREES)))
