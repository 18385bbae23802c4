"""proto"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scipy.special import fdtri
from chiplog._native import Limits, Segmenter
from chiplog.fit.changes.detect.line import Line
from chiplog.fit.changes.detect.noise import standard_errors
from chiplog.fit.changes.detect.observed import Observed, Point
from chiplog.fit.changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]
LIMITS = Limits(min_bytes=1, min_points=5, min_factor=1.5, min_points_sparse=2, min_factor_sparse=2.0)


@dataclass(frozen=True)
class Break:
    begin: int
    at: int
    end: int
    before: Line
    after: Line
    last_before_bytes: int
    first_after_bytes: int
    relative_jump: float
    kink_strength: float
    slope_change: float
    strength: float

    @property
    def jumps(self) -> bool:
        return abs(self.relative_jump) >= THRESHOLDS.least_jump and self.kink_strength >= 1.0

    @property
    def bends(self) -> bool:
        return self.slope_change >= 0.1

    @property
    def kind(self) -> str:
        if self.jumps:
            return "both" if self.bends else "jump"
        return "slope"

    @property
    def sharp(self) -> bool:
        return self.jumps

    @property
    def sharpness(self) -> float:
        return 2.0 if self.jumps else 1.0


@dataclass(frozen=True)
class View:
    observed: Observed
    size: Floats
    seconds: Floats
    weight: Floats
    segmenter: Segmenter
    noise: float
    critical: float = 1.0

    @classmethod
    def of(cls, observed: Observed) -> View | None:
        kept = [k for k, seconds in enumerate(observed.seconds) if seconds > 0.0]
        if len(kept) < 6:
            return None
        usable = replace(observed, points=tuple(observed.points[k] for k in kept))
        size = usable.message_bytes.astype(np.float64)
        error = standard_errors(usable)
        weight = 1.0 / ((THRESHOLDS.resolution * usable.seconds) ** 2 + error**2)
        segmenter = Segmenter(size, usable.seconds, weight, LIMITS)
        return cls(usable, size, usable.seconds, weight, segmenter, 0.0)


def find_breaks(observed: Observed, random: np.random.Generator) -> tuple[Break, ...]:
    view = View.of(observed)
    if view is None:
        return ()
    n = len(view.segmenter)
    solutions = view.segmenter.solve(THRESHOLDS.max_segments + 1)
    noise = THRESHOLDS.least_noise
    est = []
    for k, (cost, _) in enumerate(solutions, start=1):
        freedom = n - 3 * k + 1
        if freedom >= max(5, THRESHOLDS.least_freedom_share * n):
            est.append(cost / freedom)
    noise = max(noise, min(est) if est else solutions[0][0] / max(n - 2, 1))
    view = replace(view, noise=noise)
    penalty = THRESHOLDS.break_penalty
    cost, begins = min(solutions, key=lambda s: s[0] / noise + penalty * len(s[1]))
    edges = [*begins, n]
    freedom = max(n - 3 * len(begins) + 1, 3)
    view = replace(view, noise=max(noise, cost / freedom), critical=float(fdtri(1, freedom, 1.0 - THRESHOLDS.significance)))
    return tuple(_measure(view, b, a, e) for b, a, e in zip(edges, edges[1:], edges[2:], strict=False))


def _measure(view: View, begin: int, at: int, end: int) -> Break:
    segmenter = view.segmenter
    before, after = Line(*segmenter.line(begin, at)), Line(*segmenter.line(at, end))
    cost_two = segmenter.cost(begin, at) + segmenter.cost(at, end)
    cost_one = segmenter.cost(begin, end)
    middle = float(np.sqrt(view.size[at - 1] * view.size[at]))
    low, high = float(before(middle)), float(after(middle))
    tiny = np.finfo(np.float64).tiny
    steepest = max(before.slope_seconds_per_byte, after.slope_seconds_per_byte, tiny)
    return Break(
        begin=begin, at=at, end=end, before=before, after=after,
        last_before_bytes=int(view.size[at - 1]), first_after_bytes=int(view.size[at]),
        relative_jump=(high - low) / max(low, tiny),
        kink_strength=(_kink_cost(view, begin, at, end) - cost_two) / view.noise / view.critical,
        slope_change=abs(after.slope_seconds_per_byte - before.slope_seconds_per_byte) / steepest,
        strength=(cost_one - cost_two) / view.noise / THRESHOLDS.break_penalty,
    )


def _kink_cost(view: View, begin: int, at: int, end: int) -> float:
    """Lowest cost of two lines that meet at a size next to the break, or between those sizes."""
    KNOTS = THRESHOLDS.kink_places
    first, last = view.size[max(at - 2, begin)], view.size[min(at + 1, end - 1)]
    before, after = view.segmenter.line(begin, at), view.segmenter.line(at, end)
    crossing = Line(*before).crossing_bytes(Line(*after))
    knots = np.append(np.geomspace(first, last, KNOTS), np.clip(crossing or first, first, last))[:, None]
    size = view.size[begin:end]
    root = np.sqrt(view.weight[begin:end])
    flat = np.broadcast_to(root, (KNOTS + 1, size.size))
    columns = [flat, np.minimum(size, knots) / last * root, np.maximum(size - knots, 0.0) / last * root]
    basis = np.stack(columns, axis=2)
    target = view.seconds[begin:end] * root
    orthonormal = np.linalg.qr(basis).Q
    explained = np.einsum("knc,n->kc", orthonormal, target)
    return float(np.min(np.sum((target - np.einsum("knc,kc->kn", orthonormal, explained)) ** 2, axis=1)))
