"""How far the records of a run drift in the order of time, by their slowest waves: the first cosine transforms.

Source: E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson, "HAR inference: recommendations for practice", Journal of
Business and Economic Statistics 36 (2018): the variance of a mean from the first cosine transforms, by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from chiplog.comparison.points import Key, Rows, less_levels, weighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WAVES = 5
"""Study (decision 0037): the number of cosines, of one to five half turns over a run, that tell how far the mean of its
records is off."""
SLOWEST = 2
"""Study (decision 0037): waves that are held against the others. If they have more than chance allows, the run drifts
as slowly as it is long, and tells little of the next run."""
SLOW_BY_CHANCE = 0.01
"""Given: how often that is said of independent records."""
RECORDS_A_WAVE = 4
"""Given: a run has a wave for so many records at least, since fast waves in few records show only chance."""
MIN_LEFT = 0.5
"""Given: the least part of a wave that taking off each row's level must leave. Of one that repeats with each visit, it
leaves none, and the wave is not used."""


def drift_of(powers: Sequence[NDArray[np.float64]], error_rate: float) -> float:
    """The half width of the difference of two runs' means, as log ratio; infinite with too few records to tell.

    `powers` are those of `powers_of`, one array a run; `error_rate` is one-sided. Independent records have equal power
    in all waves, and that is the variance of their mean. Slow drift has more power in the slow waves, and moves the
    mean further. Source: see the module.
    """
    slow = [of_run[:WAVES] for of_run in powers]
    if min(of_run.size for of_run in slow) == 0:
        return math.inf
    of_means = sum(float(np.mean(of_run)) for of_run in slow)
    freedom = sum(of_run.size for of_run in slow)
    return float(stats.t.isf(error_rate, freedom)) * math.sqrt(of_means)


def drifts_slowly(powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the slowest waves have so much more power than the others that a run says little of the next (F test)."""
    slow = np.concatenate([of_run[:SLOWEST] for of_run in powers])
    fast = np.concatenate([of_run[SLOWEST:] for of_run in powers])
    if not fast.size:
        return False
    by_chance = float(stats.f.isf(SLOW_BY_CHANCE, slow.size, fast.size))
    return bool(np.mean(slow) > np.mean(fast) * by_chance)


def powers_of(
    both: Sequence[Rows],
    weights: Mapping[Key, float],
    range_of: Mapping[Key, Hashable],
    run: int,
) -> NDArray[np.float64]:
    """The power of each wave in the records of run number `run`, slowest first, shape (waves,).

    Each is an estimate of the variance of the records' mean, a squared log ratio. The array is empty where either run
    has too few records. Waves that repeat with each visit are left out, as the levels of the rows follow them.
    """
    fewest = min(sum(map(len, rows.values())) for rows in both)
    count = min(2 * WAVES, fewest // RECORDS_A_WAVE)
    if count < SLOWEST:
        return np.array([])
    points = less_levels(both, range_of)[run]
    logs = np.array(weighted(points, weights))
    powers = []
    for wave in range(1, count + 1):
        share_left = _left_of(both, range_of, run, wave)
        if share_left >= MIN_LEFT:
            powers.append(float(logs @ _cosine(logs.size, wave)) ** 2 / share_left / logs.size)
    return np.array(powers)


def _cosine(count: int, wave: int) -> NDArray[np.float64]:
    """`wave` half turns over `count` records, of length 1."""
    turns = (np.arange(count) + 0.5) / count
    return np.cos(np.pi * wave * turns) * math.sqrt(2.0 / count)


def _left_of(both: Sequence[Rows], range_of: Mapping[Key, Hashable], run: int, wave: int) -> float:
    """What is left of a wave's square where the levels of the rows are taken off: 1 if the levels don't follow it."""
    places = sorted(point.place for points in both[run].values() for point in points)
    height = dict(zip(places, _cosine(len(places), wave).tolist(), strict=True))
    as_waves = [
        {
            key: [
                replace(point, log=height[point.place] if index == run else 0.0) for point in points
            ]
            for key, points in rows.items()
        }
        for index, rows in enumerate(both)
    ]
    return sum(point.log**2 for points in less_levels(as_waves, range_of) for point in points)
