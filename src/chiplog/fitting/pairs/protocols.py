"""The protocols of k pairs: ranges of sizes that hold for all k at once, with a jump of the times between them.

A protocol depends on the size, not on how many pairs there are, and for a fixed k the time within it is a straight
line over the size. So the boundaries are those where one line for each k, all with the same boundaries, leave the least
relative residual: exact dynamic programming over the sizes. One more protocol is taken while it lowers the residual
deviation (per degree of freedom, since each protocol brings two numbers for each k) by a practical threshold, and while
its boundaries come back, give or take one size, from most resamples of the launches.

A boundary at which the lines of most k meet, between the last size before and the first one after, is no protocol
change: the cost of a byte changes there, and regimes (`regimes`) say so.

Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4 (1961).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.pairs.faces import two_faces
from chiplog.fitting.pairs.settings import (
    FEW_PAIRS,
    LEAST_SPAN,
    LESS_DEVIATION,
    RESAMPLES,
    SUPPORT,
)
from chiplog.fitting.pairs.solve import postal
from chiplog.fitting.pairs.table import Cells, Floats, PairTable, launch_medians
from chiplog.fitting.settings import (
    FEWEST_SIZES,
    LINE_COEFFICIENTS,
    MOST_REGIMES,
    NEGLIGIBLE,
    SHORTEST_SECONDS,
    SINGULAR,
)
from chiplog.models.max_rate_modified import MAX_RATE_MODIFIED
from chiplog.protocol_changes.change import Change
from chiplog.statistics import BEYOND_DOUBT, NO_DIFFERENCE


def protocol_limits(table: PairTable, rng: np.random.Generator) -> list[int]:
    """The last size in bytes of each protocol but the last one, ascending."""
    centres = launch_medians(table, rng, RESAMPLES)
    sizes, pairs = centres.shape[1:]
    if sizes < 2 * FEWEST_SIZES:
        return []
    most = min(MOST_REGIMES, sizes // FEWEST_SIZES)
    segmentations = _segmentations(table.sizes.astype(np.float64), centres, most)
    points = int(np.isfinite(centres[0]).sum())
    best: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    deviation = np.inf
    exact = max(NEGLIGIBLE, float(np.sqrt(np.mean(table.rounding**2))))
    for count, (cost, starts) in enumerate(segmentations, start=1):
        freedom = points - LINE_COEFFICIENTS * pairs * count
        if freedom <= 0:
            break
        now = float(np.sqrt(max(cost[0], 0.0) / freedom))
        if count > 1 and (now > (1.0 - LESS_DEVIATION) * deviation or not _supported(starts)):
            break
        best, deviation = starts[0], now
        if deviation < exact:
            break
    kept = _without_hidden_start_up(table, centres[0], best.tolist(), exact)
    limits = [int(table.sizes[start - 1]) for start in kept]
    return [
        limit
        for limit, (before, after) in zip(limits, _sides(table, limits), strict=True)
        if jumps(before, after)
    ]


def _without_hidden_start_up(
    table: PairTable, times: Floats, starts: list[int], exact: float
) -> list[int]:
    """The `starts` without those where the node's rate only ceases to be hidden behind the start-up.

    Where `max(k n/R_N, s0 + n/R_C)` describes both sides of a boundary about as well as the lines do, each k has a bend
    there, but there is one protocol.
    """
    sizes, pairs = table.sizes.astype(np.float64), np.unique(table.pairs).astype(np.float64)
    kept = list(starts)
    for start in starts:
        place = kept.index(start)
        first = kept[place - 1] if place else 0
        end = kept[place + 1] if place + 1 < len(kept) else sizes.size
        lines = sum(
            float(_line_costs(sizes[low:high], times[None, low:high])[0])
            for low, high in ((first, start), (start, end))
        )
        cells = _cells(sizes[first:end], pairs, times[first:end])
        bent = cells.cost(_modified_seconds(cells))
        points = cells.weight.size
        split_freedom = max(points - 2 * LINE_COEFFICIENTS * pairs.size, 1)
        tolerated = lines / split_freedom / (1.0 - LESS_DEVIATION) ** 2 + exact**2
        if bent / max(points - len(MAX_RATE_MODIFIED.parameters), 1) <= tolerated:
            kept.remove(start)
    return kept


def _cells(sizes: Floats, pairs: Floats, times: Floats) -> Cells:
    known = np.isfinite(times)
    seconds = times[known]
    size, count = (grid[known] for grid in np.meshgrid(sizes, pairs, indexing="ij"))
    return Cells(size, count, seconds**-2.0, seconds**-1.0, np.ones(seconds.size))


def _modified_seconds(cells: Cells) -> Floats:
    parameters = two_faces([cells])[0]
    alone = parameters["s0"] + cells.message_bytes / parameters["R_C"]
    return np.asarray(np.maximum(cells.pairs * cells.message_bytes / parameters["R_N"], alone))


def _line_costs(sizes: Floats, seconds: Floats) -> Floats:
    """The relative squares that the best lines, neither falling nor negative at 0 B, leave; shape (replicates,).

    `seconds` has shape (replicates, sizes, pairs), NaN where not measured.
    """
    known = np.isfinite(seconds)
    inverse = np.where(known, 1.0 / seconds, 0.0)
    x = sizes[:, None]
    total, moment, square = (np.sum(inverse**2 * x**power, axis=1) for power in (0, 1, 2))
    level, slanted = (np.sum(inverse * x**power, axis=1) for power in (0, 1))
    count = known.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = total * square - moment**2
        slope = (total * slanted - moment * level) / determinant
        intercept = (square * level - moment * slanted) / determinant
        free = count - intercept * level - slope * slanted
        flat, grounded = count - level**2 / total, count - slanted**2 / square
    bound = np.fmin(np.where(total > 0, flat, 0.0), np.where(square > 0, grounded, np.inf))
    inside = (determinant > SINGULAR * total * square) & (slope >= 0) & (intercept >= 0)
    return np.asarray(np.maximum(np.where(inside, free, bound), 0.0).sum(axis=1))


def _segmentations(
    sizes: Floats, centres: Floats, most: int
) -> list[tuple[Floats, NDArray[np.int64]]]:
    """For 1 to `most` protocols: the least cost, shape (replicates,), and where each but the first one starts.

    The starts are indices into `sizes`, shape (replicates, protocols - 1).
    """
    replicates, count = centres.shape[0], sizes.size
    costs = np.full((count + 1, count + 1, replicates), np.inf)
    for first in range(count):
        for end in range(first + FEWEST_SIZES, count + 1):
            if sizes[end - 1] < LEAST_SPAN * sizes[first]:
                continue
            costs[first, end] = _line_costs(sizes[first:end], centres[:, first:end])
    best, came_from = costs[0], []
    segmentations = [(best[count], np.empty((replicates, 0), dtype=np.int64))]
    for _ in range(1, most):
        sums = best[:, None, :] + costs
        came_from.append(np.argmin(sums, axis=0))
        best = np.min(sums, axis=0)
        segmentations.append((best[count], _trace(came_from, count, replicates)))
    return segmentations


def _trace(
    came_from: Sequence[NDArray[np.int64]], count: int, replicates: int
) -> NDArray[np.int64]:
    every = np.arange(replicates)
    ends = np.full(replicates, count)
    starts = []
    for step in reversed(came_from):
        ends = step[ends, every]
        starts.append(ends)
    return np.stack(starts[::-1], axis=1)


def _supported(starts: NDArray[np.int64]) -> bool:
    """Do the resamples (all rows but the first) have the same boundaries, give or take one size?"""
    if starts.shape[0] == 1:
        return True
    near = np.all(np.abs(starts[1:] - starts[0]) <= 1, axis=1)
    return bool(near.mean() >= SUPPORT)


def protocol_changes(table: PairTable, limits: Sequence[int]) -> tuple[Change, ...]:
    """The changes at `limits` as the fewest pairs measured on both sides show them."""
    return tuple(_change(before, after) for before, after in _sides(table, limits))


def _sides(table: PairTable, limits: Sequence[int]) -> list[tuple[PairTable, PairTable]]:
    """The points of the protocol before and of the one after each limit."""
    edges = [-1, *limits, int(table.sizes[-1])]
    return [
        (table.within(below + 1, limit), table.within(limit + 1, above))
        for below, limit, above in zip(edges, edges[1:], edges[2:], strict=False)
    ]


def jumps(before: PairTable, after: PairTable) -> bool:
    """Does the time of few pairs jump between two ranges of sizes, beyond noise?

    The lines through both sides must stay apart from the last size before to the first one after; else the border is
    where the cost of a byte changes. Many pairs don't tell: they show the node's rate, too, and that may change alone.
    """
    last, first = float(before.sizes[-1]), float(after.sizes[0])
    by_pairs = []
    for pairs in np.intersect1d(before.pairs, after.pairs)[:FEW_PAIRS].tolist():
        lines = [_Line(side.subset(side.pairs == pairs)) for side in (before, after)]
        steps = [
            (float(np.log(lines[1].seconds(size) / lines[0].seconds(size))), size)
            for size in (last, first)
        ]
        step, size = min(steps, key=lambda step: abs(step[0]))
        stay_apart = steps[0][0] * steps[1][0] > 0.0
        error = float(np.linalg.norm([line.relative_error(size) for line in lines]))
        by_pairs.append((abs(step) if stay_apart else 0.0, error))
    if not by_pairs:
        return True
    step, error = np.median(by_pairs, axis=0).tolist()
    return bool(step > max(np.log1p(NO_DIFFERENCE), BEYOND_DOUBT * error / np.sqrt(len(by_pairs))))


class _Line:
    """The best line through points of one k, and by how much scatter makes it uncertain."""

    def __init__(self, table: PairTable) -> None:
        cells = table.cells()
        self._start, self._slope = _line(table)
        columns = np.stack([np.ones_like(cells.message_bytes), cells.message_bytes])
        ratio = cells.linear / cells.square / np.array([self.seconds(n) for n in columns[1]])
        freedom = max(ratio.size - 2, 1)
        weighted = columns / (cells.linear / cells.square)
        self._covariance = (
            np.linalg.pinv(weighted @ weighted.T) * np.sum((ratio - 1.0) ** 2) / freedom
        )

    def seconds(self, message_bytes: float) -> float:
        return max(self._start + self._slope * message_bytes, SHORTEST_SECONDS)

    def relative_error(self, message_bytes: float) -> float:
        """Standard error of the line at a size, as a share of it."""
        column = np.array([1.0, message_bytes])
        return float(np.sqrt(column @ self._covariance @ column)) / self.seconds(message_bytes)


def _change(before: PairTable, after: PairTable) -> Change:
    last, first = int(before.sizes[-1]), int(after.sizes[0])
    common = np.intersect1d(before.pairs, after.pairs)
    if common.size == 0:
        return Change(last, first, "both", None, ("pairs",))
    lines = [_line(side.subset(side.pairs == common[0])) for side in (before, after)]
    middle = float(np.sqrt(float(max(last, 1)) * float(first)))
    seconds = [intercept + slope * middle for intercept, slope in lines]
    jump = seconds[1] / seconds[0] - 1.0 if seconds[0] > 0 else None
    slopes = [slope for _, slope in lines]
    bends = abs(slopes[1] - slopes[0]) > NO_DIFFERENCE * max(slopes)
    jumps = jump is not None and abs(jump) > NO_DIFFERENCE
    kind = "both" if jumps and bends else "jump" if jumps else "slope"
    return Change(
        last, first, kind, jump, ("pairs",)
    )  # the lines of each k cross at a size of their own


def _line(table: PairTable) -> tuple[float, float]:
    """Intercept in seconds and slope in seconds per byte of the best line through the points."""
    parameters = postal([table.cells()])[0]
    return float(parameters["s0"]), 1.0 / float(parameters["R_C"])
