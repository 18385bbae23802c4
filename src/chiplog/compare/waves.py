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
"""The number of cosines, of one to five half turns over a run, that tell how far the mean of its records is off."""
SLOWEST = 2
FASTEST = 10
"""Waves 1 to `SLOWEST` are held against those up to `FASTEST`. If they have more than chance allows, the run wanders as
slowly as it is long, and tells nothing of the next run."""
SLOW_BY_CHANCE = 0.01
"""How often that is said of independent records."""
RECORDS_A_WAVE = 4
"""A run has a wave for so many records at least, since fast waves in few records show only chance."""
LEAST_LEFT = 0.5
"""The least part of a wave that taking off each row's level must leave. Of one that repeats with each visit, it leaves
none, and the wave is not used."""
FEWEST_RECORDS = 8


def wander_of(powers: Sequence[NDArray[np.float64]], error_rate: float) -> float:
    """The half width of the difference of two runs' means, as log ratio; infinite with too few records to tell.

    `powers` are those of `powers_of`, one array a run; `error_rate` is one-sided. Independent records have equal power
    in all waves, and that is the variance of their mean. Slow drift has more power in the slow waves, and moves the
    mean further. Source: see the module.
    """
    told = [one[:WAVES] for one in powers]
    if min(one.size for one in told) == 0:
        return math.inf
    of_means = sum(float(np.mean(one)) for one in told)
    return float(stats.t.isf(error_rate, sum(one.size for one in told))) * math.sqrt(of_means)


def wanders_slowly(powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the slowest waves have so much more power than the others that a run says little of the next (F test)."""
    slow = np.concatenate([one[:SLOWEST] for one in powers])
    fast = np.concatenate([one[SLOWEST:] for one in powers])
    if not fast.size:
        return False
    by_chance = float(stats.f.isf(SLOW_BY_CHANCE, slow.size, fast.size))
    return bool(np.mean(slow) > np.mean(fast) * by_chance)


def powers_of(both: Sequence[Rows], weights: Mapping[Key, float], run: int) -> NDArray[np.float64]:
    """The power of each wave in the records of run number `run`, slowest first, shape (waves,).

    Each is an estimate of the variance of the records' mean, a squared log ratio. The array is empty where either run
    has too few records. Waves that repeat with each visit are left out, as the levels of the rows follow them.
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
