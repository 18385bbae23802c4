"""Whether a candidate is faster than the default: ratios within launches, and intervals over launches.

The launch is the random factor: where its ranks land, and what else runs then, moves all of its samples. Candidate and
default take turns within each launch, so what both share cancels in the ratio of their medians. The logarithms of these
ratios, one a launch, are independent. Two intervals are made of them: the t interval of their mean, which needs few
launches, and that of their median by order statistics, which a disturbed launch does not widen; the one with the lower
upper end counts. All intervals of one tuning hold together with 95 % confidence: the risk is divided by the number of
points and of looks at the data (Bonferroni), by two for the two kinds of intervals, and by two for both ends.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtrit

from chiplog.json_values import plain
from chiplog.tune.measured.launch import CandidateSamples

LOOKS = (4, 6, 9, 14, 24)
"""Given: confirming launches after which the data are looked at; what is sure, or hopeless, ends at the first look."""
LEAST_TO_DESPAIR = LOOKS[1]
"""Launches before their scatter is believed."""
RISK = 0.05
"""Given: of any wrong statement in one tuning."""
ENDS = 4
"""Derived: two ends of each of two kinds of intervals share the risk of a statement."""
LARGEST_LOG = math.log(sys.float_info.max)
MARGIN = 1.03
"""Given: a held-out size within a range of sizes may be slower by this factor at most."""


@dataclass(frozen=True)
class CandidateRatio:
    """Candidate's time over the default's, with its simultaneous 95 % interval."""

    value: float
    low: float
    high: float
    launches: int

    @classmethod
    def of_log(
        cls, log: float, low: float = -math.inf, high: float = math.inf, *, launches: int
    ) -> CandidateRatio:
        """From the logarithms of the ratio and of the ends of its interval; without ends nothing bounds it."""
        return cls(ratio_of(log), ratio_of(low), ratio_of(high), launches)


def ratio_to_json(ratio: CandidateRatio | None) -> dict[str, float | None]:
    """The ratio and its interval; null where nothing was measured, or nothing bounds it."""
    if ratio is None:
        return dict.fromkeys(("ratio", "ratio_low", "ratio_high"))
    numbers = {"ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high}
    return {name: plain(number) for name, number in numbers.items()}


def log_ratio(
    candidate: CandidateSamples, default: CandidateSamples, *more: CandidateSamples
) -> float | None:
    """Logarithm of the ratio of medians within one launch, in the mode that is worse for the candidate.

    Programs call an operation in any state of the network and of the other ranks. The greater of two ratios is at least
    as great as either on average, so what is sure of it is sure of both. None where no mode has samples of both.
    `more` are two more, of another launch, by whose ratio the first is multiplied.
    """
    factors = [candidate, default, *more]
    by_mode = [
        _logs_by_mode(above, below)
        for above, below in zip(factors[::2], factors[1::2], strict=True)
    ]
    modes = set.intersection(*(set(logs) for logs in by_mode))
    return max((sum(logs[mode] for logs in by_mode) for mode in modes), default=None)


def _logs_by_mode(above: CandidateSamples, below: CandidateSamples) -> dict[str, float]:
    medians = {
        mode: (float(np.median(seconds)), float(np.median(below.by_mode[mode])))
        for mode, seconds in above.by_mode.items()
        if seconds.size and mode in below.by_mode and below.by_mode[mode].size
    }
    return {
        mode: math.log(high / low) for mode, (high, low) in medians.items() if high > 0 and low > 0
    }


def ratio_over_launches(logs: Sequence[float], statements: int) -> CandidateRatio:
    """The typical ratio of a launch, with an interval that holds for all `statements` together.

    `statements` is the number of points times that of looks. Without two launches nothing bounds it.
    """
    if not logs:
        return CandidateRatio.of_log(math.nan, launches=0)
    each = RISK / (ENDS * max(1, statements))
    by_mean, by_median = mean_interval(logs, each), _of_median(logs, each)
    surer = by_mean if by_mean[2] <= by_median[2] else by_median
    return CandidateRatio.of_log(*surer, launches=len(logs))


def mean_interval(values: ArrayLike, risk: float) -> tuple[float, float, float]:
    """Mean, low and high of the t interval; `risk` is that of each end. Nothing bounds the mean of a single value."""
    array = np.asarray(values, dtype=np.float64)
    mean = float(np.mean(array))
    if array.size < 2:
        return mean, -math.inf, math.inf
    error = float(np.std(array, ddof=1)) / math.sqrt(array.size)
    reach = -float(stdtrit(array.size - 1, risk)) * error
    return mean, mean - reach, mean + reach


def _of_median(logs: Sequence[float], risk: float) -> tuple[float, float, float]:
    """Median, low and high by order statistics: beyond an end lie so few launches that chance makes fewer rarely."""
    ordered = sorted(logs)
    beyond = -1
    while bdtr(beyond + 1, len(ordered), 0.5) <= risk:
        beyond += 1
    median = float(np.median(ordered))
    if beyond < 0:
        return median, -math.inf, math.inf
    return median, ordered[beyond], ordered[-1 - beyond]


def ratio_of(log: float) -> float:
    """The ratio of a logarithm; infinite where it is too large for a float."""
    return math.inf if log >= LARGEST_LOG else math.exp(log)


def is_hopeless(logs: Sequence[float], limit: float, statements: int) -> bool:
    """Whether more launches are not worth their time.

    They are not where the middle one is not below the limit, or where launches that go on scattering as much as these
    would leave the interval's end above it at the last look.
    """
    if not logs or float(np.median(logs)) >= math.log(limit):
        return True
    each = RISK / (ENDS * max(1, statements))
    scatter = float(np.std(logs, ddof=1)) if len(logs) > 1 else 0.0
    reach = -float(stdtrit(LOOKS[-1] - 1, each)) * scatter / math.sqrt(LOOKS[-1])
    by_mean = float(np.mean(logs)) + reach
    return by_mean >= math.log(limit) and len(logs) >= LEAST_TO_DESPAIR
