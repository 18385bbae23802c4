"""Relative least squares of one protocol: the parameters of each model from the sums by size and k.

A rate that the data don't reach is infinite here, and R_Ci is NaN where fewer than two k lie below the node's rate.
No parameter is ever negative.

Source: C. L. Lawson, R. J. Hanson, "Solving least squares problems" (1974), ch. 23, for the non-negative ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.optimize import leastsq, nnls

from chiplog.fit.pairs.table import Cells, Floats

Solution = dict[str, float]
EVALUATIONS = 400
BINDS = 1e-3
"""A rate binds where it makes a time longer by more than this share."""


def _non_negative(columns: Sequence[Floats], cells: Cells) -> tuple[Floats, float]:
    """The coefficients >= 0 of `columns` with the least relative squares, and these."""
    design = np.stack(columns, axis=1) * cells.root[:, None]
    scale = np.linalg.norm(design, axis=0)
    scale[scale == 0] = 1.0
    found, _ = nnls(design / scale, cells.target)
    found = found / scale
    return found, cells.cost(np.stack(columns, axis=1) @ found)


def _rate(seconds_per_byte: float) -> float:
    return 1.0 / seconds_per_byte if seconds_per_byte > 0 else np.inf


def postal(cells: Cells, *, reached: bool = True) -> Solution:
    """s0 and R_C of `s0 + n/R_C`; `reached` means nothing here."""
    del reached
    found, _ = _non_negative([np.ones_like(cells.message_bytes), cells.message_bytes], cells)
    return {"s0": float(found[0]), "R_C": _rate(found[1])}


def max_rate(cells: Cells, *, reached: bool = True) -> Solution:
    """s0, R_C and R_N of `s0 + max(k n/R_N, n/R_C)`: all optima are looked at.

    For each m, the largest k below saturation, the model is linear with 1/R_C = m p + (m+1) q and 1/R_N = p + q, where
    p, q >= 0 is what m <= R_N/R_C <= m + 1 means. Not `reached` forces R_N to be out of reach.
    """
    n, k = cells.message_bytes, cells.pairs
    alone = postal(cells)
    unlimited = {**alone, "R_N": np.inf}
    if not reached:
        return unlimited
    straight = alone["s0"] + n / alone["R_C"]
    optima = [(cells.cost(straight) * (1.0 - 1e-9), unlimited)]
    for m in range(int(k.min()) - 1, int(k.max())):
        below = k <= m
        columns = [np.ones_like(n), n * np.where(below, m, k), n * np.where(below, m + 1, k)]
        (s0, p, q), cost = _non_negative(columns, cells)
        if p + q > 0:
            alone_rate = np.inf if m < k.min() else _rate(m * p + (m + 1) * q)
            found = {"s0": float(s0), "R_C": alone_rate, "R_N": _rate(p + q)}
            optima.append((cost, found))
    return min(optima, key=lambda one: one[0])[1]


def _positive_squares(
    predicted: Callable[[Floats], Floats], starts: Sequence[Sequence[float]], cells: Cells
) -> Floats:
    """The best of the local optima from `starts` of parameters that are squares, and so never negative."""
    best, least = np.asarray(starts[0], dtype=np.float64), np.inf
    for start in starts:
        scale = np.maximum(np.asarray(start, dtype=np.float64), 1e-300)

        def residual(roots: Floats, scale: Floats = scale) -> Floats:
            return np.asarray(cells.root * predicted(scale * roots**2) - cells.target)

        roots, _, report, _, _ = leastsq(
            residual, np.ones_like(scale), full_output=True, maxfev=EVALUATIONS
        )
        cost = float(np.sum(report["fvec"] ** 2))
        if cost < least:
            best, least = scale * roots**2, cost
    return best


def max_rate_modified(cells: Cells, *, reached: bool = True) -> Solution:
    """s0, R_C and R_N of `max(k n/R_N, s0 + n/R_C)`."""
    n, k = cells.message_bytes, cells.pairs
    rough = max_rate(cells, reached=reached)
    if not np.isfinite(rough["R_N"]):
        return rough

    def predicted(theta: Floats) -> Floats:
        return np.asarray(np.maximum(k * n * theta[2], theta[0] + n * theta[1]))

    alone = 1.0 / rough["R_C"] if np.isfinite(rough["R_C"]) else 0.5 / rough["R_N"]
    s0 = max(rough["s0"], 1e-3 * float(np.min(cells.linear / cells.square)))
    starts = [
        (s0 * more, alone, share / rough["R_N"]) for more in (1.0, 1.7) for share in (1.0, 1.15)
    ]
    s0, alone, shared = _positive_squares(predicted, starts, cells)
    binds = k * n * shared > (1.0 + BINDS) * (s0 + n * alone)
    if not np.any(binds):
        return max_rate(cells, reached=False)
    free = not np.all(binds)
    return {
        "s0": float(s0),
        "R_C": _rate(alone) if free else np.inf,
        "R_N": _rate(shared),
    }


def max_rate_4(cells: Cells, *, reached: bool = True) -> Solution:
    """s0, R_Cb, R_Ci and R_N of `s0 + k n / min(R_N, R_Cb + (k-1) R_Ci)`."""
    n, k = cells.message_bytes, cells.pairs
    rough = max_rate(cells, reached=reached)
    first = rough["R_C"] if np.isfinite(rough["R_C"]) else rough["R_N"]
    if not np.isfinite(first):
        return {"s0": rough["s0"], "R_Cb": np.inf, "R_Ci": np.nan, "R_N": np.inf}
    node = rough["R_N"]

    def rate(theta: Floats) -> Floats:
        return np.asarray(theta[1] + (k - 1.0) * theta[2])

    def predicted(theta: Floats) -> Floats:
        limit = theta[3] if theta.size > 3 else np.inf
        return np.asarray(theta[0] + k * n / np.maximum(np.minimum(rate(theta), limit), 1e-300))

    s0 = max(rough["s0"], 1e-3 * float(np.min(cells.linear / cells.square)))
    starts = [
        (s0, first, share * first, *((node,) if np.isfinite(node) else ()))
        for share in (1.0, 0.3, 0.05)
    ]
    theta = _positive_squares(predicted, starts, cells)
    limit = theta[3] if theta.size > 3 else np.inf
    if np.isfinite(limit) and not np.any(rate(theta) > (1.0 + BINDS) * limit):
        return max_rate_4(cells, reached=False)
    below = np.unique(k[rate(theta) < limit])
    return {
        "s0": float(theta[0]),
        "R_Cb": float(theta[1]) if below.size > 0 else np.inf,
        "R_Ci": float(theta[2]) if below.size > 1 else np.nan,
        "R_N": float(limit),
    }


SOLVERS: Mapping[str, Callable[..., Solution]] = {
    "postal": postal,
    "max-rate": max_rate,
    "max-rate-4": max_rate_4,
    "max-rate-modified": max_rate_modified,
}
