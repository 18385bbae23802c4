"""The largest step between neighbouring sizes that were measured in turn: where to look for a jump."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.protocol_changes.ask.marks import affordable, rounds_needed
from chiplog.protocol_changes.decide.evidence import ChangeMark, Evidence, spread
from chiplog.protocol_changes.detect.line import Line
from chiplog.statistics import BEYOND_DOUBT

MOST_TOGETHER, SHARED = 8, 3
"""Given: sizes in a group. Derived: a step shows in four sizes, so three are shared with the next group."""


@dataclass(frozen=True)
class Step:
    """Two neighbouring sizes in bytes, and the quantities that step between them."""

    interval: tuple[int, int]
    marks: tuple[ChangeMark, ...]
    relative_jump: float
    """Of the quantity that steps most, beyond what it rises beside it."""
    total: float
    """Sum of the logarithmic steps of all quantities that show it, without their signs."""
    certain: float
    """The same, less what errors may have added."""
    looked_at: int
    """Quantities that were measured there."""
    shown_by: int
    """Those of them that step clearly."""


def overlapping(sizes: Sequence[int]) -> list[Sequence[int]]:
    """The sizes in groups to be measured together, such that every two neighbours have a neighbour on each side.

    But for the first and the last two, of course. Small sizes take few bytes, and get more rounds by themselves.

    >>> overlapping(range(12))
    [range(0, 8), range(5, 12)]
    """
    stride = MOST_TOGETHER - SHARED
    starts = range(0, max(len(sizes) - SHARED, 0), stride)
    return [sizes[start : start + MOST_TOGETHER] for start in starts]


@dataclass(frozen=True)
class _Shown:
    """A quantity's logarithmic step at one place, with its standard error."""

    quantity: str
    step: float
    error: float

    def is_clear(self, least: float) -> bool:
        return abs(self.step) >= max(math.log1p(least), BEYOND_DOUBT * self.error)


def largest_steps(
    evidence: Evidence, sizes: Sequence[int], *, least: float, round_bytes: float
) -> list[Step]:
    """The places where quantities step, the surest first.

    A step counts where noise does not explain it and it is the share `least` large. `round_bytes` are those of one
    round of a question about it.
    """
    all_shown: dict[int, list[_Shown]] = defaultdict(list)
    for quantity, steps in evidence.steps():
        for index in range(steps.shape[1]):
            step = _Shown(quantity, float(steps[0, index]), spread(steps[:, index]))
            all_shown[index + 1].append(step)
    places = [
        _step(evidence, sizes, at, clearly, shown, round_bytes)
        for at, shown in all_shown.items()
        if (clearly := [candidate for candidate in shown if candidate.is_clear(least)])
    ]
    return sorted(places, key=lambda place: place.certain, reverse=True)


def _step(
    evidence: Evidence,
    sizes: Sequence[int],
    at: int,
    clearly: Sequence[_Shown],
    shown: Sequence[_Shown],
    round_bytes: float,
) -> Step:
    marks = {candidate.quantity: _mark(evidence, candidate, sizes, at) for candidate in shown}
    clear = [marks[candidate.quantity] for candidate in clearly]
    largest = max((candidate.step for candidate in clearly), key=abs)
    return Step(
        interval=(sizes[at], sizes[at + 1]),
        marks=tuple(affordable(clear, marks.values(), (sizes[at], sizes[at + 1]), round_bytes)),
        relative_jump=float(np.expm1(largest)),
        total=sum(abs(candidate.step) for candidate in clearly),
        certain=sum(abs(candidate.step) - BEYOND_DOUBT * candidate.error for candidate in clearly),
        looked_at=len(shown),
        shown_by=len(clearly),
    )


def _mark(evidence: Evidence, shown: _Shown, sizes: Sequence[int], at: int) -> ChangeMark:
    """The quantity with the lines through the two sizes on each side of the step."""
    seconds = evidence.seconds(shown.quantity)
    before = _through(sizes[at - 1], seconds[at - 1], sizes[at], seconds[at])
    after = _through(sizes[at + 1], seconds[at + 1], sizes[at + 2], seconds[at + 2])
    # A step differs three rises, and has twice the error of a middle beside two others.
    error = 0.5 * shown.error * math.sqrt(evidence.rounds(shown.quantity))
    return ChangeMark(shown.quantity, before, after, rounds_needed(abs(shown.step), error))


def _through(low: int, low_seconds: float, high: int, high_seconds: float) -> Line:
    """The line through two points, with neither a negative slope nor a negative intercept."""
    slope = (high_seconds - low_seconds) / (high - low)
    slope = float(np.clip(slope, 0.0, min(low_seconds / low, high_seconds / high)))
    return Line(0.5 * (low_seconds + high_seconds - slope * (low + high)), slope)
