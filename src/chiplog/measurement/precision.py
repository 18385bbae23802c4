"""Which points have not reached the asked precision, over all their visits together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.delays import without_short_delays
from chiplog.dataset.series import Series
from chiplog.statistics import TAILS


@dataclass(frozen=True)
class Imprecise:
    """A point whose median is known less well than asked."""

    pattern: str
    message_bytes: int
    relative_half_width: float
    """Infinite where there are too few samples for an interval."""

    @property
    def known_half_width(self) -> float | None:
        """The half width where it is finite."""
        return self.relative_half_width if math.isfinite(self.relative_half_width) else None


def imprecise_points(
    series: Iterable[Series], relative_half_width: float, resolution_seconds: float = 0.0
) -> tuple[Imprecise, ...]:
    """The points whose 95 % interval of the median, from the samples of all visits, is wider than asked.

    Delays that were too short to show an overhead don't count.

    An interval as narrow as one step of the clock (`resolution_seconds` over the batch) counts as reached.
    """
    groups: dict[tuple[object, ...], list[Series]] = defaultdict(list)
    for delay in without_short_delays(tuple(series)):
        place = (delay.message_bytes, delay.delay_seconds > 0, delay.placement, delay.between)
        groups[*delay.kind, *place].append(delay)
    widths: dict[tuple[str, int], float] = {}
    for members in groups.values():
        pattern, message_bytes = members[0].pattern, members[0].message_bytes
        samples = np.sort(np.concatenate([member.seconds for member in members]))
        step = resolution_seconds / min(member.batch for member in members)
        width = _half_width(samples, step)
        worst = widths.get((pattern, message_bytes), 0.0)
        if width > relative_half_width and width > worst:
            widths[pattern, message_bytes] = width
    return tuple(Imprecise(*point, width) for point, width in widths.items())


def _half_width(ordered: NDArray[np.float64], step: float) -> float:
    count = len(ordered)
    rank = lower_rank(count)
    if rank is None:
        return math.inf
    width = float(ordered[count - 1 - rank] - ordered[rank])
    median = float(np.median(ordered))
    if width <= step * (1 + 1e-9):
        return 0.0
    return width / 2 / median if median > 0 else math.inf


@cache
def lower_rank(count: int) -> int | None:
    """The order statistic (from 0) that with its mirror image encloses the median with >= 95 %; None below 6."""
    tail, rank = 0.0, None
    for k in range(count // 2):
        tail += math.comb(count, k) * 0.5**count if count < 1000 else _log_term(count, k)
        if tail > TAILS[0]:
            break
        rank = k
    return rank


def _log_term(count: int, k: int) -> float:
    logarithm = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
    return math.exp(logarithm - count * math.log(2))
