"""The last sizes of a series, where they are too few to be a line and no line of the sizes before them explains them.

A protocol or a bend may begin there. Neither can be told from so few sizes, so the series ends in doubt: nothing is
called a change, and nothing is called none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from chiplog._native import Segmenter
from chiplog.fit.changes.detect.segments import LEAST_SIZES, LIMITS, PARAMETERS, Lines
from chiplog.fit.changes.detect.thresholds import THRESHOLDS
from chiplog.fit.changes.result import UnexplainedEnd

Floats = NDArray[np.float64]


def unexplained_end(lines: Lines) -> UnexplainedEnd | None:
    """The end that the line before it misses by more than noise, and by `suspect_jump` or more; None without one."""
    size = lines.size.size
    strongest, found = 1.0, None
    possible = [at for at in range(LEAST_SIZES, size) if not lines.segmenter.admissible(at, size)]
    for at in possible:
        if any(at <= step for step in lines.steps):
            continue  # a change is found there
        strength, relative = _missed(lines, at, len(possible))
        if strength > strongest and abs(relative) >= THRESHOLDS.suspect_jump:
            strongest = strength
            found = UnexplainedEnd(
                last_explained_bytes=int(lines.size[at - 1]),
                first_bytes=int(lines.size[at]),
                relative=relative,
            )
    return found


def _missed(lines: Lines, at: int, possible: int) -> tuple[float, float]:
    """How far the line before `at` misses the sizes from there on: over what noise explains, and of the first size.

    The noise is that of the lines that the sizes before `at` fall into, each at least as long as a line must be.
    """
    size, seconds, weight = lines.size[:at], lines.seconds[:at], lines.weight[:at]
    segmenter = Segmenter(size, seconds, weight, LIMITS)
    ways = segmenter.solve(THRESHOLDS.most_lines)
    freedoms = [max(at + 1 - PARAMETERS * len(way[1]), 2) for way in ways]
    noises = [
        max(cost / free, THRESHOLDS.least_noise)
        for (cost, _), free in zip(ways, freedoms, strict=True)
    ]
    noise = min(noises)
    costs = [cost / noise + THRESHOLDS.penalty * len(begins) for cost, begins in ways]
    best = int(np.argmin(costs))
    noise, freedom = max(noises[best], lines.noise), freedoms[best]
    begin = ways[best][1][-1]
    intercept, slope = segmenter.line(begin, at)
    expected = intercept + slope * lines.size[at:]
    root = np.sqrt(weight[begin:])
    design = np.stack([root, size[begin:] * root], axis=1)
    inverse = np.linalg.pinv(design.T @ design)
    root_beyond = np.sqrt(lines.weight[at:])
    beyond = np.stack([root_beyond, lines.size[at:] * root_beyond], axis=1)
    off = (lines.seconds[at:] - expected) * root_beyond
    spread = np.eye(off.size) + beyond @ inverse @ beyond.T
    statistic = float(off @ np.linalg.solve(spread, off)) / off.size / noise
    critical = float(fdtri(off.size, freedom, 1.0 - THRESHOLDS.false_share / possible))
    return statistic / critical, float(lines.seconds[at] / expected[0] - 1.0)
