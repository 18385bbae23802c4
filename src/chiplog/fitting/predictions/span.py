"""The least and the largest answer over a set of parameter vectors.

Times are max-plus in the parameters, hence convex: the largest lies at a corner; the least may lie inside, so the
search goes on from the best of a first set of points in ever smaller steps. A point is named by its fractions, as in
`chiplog.fitting.predictions.regime`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.settings import CORNERS, HALVINGS, INSIDE, TRIES
from chiplog.fitting.settings import NEGLIGIBLE


@dataclass(frozen=True)
class AnswerSpan:
    """An answer over the set: one inside it, and the least and the largest, draws included."""

    value: float
    low: float
    high: float


Evaluate = Callable[[Array, bool], Array]
"""Answers at fractions of shape (points, free), shape (points, rows): 1 row, or 1 + DRAWS where that is asked for."""


def span(evaluate: Evaluate, free: int, ties: Sequence[int] = ()) -> AnswerSpan:
    """The least and the largest answer over the set, with 95 % of the draws, and that in the middle of the set.

    `ties` says which parameters are of one kind: among the first points all of a kind lie at one end together.
    """
    if free == 0:
        answers = evaluate(np.zeros((1, 0)), True)[0]
        low, high = interval(answers[1:])
        value = float(answers[0])
        return AnswerSpan(value, min(low, value), max(high, value))
    centre, least, most = extreme_points(evaluate, free, ties)
    answers = evaluate(np.stack([centre, least, most]), True)
    lows, highs = interval(answers[1, 1:])[0], interval(answers[2, 1:])[1]
    value = float(answers[0, 0])
    low = min(lows, value, float(answers[1, 0]))
    return AnswerSpan(value, low, max(highs, value, float(answers[2, 0])))


def extreme_points(
    evaluate: Evaluate, free: int, ties: Sequence[int] = ()
) -> tuple[Array, Array, Array]:
    """The middle, and where the answer is least and largest, each of shape (free,)."""
    points = first_points(free, ties)
    values = evaluate(points, False)[:, 0]
    places = [_first_of_best(values, np.min), _first_of_best(values, np.max)]
    ends, best = list(points[places]), values[places].tolist()
    steps: Sequence[float] = [0.5**halving for halving in range(1, HALVINGS + 1)]
    tries = 0
    while steps:
        better = _first_better(evaluate, ends, best, steps)
        if better is None:
            break
        place, ends, best = better
        tries = tries + 1 if place == 0 else 1
        steps = steps[place + (tries == TRIES) :]
        tries %= TRIES
    return points[0], ends[0], ends[1]


def _first_better(
    evaluate: Evaluate, ends: Sequence[Array], best: Sequence[float], steps: Sequence[float]
) -> tuple[int, list[Array], list[float]] | None:
    """The place of the first of the steps that gets either end further, with the new ends and what is best then.

    All steps are asked about at once: mostly none of them does.
    """
    moves = np.stack([[_moves(end, step) for end in ends] for step in steps])
    answers = evaluate(moves.reshape(-1, moves.shape[-1]), False)[:, 0].reshape(moves.shape[:3])
    least, most = answers[:, 0].min(axis=1), answers[:, 1].max(axis=1)
    shorter = (least < best[0]) & ~_is_same(least, best[0])
    longer = (most > best[1]) & ~_is_same(most, best[1])
    better = np.flatnonzero(shorter | longer)
    if not better.size:
        return None
    place = int(better[0])
    ends, best = list(ends), list(best)
    for end, is_better, extreme in ((0, shorter, np.min), (1, longer, np.max)):
        if is_better[place]:
            first = _first_of_best(answers[place, end], extreme)
            ends[end], best[end] = moves[place, end, first], float(answers[place, end, first])
    return place, ends, best


def _first_of_best(values: Array, extreme: Callable[[Array], Array]) -> int:
    """The place of the first answer that is as good as the least or the largest."""
    return int(np.argmax(_is_same(values, float(extreme(values)))))


def _is_same(values: Array, best: float) -> NDArray[np.bool_]:
    return np.isclose(values, best, rtol=NEGLIGIBLE, atol=0.0)


def _moves(point: Array, step: float) -> Array:
    """One parameter at a time further up or down, or to one of its ends."""
    free = np.arange(point.size)
    # Derived: a step down, a step up, and the two ends.
    moves = np.repeat(point[np.newaxis], 4 * point.size, axis=0).reshape(-1, 4, point.size)
    moves[free, 0, free] = np.maximum(0.0, point - step)
    moves[free, 1, free] = np.minimum(1.0, point + step)
    moves[free, 2, free] = 0.0
    moves[free, 3, free] = 1.0
    return moves.reshape(-1, point.size)


@cache
def _first_points(free: int, ties: tuple[int, ...]) -> Array:
    kinds = np.array(ties or range(free))
    count = int(kinds.max()) + 1 if free else 0
    rng = np.random.default_rng(free)
    if count <= CORNERS:
        ends = np.array(list(product((0.0, 1.0), repeat=count))).reshape(-1, count)[:, kinds]
    else:
        ends = np.array([[0.0] * free, [1.0] * free])
    more = rng.integers(0, 2, (2 * INSIDE, free)).astype(np.float64)
    points = np.concatenate([np.full((1, free), 0.5), ends, more, rng.random((INSIDE, free))])
    points.flags.writeable = False
    return points


def first_points(free: int, ties: Sequence[int] = ()) -> Array:
    """The middle, corners, and points inside; shape (points, free)."""
    return _first_points(free, tuple(ties))
