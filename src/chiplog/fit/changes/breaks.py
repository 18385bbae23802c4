"""Where one series breaks into lines, and which of these breaks are evidence of a protocol change.

From each of the exact segmentations into 1, 2, ... lines, the weakest break that fails a test is taken out and the
others settle again, until every break that is left stands for itself. A break stands if

* the noise can't explain it: F test of two lines against one, the place counted as a parameter;
* it matters: two lines leave at least a fifth less relative error than one, the prediction without it would be wrong by
  `MIN_MISFIT` somewhere, and the lines jump by `MIN_JUMP` (or, without a jump, one line would be wrong by
  `MIN_BEND`);
* it is sharp: a smooth curve with as many coefficients does worse, so it is no cache effect (else it is reported
  only as a slope with a wide interval);
* it comes back at the same place in most bootstrap replicates, and in most launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from chiplog._native import Limits, Segmenter, best_splits
from chiplog.fit.changes.line import Line
from chiplog.fit.changes.noise import standard_errors
from chiplog.fit.changes.observed import Observed, Point

Floats = NDArray[np.float64]

MIN_POINTS = 3
MIN_BYTES = 64
"""Below a cache line, differences are those of copying single words."""
LIMITS = Limits(
    min_bytes=MIN_BYTES,
    min_points=5,
    min_factor=1.5,
    min_points_sparse=MIN_POINTS,
    min_factor_sparse=4.0,
)
MAX_SEGMENTS = 8
RESOLUTION = 0.01
"""Relative misfit below which nothing is to be gained; also keeps weights finite without noise."""
LEAST_NOISE = 1e-6
"""Mean square residual in units of `RESOLUTION` below which no residual is told from rounding."""
SIGNIFICANCE = 1e-4
MIN_GAIN = 0.20
"""Share of the root mean square relative residual that a break must take away."""
MIN_MISFIT = 0.02
MIN_JUMP = 0.02
MIN_BEND = 0.10
SHARPNESS = 1.05
"""Residual of a smooth curve over that of two lines; below, a break is a bend."""
REPLICATES = 200
STABLE_SHARE = 0.5
SAME_PLACE = 1.42
"""Factor in size within which replicates show the same break."""
KNOTS = 13
"""Places tried for a kink beside a break, besides that where the lines cross."""
JUMP_ERRORS = 3.0
"""Standard errors that a jump, or a change of slope, must exceed to be called one."""


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
    relative_jump: float
    jump_error: float
    """Standard error of `relative_jump`."""
    slope_change: float
    """Of the slopes, relative to the larger one."""
    slope_change_error: float
    misfit: float
    """Largest relative difference between the two lines and the one that replaces them."""
    gain: float
    """Share of the root mean square relative residual that the break takes away."""
    strength: float
    """F statistic over its critical value."""
    sharpness: float
    kink_strength: float
    """How much worse two lines do that meet near the break, in squared standard errors."""

    @property
    def jumps(self) -> bool:
        """Whether the time itself changes at the break, beyond what a kink there would explain."""
        clear = abs(self.relative_jump) >= max(MIN_JUMP, JUMP_ERRORS * self.jump_error)
        return clear and self.kink_strength >= JUMP_ERRORS**2

    @property
    def bends(self) -> bool:
        """Whether the cost of a byte changes at the break."""
        return self.slope_change >= max(MIN_BEND, JUMP_ERRORS * self.slope_change_error)

    @property
    def kind(self) -> str:
        """`jump`, `slope` or `both`."""
        if self.jumps:
            return "both" if self.bends else "jump"
        return "slope"

    @property
    def sharp(self) -> bool:
        """Whether no smooth curve explains it."""
        return self.sharpness >= SHARPNESS

    @property
    def stands(self) -> bool:
        """Whether noise can't explain it and it matters."""
        matters = self.misfit >= (MIN_MISFIT if self.jumps and self.sharp else MIN_BEND)
        return self.strength >= 1.0 and self.gain >= MIN_GAIN and matters


