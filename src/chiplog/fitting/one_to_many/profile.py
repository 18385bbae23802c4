"""LogfP's f, L and g by profile least squares over integer f, in closed form.

With o(p) known, RTT(p) - o(p) - o(1) = c + max((p-1) o(p), (p-f) g), where c = 2L and the second term counts for p > f
only. For a given f, the messages that wait for the gap are those to the most peers (the difference of both terms is
convex in p), so each choice of how many these are leaves a linear problem in c and g. Its solutions, and the g at which
one more p would wait, are all candidates for the least sum of squares; c and g are never negative. Nothing is iterated,
and all replicates go through at once.

Source: D. M. Bates, D. G. Watts, "Nonlinear regression analysis and its applications" (1988), section 6.1 for profiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.settings import SINGULAR

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """RTT(p) less the overheads at both ends, and what it is fitted with, over P numbers of peers and B replicates.

    `peers` and `weight` have shape (P,); `rest`, RTT(p) - o(p) - o(1) - 2 o_r, and `posting`, (p-1) o(p), have shape
    (P, B), in seconds.
    """

    peers: Array
    weight: Array
    rest: Array
    posting: Array


@dataclass(frozen=True)
class Profile:
    """The best c = 2L and g for each f of F, shape (F, B) each, and their weighted sum of squares.

    `waiting` counts the numbers of peers at which the gap is what counts; where it is 0, g means nothing.
    """

    f: NDArray[np.int64]
    squares: Array
    c: Array
    g: Array
    waiting: NDArray[np.int64]


def _evaluate(problem: Problem, gap_peers: Array, g: Array) -> tuple[Array, Array, Array]:
    """Sum of squares, c and how many wait, for each replicate's g, shape (B,) each."""
    gaps = gap_peers[:, None] * g
    target = problem.rest - np.maximum(problem.posting, gaps)
    w = problem.weight
    c = np.maximum(w @ target / w.sum(), 0.0)
    squares = w @ (target - c) ** 2
    return squares, c, np.sum(gaps > problem.posting, axis=0)


def _candidates(problem: Problem, gap_peers: Array) -> Iterator[Array]:
    """Every g, shape (B,), that may be the best one."""
    replicates = problem.rest.shape[1]
    yield np.zeros(replicates)
    w, total = problem.weight, problem.weight.sum()
    for first in np.flatnonzero(gap_peers > 0):
        yield problem.posting[first] / gap_peers[first]
        x = gap_peers[first:]
        wx = w[first:] * x
        sum_x, sum_xx = wx.sum(), (wx * x).sum()
        sum_y = (
            w[:first] @ (problem.rest - problem.posting)[:first] + w[first:] @ problem.rest[first:]
        )
        sum_xy = wx @ problem.rest[first:]
        determinant = total * sum_xx - sum_x**2
        if determinant > SINGULAR * total * sum_xx:
            g = (total * sum_xy - sum_x * sum_y) / determinant
            grounded = (sum_y - sum_x * g) < 0.0
            yield np.maximum(np.where(grounded, sum_xy / sum_xx, g), 0.0)


def profile(problem: Problem, f: NDArray[np.int64]) -> Profile:
    """The best fit for each of the integers `f`."""
    fits = [_best(problem, np.maximum(problem.peers - candidate, 0.0)) for candidate in f.tolist()]
    squares, c, g, waiting = (np.array(part) for part in zip(*fits, strict=True))
    return Profile(f, squares, c, g, waiting.astype(np.int64))


def _best(problem: Problem, gap_peers: Array) -> tuple[Array, ...]:
    """Of all candidates, each replicate's best: squares, c, g and how many wait, shape (B,) each."""
    tried = [(g, *_evaluate(problem, gap_peers, g)) for g in _candidates(problem, gap_peers)]
    g, squares, c, waiting = (np.array(part) for part in zip(*tried, strict=True))
    least = np.argmin(squares, axis=0)[None, :]
    return tuple(np.take_along_axis(part, least, axis=0)[0] for part in (squares, c, g, waiting))
