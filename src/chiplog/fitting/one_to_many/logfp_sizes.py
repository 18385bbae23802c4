"""LogfP's parameters for all message sizes at once: L, g and the overheads grow by a cost per byte each.

    o(p, s)   = o_min + o_max/p + (s-1) O_s
    RTT(p, s) = 2 (L + (s-1) G) + 2 o_r(s) + o(p, s) + o(1, s) + max((p-1) o(p, s), (p-f) (g + (s-1) G))

As at one size, o(p, s) comes from the post times, and L, g and G by weighted least squares for each integer f. For a
given set of points that wait for the gap the problem is linear; the set is solved for in turns with the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.non_negative import non_negative
from chiplog.fitting.estimates.parameters import Estimates, fixed_at_zero, identified
from chiplog.fitting.one_to_many.logfp import (
    at_best_f,
    gap_and_f,
    latency_estimate,
    overhead_estimate,
    profiled,
)
from chiplog.fitting.one_to_many.observed import ObservedToMany, stacked
from chiplog.fitting.one_to_many.profile import Array, Problem, Profile
from chiplog.fitting.one_to_many.separable import relative_errors
from chiplog.fitting.one_to_many.settings import FEWEST_PEERS, LOGFP_NUMBERS, MOST_TURNS
from chiplog.fitting.regimes.line import RegimeLine
from chiplog.fitting.settings import ROUNDING_SHARE
from chiplog.models.protocol import Model, payload_steps


@dataclass(frozen=True)
class SizesProblem(Problem):
    """A problem over P points of several sizes; `steps`, shape (P,), are their bytes after the first."""

    steps: Array


@dataclass(frozen=True)
class SizesProfile(Profile):
    """A profile with the time per byte, shape (F, B); `waiting` counts the numbers of peers that wait at any size."""

    G: Array


def logfp_size_estimates(
    model: Model, observed: Sequence[ObservedToMany], rng: np.random.Generator
) -> Estimates | None:
    """L, o_min, o_max, O_s, o_r and O_r (of send and receive), g, f and G of all sizes.

    None where some size lacks round trips, post times or the receive overhead that others have.
    """
    del model
    has_receive = {bool(observation.receive.value.size) for observation in observed}
    few_trips = any(observation.round_trips.peers.size < FEWEST_PEERS for observation in observed)
    if (
        few_trips
        or any(observation.overheads.peers.size < 2 for observation in observed)
        or len(has_receive) > 1
    ):
        return None
    overheads = _overheads(observed, rng)
    problem = _problem(observed, overheads)
    fit = profiled(problem, rng, sizes_profile, LOGFP_NUMBERS + 1)
    assert isinstance(fit.whole, SizesProfile)
    per_byte = at_best_f(fit, fit.whole.G)
    o_min, o_max, O_s = overheads
    line = RegimeLine(float(o_min[0]), float(o_max[0]), o_min[1:], o_max[1:], len(observed))
    return {
        "L": latency_estimate(observed[0], fit),
        "o_min": overhead_estimate("o_min", line.intercept, line.intercept_draws),
        "o_max": overhead_estimate("o_max", line.slope, line.slope_draws),
        "O_s": identified("O_s", "s/B", float(O_s[0]), O_s[1:]),
        **_receive(observed),
        **gap_and_f(problem, fit, line),
        "G": identified("G", "s/B", float(per_byte[0]), per_byte[1:]),
    }


def _solved(columns: Array, weight: Array, target: Array) -> Array:
    """Non-negative coefficients of the `columns`, shape (P, C), for targets of shape (P, B): shape (C, B)."""
    weighted = columns * weight[:, None]
    gram = np.broadcast_to(weighted.T @ columns, (target.shape[1], *[columns.shape[1]] * 2))
    coefficients, _ = non_negative(gram, (weighted.T @ target).T)
    return np.asarray(coefficients.T)


def _overheads(observed: Sequence[ObservedToMany], rng: np.random.Generator) -> Array:
    """o_min, o_max and O_s, shape (3, 1 + B), the fit first; the replicates get as much noise as residuals show."""
    posts = stacked([observation.overheads for observation in observed])
    quantity, p = posts.quantity, posts.peers.astype(np.float64)
    error = relative_errors(quantity.value, quantity.sigma)
    columns = np.stack([np.ones(p.size), 1.0 / p, payload_steps(quantity.message_bytes)], axis=1)
    best = _solved(columns, error**-2.0, quantity.value[:, None])
    squares = float(np.sum(((columns @ best)[:, 0] - quantity.value) ** 2 / error**2))
    missing = np.sqrt(max(squares / max(p.size - best.size, 1) - 1.0, 0.0)) * error
    noise = missing[:, None] * rng.standard_normal(quantity.draws.shape)
    draws = _solved(columns, error**-2.0, quantity.draws + noise)
    return np.concatenate((best, draws), axis=1)


def _problem(observed: Sequence[ObservedToMany], overheads: Array) -> SizesProblem:
    """The fit in the first column, then the replicates."""
    totals = stacked([observation.round_trips for observation in observed])
    quantity, p = totals.quantity, totals.peers.astype(np.float64)
    steps = payload_steps(quantity.message_bytes)
    o_min, o_max, O_s = overheads
    per_byte = steps[:, None] * O_s
    o = o_min + o_max / p[:, None] + per_byte
    first = o_min + o_max + per_byte
    rest = np.column_stack((quantity.value, quantity.draws)) - o - first
    if observed[0].receive.value.size and not observed[0].one_sided:
        counts = [observation.round_trips.peers.size for observation in observed]
        rest -= 2.0 * np.repeat(_receives(observed), counts, axis=0)
    posting = (p[:, None] - 1.0) * o
    overheads_spread = (o + first + posting)[:, 1:].std(axis=1)
    error = np.sqrt(
        quantity.sigma**2 + overheads_spread**2 + (ROUNDING_SHARE * quantity.value) ** 2
    )
    return SizesProblem(p, error**-2.0, rest, posting, steps)


def _receives(observed: Sequence[ObservedToMany]) -> Array:
    """o_r at each size, shape (sizes, 1 + B)."""
    return np.stack(
        [
            np.concatenate((observation.receive.value[:1], observation.receive.draws[0]))
            for observation in observed
        ]
    )


def _receive(observed: Sequence[ObservedToMany]) -> Estimates:
    """o_r and O_r, where they were measured."""
    if observed[0].one_sided:
        return {"o_r": fixed_at_zero("o_r", "s", observed[0].receive.draws.shape[1])}
    if not observed[0].receive.value.size:
        return {}
    steps = payload_steps([observation.message_bytes for observation in observed])
    table = _receives(observed)
    weight = 1.0 / (table[:, 1:].var(axis=1) + (ROUNDING_SHARE * table[:, 0]) ** 2)
    o_r, O_r = _solved(np.stack([np.ones(steps.size), steps], axis=1), weight, table)
    return {
        "o_r": identified("o_r", "s", float(o_r[0]), o_r[1:]),
        "O_r": identified("O_r", "s/B", float(O_r[0]), O_r[1:]),
    }


def sizes_profile(problem: SizesProblem, f: NDArray[np.int64]) -> SizesProfile:
    """The best fit for each of the integers `f`, each search from the set that waits at the f before, too."""
    first = replace(problem, rest=problem.rest[:, :1], posting=problem.posting[:, :1])
    waits = np.zeros(problem.peers.shape, dtype=np.bool_)
    fits = []
    for candidate in f.tolist():
        gap_peers = np.maximum(problem.peers - candidate, 0.0)
        waits = _best_set(first, gap_peers, (waits & (gap_peers > 0), gap_peers > 0))
        fits.append(_at_set(problem, gap_peers, waits))
    squares, c, g, per_byte, waiting = (np.array(part) for part in zip(*fits, strict=True))
    return SizesProfile(f, squares, c, g, waiting.astype(np.int64), per_byte)


def _best_set(
    problem: SizesProblem, gap_peers: Array, starts: Sequence[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Which points wait for the gap where the sum of squares of the fit, the first column, is least."""
    settled = [_settled(problem, gap_peers, start) for start in starts]
    squares = [
        float(_evaluate(problem, gap_peers, _of_set(problem, gap_peers, waits))[0][0])
        for waits in settled
    ]
    return settled[int(np.argmin(squares))]


