"""Which of the places where one line follows another are jumps of the time: evidence of a protocol change.

The cost of a byte changes for many reasons. The time itself jumps from one size to the next only where another protocol
begins. So a break is a jump where

* two lines that meet (a kink) do worse than two that don't, by more than noise explains at any of the places searched;
* it is large, or at least `Thresholds.least_jump` and of use for predictions;
* most launches show it.

A table without repetitions may step by more than any line explains: then nothing else is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from chiplog._native import Segmenter
from chiplog.fit.changes.detect.line import Line
from chiplog.fit.changes.detect.observed import Point
from chiplog.fit.changes.detect.segments import LIMITS, Lines, mattering
from chiplog.fit.changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Break:
    """The sizes [begin, at) follow one line and [at, end) another; indices into the series."""

    begin: int
    at: int
    end: int
    before: Line
    after: Line
    last_before_bytes: int
    first_after_bytes: int
    between: tuple[int, int]
    """The last size of the one line and the first of the other, in bytes."""
    about: tuple[int, int]
    """The sizes in bytes between which its lines part at best, give or take one."""
    relative_jump: float
    """Of the lines, halfway between the two sizes."""
    strength: float
    """How much worse a kink does, over the critical value; from 1 on, noise doesn't explain it."""
    slope_change: float
    """Of the slopes, relative to the larger one."""
    lasting: bool
    """Whether most launches show it."""
    matters: bool
    """Whether the fewest lines that predict the series break there, too; never without repetitions, where small jumps
    can't be told from the scatter of sizes."""
    steps: bool
    """Whether one size of a table takes longer than any line through the one before explains."""

    @property
    def jumps(self) -> bool:
        """Whether the time itself changes at the break, beyond what a kink there would explain."""
        if self.steps:
            return True
        least = THRESHOLDS.least_jump if self.matters else THRESHOLDS.large_jump
        return self.size >= least and self.strength >= 1.0 and self.lasting

    @property
    def size(self) -> float:
        """Of the jump, as a share of the shorter time."""
        return math.expm1(abs(math.log1p(self.relative_jump)))

    @property
    def beyond_doubt(self) -> bool:
        """Whether it needs no other series to show it, too."""
        return self.size >= THRESHOLDS.large_jump or self.strength >= THRESHOLDS.clear

    @property
    def kind(self) -> str:
        """`jump`, `slope` or `both`."""
        if not self.jumps:
            return "slope"
        return "both" if self.slope_change >= THRESHOLDS.least_bend else "jump"


def find_breaks(lines: Lines | None) -> tuple[Break, ...]:
    """Where one line follows another in one series, ascending in size; those of kind `slope` are no evidence.

    None stands for a series that is too short to have lines.
    """
    if lines is None:
        return ()
    edges = [*lines.begins, lines.size.size]
    coarse = mattering(lines)
    return tuple(
        _measure(lines, coarse, begin, at, end)
        for begin, at, end in zip(edges, edges[1:], edges[2:], strict=False)
    )


def _measure(lines: Lines, coarse: Sequence[int], begin: int, at: int, end: int) -> Break:
    before, after = lines.line(begin, at), lines.line(at, end)
    jump = _ratio(lines, before, after, at) - 1.0
    places = lines.size.size
    noise, freedom = lines.noise_of(begin, at, end)
    critical = float(fdtri(1, freedom, 1.0 - THRESHOLDS.false_share / places))
    apart = lines.segmenter.cost(begin, at) + lines.segmenter.cost(at, end)
    slopes = before.slope_seconds_per_byte, after.slope_seconds_per_byte
    about = int(lines.size[max(at - 2, begin)]), int(lines.size[min(at + 1, end - 1)])
    strength = (_kink_cost(lines, begin, at, end) - apart) / noise / critical
    found = Break(
        begin=begin,
        at=at,
        end=end,
        before=before,
        after=after,
        last_before_bytes=int(lines.size[at - 1]),
        first_after_bytes=int(lines.size[at]),
        between=(int(lines.size[at - 1]), int(lines.size[at])),
        about=about,
        relative_jump=jump,
        strength=strength,
        slope_change=abs(slopes[1] - slopes[0]) / max(*slopes, TINY),
        steps=at in lines.steps,
        matters=lines.repeated and any(abs(place - at) <= 1 for place in coarse),
        lasting=_in_launches(lines, begin, at, end, jump),
    )
    return found if found.steps else _place(lines, found)


