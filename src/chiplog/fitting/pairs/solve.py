"""Relative least squares of one protocol: the parameters of each model from the sums by size and k.

Each solver takes several weightings of the same points at once: those of all bootstrap replicates. A rate that the data
don't reach is infinite here, and R_Ci is NaN where fewer than two k lie below the node's rate. No parameter is ever
negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chiplog.fitting.estimates.non_negative import non_negative
from chiplog.fitting.pairs.faces import Solution
from chiplog.fitting.pairs.settings import FURTHER_SHARES, SQUARES_ROUNDING
from chiplog.fitting.pairs.table import Cells, Floats
from chiplog.fitting.settings import ROUNDING_SHARE, SMALLEST_PART


def _rate(seconds_per_byte: float) -> float:
    return 1.0 / seconds_per_byte if seconds_per_byte > 0 else np.inf


def _linear(columns: Floats, many: Sequence[Cells]) -> tuple[Floats, Floats]:
    """The coefficients >= 0 with the least relative squares, shape (B, M, C), and these squares, shape (B, M).

    `columns` has shape (M, C, cells): M linear models of C coefficients, each fitted to all B weightings.
    """
    square, linear, weight = (
        np.stack([getattr(cells, name) for cells in many])
        for name in ("square", "linear", "weight")
    )
    products = np.einsum("mip,mjp->mijp", columns, columns)
    gram = np.tensordot(square, products, axes=(1, -1))
    coefficients, gain = non_negative(gram, np.tensordot(linear, columns, axes=(1, 2)))
    return coefficients, weight.sum(axis=1)[:, None] - gain


def postal(many: Sequence[Cells], *, delays: bool = False, reached: bool = True) -> list[Solution]:
    """s0 and R_C of `s0 + n/R_C`; `delays` and `reached` mean nothing here."""
    del delays, reached
    return [solution for solution, _ in _postal(many)]


def _postal(many: Sequence[Cells]) -> list[tuple[Solution, float]]:
    """With the squares that are left."""
    n = many[0].message_bytes
    coefficients, squares = _linear(np.stack([np.ones_like(n), n])[None], many)
    return [
        ({"s0": s0, "R_C": _rate(per_byte)}, cost)
        for (s0, per_byte), cost in zip(
            coefficients[:, 0].tolist(), squares[:, 0].tolist(), strict=True
        )
    ]


def max_rate(
    many: Sequence[Cells], *, delays: bool = False, reached: bool = True
) -> list[Solution]:
    """s0, R_C and R_N of `s0 + max(k n/R_N, n/R_C)`: all optima are looked at.

    For each m, the largest k below saturation, the model is linear with 1/R_C = m p + (m+1) q and 1/R_N = p + q, where
    p, q >= 0 is what m <= R_N/R_C <= m + 1 means. Not `reached` forces R_N to be out of reach;
    `delays` mean nothing here.
    """
    del delays
    if not reached:
        return [{**alone, "R_N": np.inf} for alone in postal(many)]
    n, k = many[0].message_bytes, many[0].pairs
    limits = np.arange(int(k.min()) - 1, int(k.max()))
    m = limits[:, None]
    start = np.broadcast_to(1.0, (limits.size, n.size))
    columns = np.stack([start, n * np.maximum(m, k), n * np.maximum(m + 1, k)], axis=1)
    coefficients, squares = _linear(columns, many)
    squares = np.where(coefficients[..., 1] + coefficients[..., 2] > 0, squares, np.inf)
    best = np.argmin(squares, axis=1)
    solutions = []
    for row, (cells, (alone, alone_squares)) in enumerate(zip(many, _postal(many), strict=True)):
        place = best[row]
        tolerance = ROUNDING_SHARE * alone_squares + SQUARES_ROUNDING * float(cells.weight.sum())
        if squares[row, place] >= alone_squares - tolerance:
            solutions.append({**alone, "R_N": np.inf})
            continue
        s0, p, q = coefficients[row, place].tolist()
        last = int(limits[place])
        alone_rate = np.inf if last < k.min() else _rate(last * p + (last + 1) * q)
        solutions.append({"s0": s0, "R_C": alone_rate, "R_N": _rate(p + q)})
    return solutions


def _positive_squares(
    residual: Callable[[Floats], Floats], starts: Sequence[Sequence[float]]
) -> Floats:
    """The best of the local optima from `starts` of parameters that are squares, and so never negative."""
    from scipy.optimize import leastsq  # loads in 0.25 s; only runs of k pairs need it

    best, least = np.asarray(starts[0], dtype=np.float64), np.inf
    for start in starts:
        scale = np.maximum(np.asarray(start, dtype=np.float64), 1e-300)

        def of_roots(roots: Floats, scale: Floats = scale) -> Floats:
            return residual(scale * roots * roots)

        roots, _, report, _, _ = leastsq(of_roots, np.ones_like(scale), full_output=True)
        cost = float(np.sum(report["fvec"] ** 2))
        if cost < least:
            best, least = scale * roots**2, cost
    return best


def max_rate_4(
    many: Sequence[Cells], *, delays: bool = False, reached: bool = True
) -> list[Solution]:
    """s0, R_Cb, R_Ci and R_N of `s0 + k n / min(R_N, R_Cb + (k-1) R_Ci)`; `delays` mean nothing here."""
    del delays
    return [
        _max_rate_4(cells, rough)
        for cells, rough in zip(many, max_rate(many, reached=reached), strict=True)
    ]


def _max_rate_4(cells: Cells, rough: Solution) -> Solution:
    """The local optimum near that of max-rate."""
    k, further = cells.pairs, cells.pairs - 1.0
    weighted = cells.root * k * cells.message_bytes
    first = rough["R_C"] if np.isfinite(rough["R_C"]) else rough["R_N"]
    if not np.isfinite(first):
        return {"s0": rough["s0"], "R_Cb": np.inf, "R_Ci": np.nan, "R_N": np.inf}
    node = rough["R_N"]
    is_limited = np.isfinite(node)

    def rate(theta: Floats) -> Floats:
        return np.asarray(theta[1] + further * theta[2])

    def residual(theta: Floats) -> Floats:
        limited = np.minimum(rate(theta), theta[3]) if is_limited else rate(theta)
        sent = weighted / np.maximum(limited, 1e-300)
        return np.asarray(theta[0] * cells.root + sent - cells.target)

    s0 = max(rough["s0"], SMALLEST_PART * float(np.min(cells.linear / cells.square)))
    starts = [
        (s0, first, share * first, *((node,) if is_limited else ())) for share in FURTHER_SHARES
    ]
    theta = _positive_squares(residual, starts)
    limit = theta[3] if is_limited else np.inf
    if np.isfinite(limit) and not np.any(rate(theta) > (1.0 + SMALLEST_PART) * limit):
        return max_rate_4([cells], reached=False)[0]
    below = np.unique(k[rate(theta) < limit])
    return {
        "s0": float(theta[0]),
        "R_Cb": float(theta[1]) if below.size > 0 else np.inf,
        "R_Ci": float(theta[2]) if below.size > 1 else np.nan,
        "R_N": float(limit),
    }