def _at_set(problem: SizesProblem, gap_peers: Array, waits: NDArray[np.bool_]) -> tuple[Array, ...]:
    """Squares, c, g and G, each of shape (B,), and how many numbers of peers wait."""
    solution = _of_set(problem, gap_peers, waits)
    squares, waiting = _evaluate(problem, gap_peers, solution)
    peers = np.unique(problem.peers)
    counts = np.sum([np.any(waiting[problem.peers == p], axis=0) for p in peers], axis=0)
    return squares, *solution, counts


def _of_set(problem: SizesProblem, gap_peers: Array, waits: NDArray[np.bool_]) -> Array:
    """c, g and G, shape (3, B), where the points of `waits` wait for the gap."""
    gaps = np.where(waits, gap_peers, 0.0)
    columns = np.stack([np.ones(gaps.size), gaps, problem.steps * (2.0 + gaps)], axis=1)
    return _solved(columns, problem.weight, problem.rest - np.where(waits[:, None], 0.0, problem.posting))  # fmt: skip


def _evaluate(
    problem: SizesProblem, gap_peers: Array, solution: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """The sums of squares, shape (B,), and which points wait, shape (P, B)."""
    c, g, per_byte = solution
    bytes_time = problem.steps[:, None] * per_byte
    gaps = gap_peers[:, None] * (g + bytes_time)
    residual = problem.rest - c - 2.0 * bytes_time - np.maximum(problem.posting, gaps)
    return problem.weight @ residual**2, gaps > problem.posting


def _settled(
    problem: SizesProblem, gap_peers: Array, waits: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The set of points that wait, after turns of parameters and set."""
    for _ in range(MOST_TURNS):
        _, following = _evaluate(problem, gap_peers, _of_set(problem, gap_peers, waits))
        if np.array_equal(following[:, 0], waits):
            break
        waits = following[:, 0]
    return waits
