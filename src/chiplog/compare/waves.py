"""How far the records of a run wander in the order of time, by their slowest waves: the first cosine transforms.

Source: E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson, "HAR inference: recommendations for practice", Journal of
Business and Economic Statistics 36 (2018): the variance of a mean from the first cosine transforms, by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from chiplog.compare.points import Key, Rows, less_levels, weighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WAVES = 5
"""Cosines of one half turn to five over a run: what its records have of them tells how far their mean is off."""
SLOWEST = 2
FASTEST = 10
"""Where the waves up to the first have more than those up to the second by chance has, a run wanders as slowly as it is
long, and tells nothing of the next."""
SLOW_BY_CHANCE = 0.01
"""How often that is said of records that know nothing of each other."""
RECORDS_A_WAVE = 4
"""Runs with few records are held against fewer waves: the faster ones would take chance for all there is."""
LEAST_LEFT = 0.5
"""Of a wave that the levels of the rows follow, such as one that repeats with each visit, less is left to tell by."""
FEWEST_RECORDS = 8


def wander_of(powers: Sequence[NDArray[np.float64]], error_rate: float) -> float:
    """The half width by how far the records of each run wander in time; infinite with too few records to tell.

    Records that know nothing of each other have as much of one wave as of another, and their mean is as far off. What
    wanders slowly has more of the slow waves, and moves the mean further.
    """
    told = [one[:WAVES] for one in powers]
    if min(one.size for one in told) == 0:
        return math.inf
    of_means = sum(float(np.mean(one)) for one in told)
    return float(stats.t.isf(error_rate, sum(one.size for one in told))) * math.sqrt(of_means)


def wanders_slowly(powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the slowest waves have so much more than the others that a run says little of the next."""
    slow = np.concatenate([one[:SLOWEST] for one in powers])
    fast = np.concatenate([one[SLOWEST:] for one in powers])
    if not fast.size:
        return False
    by_chance = float(stats.f.isf(SLOW_BY_CHANCE, slow.size, fast.size))
    return bool(np.mean(slow) > np.mean(fast) * by_chance)


def powers_of(both: Sequence[Rows], weights: Mapping[Key, float], run: int) -> NDArray[np.float64]:
    """What a run's records have of each wave, slowest first, each as a variance of their mean.

    Empty where either run has too few records. Left out are waves that the levels of the rows follow: those that
    repeat with each visit.
    """
    fewest = min(sum(map(len, of_run.values())) for of_run in both)
    if fewest < FEWEST_RECORDS:
        return np.array([])
    points = less_levels(both)[run]
    logs = np.array(weighted(points, weights))
    found = []
    for wave in range(1, min(FASTEST, fewest // RECORDS_A_WAVE) + 1):
        left = _left_of(both, run, wave)
        if left >= LEAST_LEFT:
            found.append(float(logs @ _cosine(logs.size, wave)) ** 2 / left / logs.size)
    return np.array(found)


def _cosine(count: int, wave: int) -> NDArray[np.float64]:
    """`wave` half turns over `count` records, of length 1."""
    turns = (np.arange(count) + 0.5) / count
    return np.cos(np.pi * wave * turns) * math.sqrt(2.0 / count)


def _left_of(both: Sequence[Rows], run: int, wave: int) -> float:
    """What is left of a wave's square where the levels of the rows are taken off: 1 if the levels don't follow it."""
    places = sorted(one.place for points in both[run].values() for one in points)
    height = dict(zip(places, _cosine(len(places), wave), strict=True))
    as_waves = [
        {
            key: [
                replace(one, log=float(height[one.place]) if index == run else 0.0)
                for one in points
            ]
            for key, points in of_run.items()
        }
        for index, of_run in enumerate(both)
    ]
    return sum(one.log**2 for points in less_levels(as_waves) for one in points)
