"""Ranges of sizes over which two runs differ alike: the levels of their log ratio over the sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.comparison.points import Key
from chiplog.statistics import BEYOND_DOUBT

Floats = NDArray[np.float64]

MIN_SIZES = 3
"""Given: sizes of a range. One or two that lie apart may be outliers; a change is what its neighbours follow."""


@dataclass(frozen=True)
class Level:
    """The log ratio that the rows of a range share."""

    log_ratio: float
    keys: tuple[Key, ...]
    """The rows that follow it."""
    members: tuple[Key, ...]
    """These and the outliers between them."""


def levels_of(curve: Mapping[Key, float], errors: Mapping[Key, float]) -> list[Level]:
    """The ranges of a curve of log ratios, in order: those with the least misfit.

    Each further range must lower the sum of squares, each bounded at `BEYOND_DOUBT`, by the modified Bayesian
    information criterion.

    Source: N. R. Zhang, D. O. Siegmund, Biometrics 63 (2007): three times the logarithm of the number of values.
    """
    keys = tuple(curve)
    logs, error = np.array([curve[key] for key in keys]), np.array([errors[key] for key in keys])
    misfit = np.minimum(np.abs(logs[:, None] - logs[None, :]) / error[:, None], BEYOND_DOUBT) ** 2
    levels = []
    # Derived: three times the logarithm of the number of values, by the source.
    for begin, end, place in _segments(misfit, 3.0 * math.log(len(keys))):
        members = np.arange(begin, end)
        follows = members[misfit[members, place] < BEYOND_DOUBT**2]
        if follows.size >= MIN_SIZES:
            level = float(np.average(logs[follows], weights=error[follows] ** -2.0))
            of_range = (tuple(keys[number] for number in numbers) for numbers in (follows, members))
            levels.append(Level(level, *of_range))
    return levels


def _segments(misfit: Floats, penalty: float) -> list[tuple[int, int, int]]:
    """Begin, end and the number of the level of each segment, by the least misfit plus `penalty` a segment.

    `misfit` has shape (values, levels). For each level, the best begin so far is kept: exact, in one pass.
    """
    count = len(misfit)
    sums = np.vstack([np.zeros(misfit.shape[1]), np.cumsum(misfit, axis=0)])
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    came_from: list[tuple[int, int]] = [(0, 0)] * (count + 1)
    least = np.full(misfit.shape[1], np.inf)
    begins = np.zeros(misfit.shape[1], dtype=np.int64)
    for end in range(1, count + 1):
        begin = end - 1
        is_better = best[begin] - sums[begin] < least
        least = np.where(is_better, best[begin] - sums[begin], least)
        begins[is_better] = begin
        total = least + sums[end] + penalty
        level = int(np.argmin(total))
        best[end], came_from[end] = total[level], (int(begins[level]), level)
    segments = []
    end = count
    while end > 0:
        begin, level = came_from[end]
        segments.append((begin, end, level))
        end = begin
    return segments[::-1]
