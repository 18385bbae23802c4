"""The largest step between neighbouring sizes that were measured in turn: where to look for a jump."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.fit.changes.line import Line
from chiplog.fit.changes.marks import MAX_MARKS, MIN_ROUNDS, Mark
from chiplog.fit.changes.verdict import Evidence, spread


@dataclass(frozen=True)
class Step:
    """Two neighbouring sizes in bytes, and the quantities that step between them."""

    interval: tuple[int, int]
    marks: tuple[Mark, ...]
    relative_jump: float
    """Of the quantity that steps most, beyond what it rises beside it."""
    total: float
    """Sum of the logarithmic steps of all quantities that show it, without their signs."""


def largest_steps(
    evidence: Evidence, sizes: Sequence[int], *, errors: float, least: float
) -> list[Step]:
    """The places where quantities step, the largest sum of their steps first.

    A step counts where it is `errors` standard errors and the share `least` large.
    """
    found: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for quantity, steps in evidence.steps():
        for index in range(steps.shape[1]):
            step, error = float(steps[0, index]), spread(steps[:, index])
            if abs(step) >= max(np.log1p(least), errors * error):
                found[index + 1].append((step, quantity))
    places = sorted(found, key=lambda at: sum(abs(step) for step, _ in found[at]), reverse=True)
    return [_step(evidence, sizes, at, found[at]) for at in places]


def _step(
    evidence: Evidence, sizes: Sequence[int], at: int, showing: Sequence[tuple[float, str]]
) -> Step:
    ranked = sorted(showing, key=lambda entry: abs(entry[0]), reverse=True)[:MAX_MARKS]
    marks = tuple(_mark(evidence, quantity, sizes, at) for _, quantity in ranked)
    total = sum(abs(step) for step, _ in showing)
    return Step((sizes[at], sizes[at + 1]), marks, float(np.expm1(ranked[0][0])), total)


def _mark(evidence: Evidence, quantity: str, sizes: Sequence[int], at: int) -> Mark:
    """The quantity with the lines through the two sizes on each side of the step."""
    seconds = evidence.medians(quantity)
    before = _through(sizes[at - 1], seconds[at - 1], sizes[at], seconds[at])
    after = _through(sizes[at + 1], seconds[at + 1], sizes[at + 2], seconds[at + 2])
    return Mark(quantity, before, after, MIN_ROUNDS)


def _through(low: int, low_seconds: float, high: int, high_seconds: float) -> Line:
    """The line through two points, with neither a negative slope nor a negative intercept."""
    slope = (high_seconds - low_seconds) / (high - low)
    slope = float(np.clip(slope, 0.0, min(low_seconds / low, high_seconds / high)))
    return Line(0.5 * (low_seconds + high_seconds - slope * (low + high)), slope)