def find_breaks(observed: Observed, random: np.random.Generator) -> tuple[Break, ...]:
    """The breaks of one series that stand, ascending in size."""
    view = _View.of(observed)
    if view is None:
        return ()
    begins = _standing(view)
    while len(begins) > 1:
        breaks = list(_judge(view, begins))
        confirmed = [_confirm(view, found, random) for found in breaks]
        lost = [k for k, found in enumerate(confirmed) if found is None]
        if not lost:
            return tuple(found for found in confirmed if found is not None)
        weakest = min(lost, key=lambda k: breaks[k].strength)
        begins = _eliminate(view, _without(view, begins, weakest))
    return ()


@dataclass(frozen=True)
class _View:
    """What the tests need of one series: sizes that are usable, as floats, and the noise."""

    observed: Observed
    size: Floats
    seconds: Floats
    error: Floats
    weight: Floats
    segmenter: Segmenter
    judged: dict[tuple[int, int, int], Break] = field(default_factory=dict)
    """What was found out about breaks so far, by begin, at and end."""

    @classmethod
    def of(cls, observed: Observed) -> _View | None:
        """None where the series is too short to be searched."""
        kept = [k for k, seconds in enumerate(observed.seconds) if seconds > 0.0]
        if len(kept) < 2 * MIN_POINTS:
            return None
        usable = replace(observed, points=tuple(observed.points[k] for k in kept))
        size = usable.message_bytes.astype(np.float64)
        error = standard_errors(usable)
        weight = 1.0 / ((RESOLUTION * usable.seconds) ** 2 + error**2)
        segmenter = Segmenter(size, usable.seconds, weight, LIMITS)
        return cls(usable, size, usable.seconds, error, weight, segmenter)


def _standing(view: _View) -> list[int]:
    """Where the most lines begin whose breaks all stand; of equally many, the best ones.

    Every optimal segmentation is a start, since one that is forced into too many lines has its breaks elsewhere.
    """
    starts = (begins for _, begins in view.segmenter.solve(MAX_SEGMENTS))
    ends = [_eliminate(view, begins) for begins in starts]
    return max(ends, key=lambda begins: (len(begins), -_total_cost(view, begins)))


def _total_cost(view: _View, begins: list[int]) -> float:
    edges = pairwise([*begins, len(view.segmenter)])
    return float(sum(view.segmenter.cost(begin, end) for begin, end in edges))


def _eliminate(view: _View, begins: list[int]) -> list[int]:
    """Takes out the weakest break that does not stand, until all do."""
    while len(begins) > 1:
        breaks = list(_judge(view, begins))
        fallen = [k for k, found in enumerate(breaks) if not found.stands]
        if not fallen:
            break
        begins = _without(view, begins, min(fallen, key=lambda k: breaks[k].strength))
    return begins


def _without(view: _View, begins: list[int], index: int) -> list[int]:
    settled: list[int] = view.segmenter.settle(begins[: index + 1] + begins[index + 2 :])[1]
    return settled


def _judge(view: _View, begins: list[int]) -> Iterator[Break]:
    edges = [*begins, len(view.segmenter)]
    for begin, at, end in zip(edges, edges[1:], edges[2:], strict=False):
        key = (begin, at, end)
        if key not in view.judged:
            view.judged[key] = _measure(view, begin, at, end)
        yield view.judged[key]


