"""Regimes of one protocol: ranges of sizes, found over all sizes and numbers of pairs together.

Within a regime one parameter set holds for all k. Three forms of it are tried: max-rate, modified max-rate, and this
with what pairs delay one another by before the node's rate is reached (s_k, G_k, g_N). For each form and each number of
regimes, exact dynamic programming finds the borders that leave the least relative squares. Which form and how many
regimes is decided by points that are held out: the fewest parameters that predict these are taken. The borders hold for
all models, so that one that doesn't describe the machine invents no regime.

Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4 (1961); L. J.
Tashman, "Out-of-sample tests of forecasting accuracy: an analysis and review", Int. J. Forecasting 16 (2000), for the
larger numbers of pairs, which are predicted from the smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.pairs.faces import Solution, two_faces
from chiplog.fitting.pairs.settings import (
    FEWEST_PAIRS,
    GAIN,
    KEPT_PAIRS,
    SIGNIFICANT,
    SIGNIFICANT_BORDER,
)
from chiplog.fitting.pairs.solve import max_rate
from chiplog.fitting.pairs.table import Cells, Floats, PairTable
from chiplog.fitting.settings import (
    AS_GOOD,
    FEWEST_SIZES,
    FOLDS,
    MOST_REGIMES,
    RESOLUTION,
    SHORTEST_SECONDS,
)
from chiplog.models.max_rate import MAX_RATE
from chiplog.models.max_rate_modified import DELAYS, MAX_RATE_MODIFIED
from chiplog.models.protocol import Model, points

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Form:
    """One form of what holds within a regime: its model, solver and number of parameters."""

    model: Model
    solve: Callable[[Sequence[Cells]], list[Solution]]
    numbers: int

    def seconds(self, cells: Cells, solution: Solution) -> Floats:
        """One-way times of all cells, shape (cells,)."""
        asked = points("pairs", cells.message_bytes, pairs=cells.pairs.astype(np.int64))
        return np.asarray(self.model.seconds(asked, solution) / 2.0)


@dataclass(frozen=True)
class JudgedForm:
    """A form with the limits of its regimes, the squares that it leaves, and the relative errors of what was held out.

    `by_size` and `by_pairs` have one entry for each time that a (size, k) was held out, in the same order for all.
    """

    form: Form
    limits: tuple[int, ...]
    squares: float
    by_size: Floats
    by_pairs: Floats

    @property
    def numbers(self) -> int:
        """Parameters of all regimes, and the borders between them."""
        return self.form.numbers * (len(self.limits) + 1) + len(self.limits)

    @property
    def error(self) -> float:
        """Mean error; sizes and numbers of pairs count alike."""
        return float(np.mean([kind.mean() for kind in (self.by_size, self.by_pairs) if kind.size]))

    def beats(self, other: JudgedForm, cells: int) -> bool:
        """Is it worth its additional parameters?

        It must predict better by the practical threshold and by more than chance, and neither held-out sizes nor
        numbers of pairs worse; more regimes must predict held-out sizes better. The squares of all `cells` must fall,
        too, by more than the Bayesian information criterion takes for chance.
        """
        regimes = len(self.limits) > len(other.limits)
        errors = [
            float(judged.by_size.mean()) if regimes else judged.error for judged in (self, other)
        ]
        kinds = ((self.by_size, other.by_size), (self.by_pairs, other.by_pairs))
        if errors[0] > (1.0 - GAIN) * errors[1]:
            return False
        if any(
            self_errors.size and self_errors.mean() > (1.0 + AS_GOOD) * other_errors.mean()
            for self_errors, other_errors in kinds
        ):
            return False
        gains = np.concatenate(
            [
                other_errors - self_errors
                for self_errors, other_errors in kinds[: 1 if regimes else 2]
            ]
        )
        least = SIGNIFICANT_BORDER if regimes else SIGNIFICANT
        if gains.mean() < least * gains.std() / np.sqrt(gains.size):
            return False
        fall = cells * np.log(max(other.squares, 1e-300) / max(self.squares, 1e-300))
        return bool(fall > (self.numbers - other.numbers) * np.log(cells))


class HeldOut:
    """What is held out in turn: parts of the sizes, and the largest numbers of pairs."""

    def __init__(self, cells: Cells, floor: float) -> None:
        self.cells = cells
        self.sizes = np.unique(cells.message_bytes)
        self._floor = floor
        self._seconds = cells.linear / cells.square
        self._by_size, self._by_pairs = list(self._sizes_held_out()), list(self._pairs_held_out())

    @property
    def over_pairs(self) -> bool:
        """Are there numbers of pairs enough to hold some out?"""
        return bool(self._by_pairs)

    def _sizes_held_out(self) -> Iterator[Mask]:
        index = np.searchsorted(self.sizes, self.cells.message_bytes)
        folds = min(FOLDS, self.sizes.size)
        return (index % folds == fold for fold in range(folds))

    def _pairs_held_out(self) -> Iterator[Mask]:
        pairs = np.unique(self.cells.pairs)
        if pairs.size < FEWEST_PAIRS:
            return
        kept = {max(FEWEST_PAIRS - 1, int(np.ceil(share * pairs.size))) for share in KEPT_PAIRS}
        for count in sorted(kept):
            yield self.cells.pairs > pairs[count - 1]

    def judge(self, form: Form, limits: Sequence[int]) -> JudgedForm:
        """The form with regimes of these limits, each fitted to what is not held out."""
        everything = np.zeros(self.cells.pairs.shape, dtype=np.bool_)
        masks = [everything, *self._by_size, *self._by_pairs]
        piece = np.searchsorted(np.array(limits, dtype=np.float64), self.cells.message_bytes)
        pieces = [piece == number for number in range(len(limits) + 1)]
        solutions = iter(
            form.solve([self.cells.only(inside & ~held) for held in masks for inside in pieces])
        )
        seconds = []
        for _ in masks:
            of_piece = [form.seconds(self.cells, next(solutions)) for _ in pieces]
            seconds.append(np.choose(piece, of_piece))
        errors = [
            np.maximum(
                np.abs(np.log(_positive(predicted[held]) / self._seconds[held])), self._floor
            )
            for predicted, held in zip(seconds[1:], masks[1:], strict=True)
        ]
        count = len(self._by_size)
        least = self._floor**2 * float(self.cells.weight.sum())
        return JudgedForm(
            form,
            tuple(limits),
            max(self.cells.cost(seconds[0]), least),
            np.concatenate(errors[:count]),
            np.concatenate([np.empty(0), *errors[count:]]),
        )


def _positive(seconds: Floats) -> Floats:
    """Seconds of which a logarithm can be taken: a form may predict a time of 0."""
    return np.maximum(seconds, SHORTEST_SECONDS)


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
