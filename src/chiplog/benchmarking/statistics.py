"""Medians over launches, with intervals; and the ratio of two, with a verdict.

A launch is a random factor: where its ranks land moves all of its samples. So the bootstrap draws launches first, then
samples within each, and a median is the median of the launches' medians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.parameters import interval
from chiplog.statistics import NO_DIFFERENCE

DRAWS = 1000
"""Given: of launches and samples. The ends of an interval are known well enough then."""
SCATTER = 0.1
"""Given: where half of the launches' ratios are this share of their median off it or more, they tell no verdict."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MedianEstimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """Of medians, with a verdict about what is above: `faster`, `slower`, `same` or `unclear`."""

    estimate: MedianEstimate
    verdict: str
    reason: str = ""
    """Why the verdict is `unclear`, as a clause; empty where it is another."""


def median(launches: Sequence[Array], seed: int = 0) -> MedianEstimate:
    """Of samples, shape (samples,) for each launch."""
    return _estimate(_medians(launches, np.random.default_rng(seed)))


def ratio(above: Sequence[Array], below: Sequence[Array], seed: int = 0) -> Ratio:
    """Of the medians of the same launches: each launch's own ratio, and the median of these."""
    rng = np.random.default_rng(seed)
    launches = _drawn_launches(len(above), rng)
    pairs = [
        _launch_medians(a, rng) / _launch_medians(b, rng) for a, b in zip(above, below, strict=True)
    ]
    estimate = _estimate(_over_launches(pairs, launches))
    if scatter := _scatter_text(np.array([pair[0] for pair in pairs])):
        return Ratio(estimate, "unclear", scatter)
    verdict = _verdict(estimate)
    return Ratio(estimate, verdict, WIDE if verdict == "unclear" else "")


def _medians(launches: Sequence[Array], rng: np.random.Generator) -> Array:
    chosen = _drawn_launches(len(launches), rng)
    return _over_launches([_launch_medians(launch, rng) for launch in launches], chosen)


def _drawn_launches(count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Which launches each draw takes, shape (1 + DRAWS, count); the first row takes each once."""
    drawn = rng.integers(0, count, size=(DRAWS, count))
    return np.vstack([np.arange(count), drawn])


def _launch_medians(samples: Array, rng: np.random.Generator) -> Array:
    """The launch's own median, then those of its draws, shape (1 + DRAWS,)."""
    drawn = rng.choice(samples, size=(DRAWS, samples.size))
    return np.concatenate(([np.median(samples)], np.median(drawn, axis=1)))


def _over_launches(by_launch: Sequence[Array], chosen: NDArray[np.intp]) -> Array:
    table = np.stack(by_launch)
    medians: Array = np.median(table[chosen, np.arange(1 + DRAWS)[:, np.newaxis]], axis=1)
    return medians


def _estimate(medians: Array) -> MedianEstimate:
    value = float(medians[0])
    low, high = interval(medians[1:])
    return MedianEstimate(value, min(low, value), max(high, value))


WIDE = "the interval holds both a difference and none; take more --launches or --samples"


def _scatter_text(ratios: Array) -> str:
    """Says that launches differ too much for a verdict; empty where they do not."""
    middle = float(np.median(ratios))
    scatter = float(np.median(np.abs(ratios - middle))) / middle if middle > 0.0 else math.inf
    if scatter < SCATTER:
        return ""
    off = f"{100.0 * scatter:.0f} %" if math.isfinite(scatter) else "all"
    return (
        f"half of the launches are off their median by {off} or more; measure again when the machine is idle, with "
        "more --launches"
    )


def _verdict(estimate: MedianEstimate) -> str:
    if estimate.high < 1 and estimate.value <= 1 - NO_DIFFERENCE:
        return "faster"
    if estimate.low > 1 and estimate.value >= 1 + NO_DIFFERENCE:
        return "slower"
    if 1 - NO_DIFFERENCE <= estimate.low and estimate.high <= 1 + NO_DIFFERENCE:
        return "same"
    return "unclear"
