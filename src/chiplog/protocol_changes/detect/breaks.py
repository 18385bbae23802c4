"""Which of the places where one line follows another are jumps of the time: evidence of a protocol change.

The cost of a byte changes for many reasons. The time itself jumps from one size to the next only where another protocol
begins. So a break is a jump where

* the sizes on either side follow their lines: none lies between the two, as where a rate sags;
* two lines that meet (a kink) do worse than two that don't, by more than noise explains at any of the places searched;
* the jump is larger, by its standard error, than what the moments of this run may have added;
* most launches show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from chiplog._native import Segmenter
from chiplog.machine_state.noise import LAUNCHES_DIFFER, STATES_DIFFER
from chiplog.protocol_changes.detect.line import Line, nonnegative_least_squares
from chiplog.protocol_changes.detect.observed import Point
from chiplog.protocol_changes.detect.segments import (
    DENSE_POINTS,
    SPARSE_POINTS,
    Lines,
    line_limits,
    mattering,
)
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]
MIDWAY = 0.25
"""Given: share of the way from one line to another from which a size is on neither."""
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
    least: float
    """As logarithm: what the moments of the run may add to some sizes and not to others, by chance."""
    is_followed: bool
    """Whether more than one size on either side shows the jump."""
    is_sampled: bool
    """Whether sizes have samples that tell how far their medians are off; one value a size tells nothing."""
    is_gradual: bool
    """Whether a size beside the break lies between the two lines, so that a rate sags over several sizes."""

    @property
    def jumps(self) -> bool:
        """Whether the time itself changes at the break, beyond what a kink there would explain."""
        is_large = abs(math.log1p(self.relative_jump)) >= self.least
        is_sharp = self.is_followed and not self.is_gradual
        return is_large and self.strength >= 1.0 and self.lasting and is_sharp

    @property
    def size(self) -> float:
        """Of the jump, as a share of the shorter time."""
        return math.expm1(abs(math.log1p(self.relative_jump)))

    @property
    def beyond_doubt(self) -> bool:
        """Whether it needs no other series to show it, too."""
        return self.size >= THRESHOLDS.large_jump or self.strength >= THRESHOLDS.clear

    @property
    def stands_alone(self) -> bool:
        """Whether it is evidence where its series is the only one."""
        return self.is_sampled or self.size >= THRESHOLDS.noticeable

    @property
    def kind(self) -> str:
        """`jump`, `slope` or `both`."""
        if not self.jumps:
            return "slope"
        return "both" if self.slope_change >= THRESHOLDS.noticeable else "jump"


def find_breaks(lines: Lines | None) -> tuple[Break, ...]:
    """Where one line follows another in one series, ascending in size; those of kind `slope` are no evidence.

    None stands for a series that is too short to have lines.
    """
    if lines is None:
        return ()
    coarse = mattering(lines)
    edges = list(zip(lines.edges, lines.edges[1:], lines.edges[2:], strict=False))
    strengths = [_strength(lines, edge) for edge in edges]
    steps = [at for (_, at, _), strength in zip(edges, strengths, strict=True) if strength >= 1.0]
    return tuple(
        _measure(lines, edge, strength, _least(lines, coarse, edge, steps))
        for edge, strength in zip(edges, strengths, strict=True)
    )


def _measure(lines: Lines, edges: tuple[int, int, int], strength: float, least: float) -> Break:
    begin, at, end = edges
    before, after = lines.line(begin, at), lines.line(at, end)
    jump = _ratio(lines, before, after, at) - 1.0
    slopes = before.slope_seconds_per_byte, after.slope_seconds_per_byte
    about = int(lines.size[max(at - 2, begin)]), int(lines.size[min(at + 1, end - 1)])
    candidate = Break(
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
        lasting=_in_launches(lines, begin, at, end, jump),
        least=least,
        is_followed=_is_followed(lines, before, after, (begin, at, end)),
        is_sampled=bool(np.any(lines.observed.relative_errors > 0.0)),
        is_gradual=_is_gradual(lines, before, after, (begin, at, end)),
    )
    return candidate if end - at == 1 else _place(lines, candidate)


def _strength(lines: Lines, edges: tuple[int, int, int]) -> float:
    """How much more a kink costs than two lines, over the critical value.

    Of one size at the end, how far it lies off the line before it.
    """
    begin, at, end = edges
    square, alike, _ = lines.noise(begin, at, end)
    critical = float(chdtri(1, THRESHOLDS.false_share / lines.places))
    if end - at > 1:
        return _gain(lines, edges, alike) / (square * critical)
    excess, _ = lines.excess(begin, at, end)
    expected = float(lines.line(begin, at)(lines.size[at]))
    off = (float(lines.seconds[at]) - expected) / (expected * float(lines.deviation[at]))
    return off**2 / (excess * critical)


def _least(
    lines: Lines, coarse: Sequence[int], edges: tuple[int, int, int], steps: Sequence[int]
) -> float:
    """The jump, as logarithm, that the moments of this run may feign.

    Where sizes were measured once, a state of the machine that came with the one side and stayed until the next of
    `steps` feigns what states differ by, give or take its error: as much as any that passed, where one lasted for half
    of that side or more.
    """
    begin, at, end = edges
    matters = any(abs(place - at) <= 1 for place in coarse)
    least = math.log1p(THRESHOLDS.least_jump if matters else THRESHOLDS.large_jump)
    if not lines.observed.is_in_order:
        return least
    first = max((place for place in steps if place < at), default=0)
    last = min((place for place in steps if place > at), default=lines.size.size)
    shorter = min(at - first, last - at)
    states = [(count, step) for count, step in lines.passing if count > 1 and step > STATES_DIFFER]
    differ = [step for _, step in states] if shorter <= 2 * max(states, default=(0, 0.0))[0] else []
    if lines.observed.wanders and shorter < THRESHOLDS.local_freedom:
        differ = [LAUNCHES_DIFFER]
    if lines.observed.state_step > 0.0:
        differ.append(lines.observed.state_step)
    if not differ:
        return least
    excess, _ = lines.excess(begin, at, end)
    variance = _variance(lines, begin, at, at) + _variance(lines, at, end, at)
    return max(least, max(differ) + math.sqrt(excess * variance))


def _is_followed(lines: Lines, before: Line, after: Line, edges: tuple[int, int, int]) -> bool:
    """Whether a third of the jump stays without the size next to it on either side.

    An outlier next to a break may turn the line of a side of few sizes.
    """
    begin, at, end = edges
    jump = math.log(_ratio(lines, before, after, at))
    without = []
    if 2 <= at - begin < DENSE_POINTS:
        without.append(-_step_without(lines, (begin, at - 1), after, at))
    if 2 <= end - at < DENSE_POINTS:
        without.append(_step_without(lines, (at + 1, end), before, at))
    least = abs(jump) / 3.0  # Given: less is an outlier's more likely than a protocol's
    return all(math.copysign(1.0, jump) * rest >= least for rest in without)


def _step_without(lines: Lines, side: tuple[int, int], other: Line, at: int) -> float:
    """The logarithmic step, halfway between the sizes beside `at`, from the line `other` to that of the sizes `side`.

    A single size has no line: its time counts.
    """
    begin, end = side
    if end - begin == 1:
        size, level = float(lines.size[begin]), float(lines.seconds[begin])
    else:
        size = float(np.sqrt(lines.size[at - 1] * lines.size[at]))
        level = max(float(lines.line(begin, end)(size)), TINY)
    return math.log(level / max(float(other(size)), TINY))


def _variance(lines: Lines, begin: int, end: int, at: int) -> float:
    """Relative variance of what the line of the sizes [begin, end) says halfway between the sizes beside `at`.

    It counts no more than 1, since a line's value has no negative side.
    """
    near = np.flatnonzero(lines.follows(begin, end)) + begin
    if near.size == 0:
        return 1.0
    middle = float(np.sqrt(lines.size[at - 1] * lines.size[at]))
    root = np.sqrt(lines.weight[near])
    scale = lines.size[near].max()
    design = np.stack([root, lines.size[near] / scale * root], axis=1)
    inverse = np.linalg.pinv(design.T @ design)
    place = np.array([1.0, middle / scale])
    level = max(float(lines.line(begin, end)(middle)), TINY)
    return min(float(place @ inverse @ place) / level**2, 1.0)


def _is_gradual(lines: Lines, before: Line, after: Line, edges: tuple[int, int, int]) -> bool:
    """Whether the time goes from the one line to the other over several sizes that lie between the two.

    Two sizes do, each by a quarter of the way or more off both lines; over an octave one does that is farther off them
    than a state of the machine would bring it, where no single line explains either step beside it.
    """
    begin, at, end = edges
    on_lines = np.concatenate([lines.follows(begin, at), lines.follows(at, end)])
    sides = on_lines[: at - begin], on_lines[at - begin :]
    if any(np.sum(side) < min(side.size, SPARSE_POINTS) for side in sides):
        return True  # the sizes beside the break follow no line
    last = begin + int(np.flatnonzero(sides[0])[-1])
    first = at + int(np.flatnonzero(sides[1])[0])
    between = np.arange(last + 1, first)
    if between.size == 0:
        return False
    times = np.log(lines.seconds[between])
    levels = [np.log(np.maximum(line(lines.size[between]), TINY)) for line in (before, after)]
    whole = np.abs(levels[1] - levels[0])
    off = np.minimum(*(np.abs(times - level) for level in levels))
    is_between = np.abs(2.0 * times - levels[0] - levels[1]) < whole
    is_far = is_between & (off > LAUNCHES_DIFFER)
    if np.sum(is_between & (off > MIDWAY * whole)) > 1:
        return True
    is_wide = lines.size[first] >= 2.0 * lines.size[last]
    seconds = lines.seconds[last : first + 1]
    of_bytes = np.maximum(seconds - before.intercept_seconds, 1e-9 * seconds)
    growth = np.diff(np.log(lines.size[last : first + 1]))
    is_steep = np.all(np.diff(np.log(of_bytes)) > growth) or np.all(np.diff(seconds) < 0.0)
    return bool(is_wide and np.any(is_far) and is_steep)


def _ratio(lines: Lines, before: Line, after: Line, at: int) -> float:
    middle = float(np.sqrt(lines.size[at - 1] * lines.size[at]))
    return max(float(after(middle)), TINY) / max(float(before(middle)), TINY)


def _gain(lines: Lines, edges: tuple[int, int, int], alike: float) -> float:
    """How much less two lines cost than two that meet at, or about, the break; like all lines they never fall.

    Generalised least squares: the misfits of neighbours correlate by `alike`, so that a step from one size to the next
    is told from a drift.
    """
    begin, at, end = edges
    middle = np.sqrt(lines.size[at - 1] * lines.size[at])
    reach = 2.0 ** (0.5 * THRESHOLDS.kink_octaves)
    first = max(min(lines.size[at - 1], middle / reach), lines.size[begin])
    last = min(max(lines.size[at], middle * reach), lines.size[end - 1])
    crossing = lines.line(begin, at).crossing_bytes(lines.line(at, end))
    knots = np.append(
        np.geomspace(first, last, THRESHOLDS.kink_places), np.clip(crossing or first, first, last)
    )
    follows = np.concatenate([lines.follows(begin, at), lines.follows(at, end)])
    size = lines.size[begin:end][follows]
    root = np.sqrt(lines.weight[begin:end][follows])
    knot = knots[:, np.newaxis]
    kinks = np.broadcast_arrays(
        1.0, np.minimum(size, knot) / knot, np.maximum(size / knot - 1.0, 0.0)
    )
    is_before = size < lines.size[at]
    share = size / lines.size[end - 1]
    two_lines = is_before, is_before * share, ~is_before, ~is_before * share

    def misfit(columns: Sequence[NDArray[np.generic]]) -> float:
        design = _independent(np.stack(columns, axis=-1) * root[:, np.newaxis], alike)
        target = _independent((lines.seconds[begin:end][follows] * root)[:, np.newaxis], alike)
        return float(np.min(nonnegative_least_squares(design, target[:, 0])[1])) ** 2

    return misfit(kinks) - misfit(two_lines)


def _independent(rows: Floats, alike: float) -> Floats:
    """Rows, shape (..., rows, columns), each without what it shares with the one before it."""
    rest = (rows[..., 1:, :] - alike * rows[..., :-1, :]) / math.sqrt(1.0 - alike**2)
    return np.concatenate([rows[..., :1, :], rest], axis=-2)


def _place(lines: Lines, candidate: Break) -> Break:
    """The break with the sizes between which it may be.

    Noise doesn't tell the best place of a jump from some others. No more than one size on each side is believed, since
    farther away it would be two more lines, unless the machine wandered while the sizes were measured. A bend may be
    where two lines gain half as much, and a size farther.
    """
    begin, at, end = candidate.begin, candidate.at, candidate.end
    cost, admissible = lines.segmenter.cost, lines.segmenter.admissible
    two_lines, one_line = cost(begin, at) + cost(at, end), cost(begin, end)
    excess, _ = lines.excess(begin, at, end)
    enough = two_lines + excess * float(chdtri(1, 1.0 - THRESHOLDS.place_share))
    if not candidate.jumps:
        enough = max(enough, (0.5 * (math.sqrt(two_lines) + math.sqrt(one_line))) ** 2)

    def as_good(place: int, moved: int) -> bool:
        if not (admissible(begin, place) and admissible(place, end)):
            return False
        part = (place, end) if moved >= place else (begin, place)
        follows = lines.follows(*part)[moved - part[0]]
        return bool(follows) and cost(begin, place) + cost(place, end) <= enough

    low = high = at
    while low - 1 > begin and as_good(low - 1, low - 1):
        low -= 1
    while high + 1 < end and as_good(high + 1, high):
        high += 1
    if not candidate.jumps:
        low, high = low - 1, high + 1
    elif not lines.observed.wanders:
        low, high = max(low, at - 1), min(high, at + 1)
    low, high = max(low, begin + 1), min(high, end - 1)
    return replace(
        candidate,
        last_before_bytes=int(lines.size[low - 1]),
        first_after_bytes=int(lines.size[high]),
    )


def _in_launches(lines: Lines, begin: int, at: int, end: int, jump: float) -> bool:
    """Whether most launches show a jump of the same direction at least half as large."""
    first, place, last = (float(lines.size[k]) for k in (begin, at, end - 1))
    jumps = [
        _launch_jump(lines, at, first, place, last, launch) for launch in lines.observed.by_launch
    ]
    known = [launch_jump for launch_jump in jumps if launch_jump is not None]
    agreeing = sum(launch_jump * jump >= 0.5 * jump**2 for launch_jump in known)
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
    segmenter = Segmenter(size, seconds, 1.0 / seconds**2, line_limits(size))
    low, high = Line(*segmenter.line(0, after)), Line(*segmenter.line(after, size.size))
    return _ratio(lines, low, high, at) - 1.0