def _measure(view: _View, begin: int, at: int, end: int) -> Break:
    """All that the tests ask about one break."""
    segmenter = view.segmenter
    before, after = Line(*segmenter.line(begin, at)), Line(*segmenter.line(at, end))
    whole = Line(*segmenter.line(begin, end))
    span = slice(begin, end)
    two = np.concatenate([before(view.size[begin:at]), after(view.size[at:end])])
    cost_two = segmenter.cost(begin, at) + segmenter.cost(at, end)
    cost_one = segmenter.cost(begin, end)
    points = end - begin
    freedom = points - 5
    # Per point: what the lines leave, and at least what the noise alone would.
    noise = max(
        cost_two / max(freedom, 1),
        float(np.mean(view.weight[span] * view.error[span] ** 2)),
        LEAST_NOISE,
    )
    # The noise is at least that of the whole series, so it is known to as many degrees of freedom.
    critical = 3.0 * float(fdtri(3, len(segmenter) - 5, 1.0 - SIGNIFICANCE))
    middle = float(np.sqrt(view.size[at - 1] * view.size[at]))
    low, high = float(before(middle)), float(after(middle))
    reference = max(low, np.finfo(np.float64).tiny)
    level_before, slope_before = _line_errors(view, begin, at, middle, noise)
    level_after, slope_after = _line_errors(view, at, end, middle, noise)
    steepest = max(
        before.slope_seconds_per_byte, after.slope_seconds_per_byte, np.finfo(np.float64).tiny
    )
    return Break(
        begin=begin,
        at=at,
        end=end,
        before=before,
        after=after,
        last_before_bytes=int(view.size[at - 1]),
        first_after_bytes=int(view.size[at]),
        relative_jump=(high - low) / reference,
        jump_error=float(np.hypot(level_before * high / reference, level_after)) / reference,
        slope_change=abs(after.slope_seconds_per_byte - before.slope_seconds_per_byte) / steepest,
        slope_change_error=float(np.hypot(slope_before, slope_after)) / steepest,
        misfit=float(np.max(np.abs(whole(view.size[span]) - two) / view.seconds[span])),
        gain=1.0 - float(np.sqrt(cost_two / cost_one)) if cost_one > 0.0 else 0.0,
        strength=(cost_one - cost_two) / noise / critical,
        sharpness=float(np.sqrt(_smooth_cost(view, span, middle) / max(cost_two, LEAST_NOISE))),
        kink_strength=(_kink_cost(view, begin, at, end) - cost_two) / noise,
    )


def _line_errors(
    view: _View, begin: int, end: int, at_bytes: float, noise: float
) -> tuple[float, float]:
    """Standard errors of a line's value at a size (seconds) and of its slope (seconds per byte)."""
    weight = view.weight[begin:end]
    centre = float(np.average(view.size[begin:end], weights=weight))
    total = float(np.sum(weight))
    spread = float(np.sum(weight * (view.size[begin:end] - centre) ** 2))
    slope = np.sqrt(noise / spread)
    return float(np.sqrt(noise / total + (slope * (at_bytes - centre)) ** 2)), float(slope)


def _kink_cost(view: _View, begin: int, at: int, end: int) -> float:
    """Lowest cost of two lines that meet at a size next to the break, or between those sizes."""
    first, last = view.size[max(at - 2, begin)], view.size[min(at + 1, end - 1)]
    before, after = view.segmenter.line(begin, at), view.segmenter.line(at, end)
    crossing = Line(*before).crossing_bytes(Line(*after))
    knots = np.append(np.geomspace(first, last, KNOTS), np.clip(crossing or first, first, last))[
        :, None
    ]
    size = view.size[begin:end]
    root = np.sqrt(view.weight[begin:end])
    flat = np.broadcast_to(root, (KNOTS + 1, size.size))
    columns = [
        flat,
        np.minimum(size, knots) / last * root,
        np.maximum(size - knots, 0.0) / last * root,
    ]
    basis = np.stack(columns, axis=2)
    target = view.seconds[begin:end] * root
    orthonormal = np.linalg.qr(basis).Q
    explained = np.einsum("knc,n->kc", orthonormal, target)
    return float(
        np.min(np.sum((target - np.einsum("knc,kc->kn", orthonormal, explained)) ** 2, axis=1))
    )


def _smooth_cost(view: _View, span: slice, middle: float) -> float:
    """Cost of a smooth curve with the four coefficients that two lines have."""
    size = view.size[span]
    root = np.sqrt(view.weight[span])
    basis = np.column_stack([np.ones(size.size), size, size * np.log(size / middle), np.sqrt(size)])
    scaled = basis * root[:, None]
    scaled /= np.linalg.norm(scaled, axis=0)
    target = view.seconds[span] * root
    best = np.linalg.lstsq(scaled, target, rcond=None)[0]
    return float(np.sum((target - scaled @ best) ** 2))


