"""The 95 % interval of each measured value: the one place that decides whether there is one, and where it ends.

An interval needs samples. Both ends of n samples hold the median with the probability 1 - 2 (1/2)^n, so with fewer than
`FEWEST_SAMPLES` no interval of the median reaches 95 %, whatever they are distributed like.

The ends come from bootstrap replicates. Times are positive, so the deviations of a time are taken to a logarithmic
scale by the inverse hyperbolic sine: ends that are near the value stay as they are, and no end is negative. A
difference of two times may be anything above 0 for all that noisy samples tell, so its interval is cut at 0. The
interval of a median is never narrower than that of the order statistics of all its samples, which holds for any
distribution, as for two modes.

Sources: H. A. David, H. N. Nagaraja, "Order statistics", 3rd ed., 2003, section 7.1; R. G. Newcombe, "Logit confidence
intervals and the inverse sinh transformation", Am. Stat. 55 (2001).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrik, ndtri, stdtrit

from chiplog.statistics import FEWEST_SAMPLES, TAILS

if TYPE_CHECKING:
    from chiplog.fitting.quantities.quantity import Quantity


def intervals(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The intervals that a further replicate would lie in with 95 % probability: lower and upper ends, shape (2, ...).

    Of B replicates along the last axis the p-quantile is the one at place p (B + 1), Weibull's: between the usual
    quantiles of 100 of them one more lies with 93 % only.
    """
    return np.asarray(np.quantile(draws, TAILS, axis=-1, method="weibull"))


def student_factor(freedom: int) -> float:
    """By which factor Student's t of so many degrees of freedom makes a 95 % interval wider than the normal one's."""
    return float(stdtrit(freedom, TAILS[1]) / ndtri(TAILS[1])) if freedom > 0 else 1.0


def order_statistics(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The distribution-free 95 % interval of the median of `samples`, shape (n,); NaN below `FEWEST_SAMPLES`.

    The r-th smallest and the r-th largest sample, for the largest r that leaves out the median in 5 % of cases at most.
    """
    count = samples.size
    if count < FEWEST_SAMPLES:
        return math.nan, math.nan
    rank = int(bdtrik(TAILS[0], count, 0.5))
    while bdtr(rank, count, 0.5) > TAILS[0]:
        rank -= 1
    ordered = np.sort(samples)
    return float(ordered[rank]), float(ordered[count - 1 - rank])


def value_intervals(quantity: Quantity) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper ends in seconds of the interval of each value, shape (sizes,); NaN where there is none.

    No end is negative, and the value lies within. Source: see the module.
    """
    value = quantity.value
    if not value.size:
        return np.empty(0), np.empty(0)
    low, high = intervals(quantity.draws)
    if quantity.is_difference:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    else:
        low, high = _positive(value, low), _positive(value, high)
    if quantity.order_statistics is not None:
        low, high = (
            np.fmin(low, quantity.order_statistics[0]),
            np.fmax(high, quantity.order_statistics[1]),
        )
    unknown = quantity.samples < FEWEST_SAMPLES
    return (
        np.where(unknown, np.nan, np.minimum(low, np.maximum(value, 0.0))),
        np.where(unknown, np.nan, np.maximum(high, value)),
    )


def _positive(value: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """The end of an interval with its distance from the value, as a share of this, on a logarithmic scale."""
    share = np.divide(end - value, value, out=np.zeros_like(value), where=value > 0.0)
    return np.asarray(value * np.exp(np.arcsinh(share)))
