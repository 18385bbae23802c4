"""Regimes of one protocol: ranges of sizes, found over all sizes and numbers of pairs together.

Within a regime one parameter set holds for all k. Three forms of it are tried: max-rate, modified max-rate, and this
with what pairs delay one another by before the node's rate is reached (s_k, G_k, g_N). For each form and each number of
regimes, exact dynamic programming finds the borders that leave the least relative squares. Which form and how many
regimes is decided by points that are held out: the fewest parameters that predict these are taken. The borders hold for
all models, so that one that doesn't describe the machine invents no regime.

Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4 (1961).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chiplog.fitting.pairs.faces import two_faces
from chiplog.fitting.pairs.held_out import Form, HeldOut, JudgedForm
from chiplog.fitting.pairs.solve import max_rate
from chiplog.fitting.pairs.table import Cells, Floats, PairTable
from chiplog.fitting.settings import FEWEST_SIZES, MOST_REGIMES, RESOLUTION
from chiplog.models.max_rate import MAX_RATE
from chiplog.models.max_rate_modified import DELAYS, MAX_RATE_MODIFIED

_MAX_RATE = Form(MAX_RATE, max_rate, len(MAX_RATE.parameters))
_MODIFIED = Form(
    MAX_RATE_MODIFIED, partial(two_faces, delays=False), len(MAX_RATE_MODIFIED.parameters)
)
_DELAYED = Form(
    MAX_RATE_MODIFIED,
    partial(two_faces, delays=True),
    len((*MAX_RATE_MODIFIED.parameters, *DELAYS)),
)


@dataclass(frozen=True)
class PairsRegimes:
    """The last size in bytes of each regime but the last one, and whether pairs delay one another in all of them."""

    limits: tuple[int, ...] = ()
    delays: bool = False


def joint_regimes(table: PairTable) -> PairsRegimes:
    """The regimes of the points in `table`, which are of one protocol.

    One regime without delays where there are too few sizes, or numbers of pairs, to hold some out.
    """
    if np.unique(table.pairs).size < 2 or table.sizes.size <= FEWEST_SIZES:
        return PairsRegimes()
    floor = max(RESOLUTION, float(np.sqrt(np.mean(table.rounding**2))))
    held_out = HeldOut(table.cells(), floor)
    plain = [*_candidates(_MAX_RATE, held_out), *_candidates(_MODIFIED, held_out)]
    best = _fewest(plain, held_out)
    if not held_out.over_pairs:
        return PairsRegimes(best.limits)
    cells = held_out.cells.pairs.size
    if held_out.judge(_DELAYED, best.limits).beats(best, cells):
        best = _fewest([*plain, *_candidates(_DELAYED, held_out)], held_out)
    modified, delayed = (held_out.judge(form, best.limits) for form in (_MODIFIED, _DELAYED))
    return PairsRegimes(best.limits, delayed.beats(modified, cells))


def _fewest(candidates: Sequence[JudgedForm], held_out: HeldOut) -> JudgedForm:
    """The one with the most parameters that beats all that have fewer."""
    cells = held_out.cells.pairs.size
    ordered = sorted(candidates, key=lambda candidate: (candidate.numbers, candidate.error))
    best = ordered[0]
    for judged in ordered[1:]:
        fewer = [other for other in ordered if other.numbers < judged.numbers]
        if judged.numbers > best.numbers and all(judged.beats(other, cells) for other in fewer):
            best = judged
    return best


def _candidates(form: Form, held_out: HeldOut) -> Iterator[JudgedForm]:
    """One regime, then two, … with the best borders each."""
    yield held_out.judge(form, ())
    for limits in _borders(form, held_out.cells, held_out.sizes):
        yield held_out.judge(form, limits)


def _borders(form: Form, cells: Cells, sizes: Floats) -> Iterator[tuple[int, ...]]:
    """The limits of two regimes, of three, … with the least relative squares."""
    most = min(MOST_REGIMES, sizes.size // FEWEST_SIZES)
    if most < 2:
        return
    costs = _costs(form, cells, sizes)
    count = sizes.size
    best, came_from = costs[0], []
    for _ in range(1, most):
        sums = best[:, None] + costs
        came_from.append(np.argmin(sums, axis=0))
        best = np.min(sums, axis=0)
        starts, end = [], count
        for step in reversed(came_from):
            end = int(step[end])
            starts.append(end)
        yield tuple(int(sizes[start - 1]) for start in reversed(starts))


def _costs(form: Form, cells: Cells, sizes: Floats) -> Floats:
    """The squares that each range of sizes leaves, shape (sizes + 1, sizes + 1): from first to before end."""
    count = sizes.size
    ranges = [
        (first, end)
        for first in range(count)
        for end in range(first + FEWEST_SIZES, count + 1)
        if first == 0 or first >= FEWEST_SIZES
    ]
    index = np.searchsorted(sizes, cells.message_bytes)
    many = [cells.only((index >= first) & (index < end)) for first, end in ranges]
    costs = np.full((count + 1, count + 1), np.inf)
    for place, range_cells, solution in zip(ranges, many, form.solve(many), strict=True):
        costs[place] = range_cells.cost(form.seconds(cells, solution))
    return costs