def _confirm(view: _View, found: Break, random: np.random.Generator) -> Break | None:
    """The break with the interval that replicates give it; None where it doesn't come back."""
    span = slice(found.begin, found.end)
    points = view.observed.points[span]
    replicates = np.stack([point.replicates(random, REPLICATES) for point in points], axis=1)
    own = np.array([point.standard_error for point in points])
    extra = np.where(own > 0.0, 0.0, view.error[span])
    replicates += extra * random.standard_normal(replicates.shape)
    places = found.begin + np.array(
        best_splits(view.size[span], replicates, view.weight[span], LIMITS)
    )
    if found.sharp:
        if np.mean(_same_place(view, places, found.at)) < STABLE_SHARE:
            return None
        if not _in_launches(view, found):
            return None
    low, high = _place_interval(view, found, places)
    return replace(
        found,
        last_before_bytes=int(view.size[low - 1]),
        first_after_bytes=int(view.size[high]),
    )


def _place_interval(view: _View, found: Break, places: NDArray[np.int64]) -> tuple[int, int]:
    """Lowest and highest index at which the second line may begin: the central 95 % of the replicates.

    A sharp break came back at its place, so that its interval is at most one sampled size wider on each side. A bend
    may be anywhere where two lines gain half as much as at the best place.
    """
    low, high = (int(place) for place in np.quantile(places, (0.025, 0.975), method="nearest"))
    if found.sharp:
        low, high = max(low, found.at - 1), min(high, found.at + 1)
    else:
        as_good = _half_as_good(view, found)
        low, high = min(low, as_good[0]), max(high, as_good[-1])
    return max(min(low, found.at), 1), min(max(high, found.at), view.size.size - 1)


def _half_as_good(view: _View, found: Break) -> list[int]:
    """Where two lines would gain at least half of what they gain at the best place, ascending."""
    cost, admissible = view.segmenter.cost, view.segmenter.admissible
    enough = cost(found.begin, found.end) * (1.0 - 0.5 * found.gain) ** 2
    return [
        at
        for at in range(found.begin + 1, found.end)
        if at == found.at
        or (
            admissible(found.begin, at)
            and admissible(at, found.end)
            and cost(found.begin, at) + cost(at, found.end) <= enough
        )
    ]


def _same_place(view: _View, places: NDArray[np.int64], at: int) -> NDArray[np.bool_]:
    """Within the adjacent sampled sizes or, where sizes are dense, within `SAME_PLACE`."""
    factor = np.abs(np.log(view.size[places] / view.size[at]))
    same: NDArray[np.bool_] = (np.abs(places - at) <= 1) | (factor <= np.log(SAME_PLACE))
    return same


def _in_launches(view: _View, found: Break) -> bool:
    """Whether most launches show a jump of the same direction at least half as large."""
    if not found.jumps:
        return True
    jumps = [_launch_jump(view, found, points) for points in view.observed.by_launch]
    known = [jump for jump in jumps if jump is not None]
    agreeing = sum(jump / found.relative_jump >= 0.5 for jump in known)
    return not known or 2 * agreeing > len(known)


def _launch_jump(view: _View, found: Break, points: tuple[Point, ...]) -> float | None:
    """Relative jump at the break in one launch; None where the launch has too few sizes beside it."""
    first, last = view.size[found.begin], view.size[found.end - 1]
    usable = [p for p in points if first <= p.message_bytes <= last and p.seconds > 0.0]
    size = np.array([point.message_bytes for point in usable], dtype=np.float64)
    at = int(np.searchsorted(size, view.size[found.at]))
    if at < MIN_POINTS or size.size - at < MIN_POINTS:
        return None
    seconds = np.array([point.seconds for point in usable])
    segmenter = Segmenter(size, seconds, 1.0 / seconds**2, LIMITS)
    before, after = Line(*segmenter.line(0, at)), Line(*segmenter.line(at, size.size))
    middle = float(np.sqrt(view.size[found.at - 1] * view.size[found.at]))
    return float(after(middle) / before(middle)) - 1.0