def would_tell(lines: Lines | None, breaks: Sequence[Break]) -> tuple[int, ...]:
    """Sizes in bytes that would tell a jump from a change of slope where the grid is too coarse to, ascending.

    In a table these lie also where the time more than doubles, by no more than noise may.
    """
    if lines is None:
        return ()
    jumps = {one.at for one in breaks if one.jumps}
    open_ = [one.between for one in breaks if not one.jumps and one.size >= THRESHOLDS.suspect_jump]
    open_ += [
        (int(lines.size[at - 1]), int(lines.size[at])) for at in lines.doubtful if at not in jumps
    ]
    coarse = [(low, high) for low, high in open_ if high >= THRESHOLDS.coarse * low + 4]
    inside = [np.geomspace(low, high, 5)[1:-1].round() for low, high in coarse]
    return tuple(sorted({int(size) for sizes in inside for size in sizes}))


def _ratio(lines: Lines, before: Line, after: Line, at: int) -> float:
    middle = float(np.sqrt(lines.size[at - 1] * lines.size[at]))
    return max(float(after(middle)), TINY) / max(float(before(middle)), TINY)


def _kink_cost(lines: Lines, begin: int, at: int, end: int) -> float:
    """Lowest cost of two lines that meet at, or about, the break."""
    middle = np.sqrt(lines.size[at - 1] * lines.size[at])
    reach = 2.0 ** (0.5 * THRESHOLDS.kink_octaves)
    first = max(min(lines.size[at - 1], middle / reach), lines.size[begin])
    last = min(max(lines.size[at], middle * reach), lines.size[end - 1])
    crossing = lines.line(begin, at).crossing_bytes(lines.line(at, end))
    places = np.geomspace(first, last, THRESHOLDS.kink_places)
    knots = np.append(places, np.clip(crossing or first, first, last))[:, None]
    size = lines.size[begin:end]
    root = np.sqrt(lines.weight[begin:end])
    columns = [
        np.broadcast_to(root, (knots.size, size.size)),
        np.minimum(size, knots) / last * root,
        np.maximum(size - knots, 0.0) / last * root,
    ]
    target = lines.seconds[begin:end] * root
    orthonormal = np.linalg.qr(np.stack(columns, axis=2)).Q
    explained = np.einsum("knc,n->kc", orthonormal, target)
    left = target - np.einsum("knc,kc->kn", orthonormal, explained)
    return float(np.min(np.sum(left**2, axis=1)))


def _place(lines: Lines, found: Break) -> Break:
    """The break with the sizes between which it may be.

    Noise doesn't tell the best place of a jump from some others, of which no more than one size on each side is
    believed: farther away it would be two more lines. A bend may be where two lines gain half as much, and a size
    farther.
    """
    begin, at, end = found.begin, found.at, found.end
    cost, admissible = lines.segmenter.cost, lines.segmenter.admissible
    two, one = cost(begin, at) + cost(at, end), cost(begin, end)
    enough = two + lines.noise * float(fdtri(1, lines.freedom, THRESHOLDS.place_share))
    if not found.jumps:
        enough = max(enough, (0.5 * (math.sqrt(two) + math.sqrt(one))) ** 2)

    def as_good(place: int) -> bool:
        possible = admissible(begin, place) and admissible(place, end)
        return possible and cost(begin, place) + cost(place, end) <= enough

    low = high = at
    while low - 1 > begin and as_good(low - 1):
        low -= 1
    while high + 1 < end and as_good(high + 1):
        high += 1
    low, high = (max(low, at - 1), min(high, at + 1)) if found.jumps else (low - 1, high + 1)
    low, high = max(low, begin + 1), min(high, end - 1)
    return replace(
        found,
        last_before_bytes=int(lines.size[low - 1]),
        first_after_bytes=int(lines.size[high]),
    )


def _in_launches(lines: Lines, begin: int, at: int, end: int, jump: float) -> bool:
    """Whether most launches show a jump of the same direction at least half as large."""
    first, place, last = (float(lines.size[k]) for k in (begin, at, end - 1))
    jumps = [_launch_jump(lines, at, first, place, last, one) for one in lines.observed.by_launch]
    known = [one for one in jumps if one is not None]
    agreeing = sum(one * jump >= 0.5 * jump**2 for one in known)
    return not known or 2 * agreeing > len(known)


def _launch_jump(
    lines: Lines, at: int, first: float, place: float, last: float, points: tuple[Point, ...]
) -> float | None:
    """Relative jump at the break in one launch; None where the launch has too few sizes beside it."""
    usable = [p for p in points if first <= p.message_bytes <= last and p.seconds > 0.0]
    size = np.array([point.message_bytes for point in usable], dtype=np.float64)
    after = int(np.searchsorted(size, place))
    if after < 2 or size.size - after < 2:
        return None
    seconds = np.array([point.seconds for point in usable])
    segmenter = Segmenter(size, seconds, 1.0 / seconds**2, LIMITS)
    low, high = Line(*segmenter.line(0, after)), Line(*segmenter.line(after, size.size))
    return _ratio(lines, low, high, at) - 1.0
