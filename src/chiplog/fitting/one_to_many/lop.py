"""LoP's curve through the round trips per message, and LoP's overhead through the post times.

    RTT(p)/p = C + l1/(l2 + p) - A exp(-p/tau)        t_ov(p) = l1 + l2/(l3 + p)

At several sizes at once, (s-1) G (1 + 1/p) and (s-1) O_s are added.

Only the curve is determined well: very different parameters give almost the same one, which their intervals show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.parameters import Estimate, Estimates, interval, unidentified
from chiplog.fitting.one_to_many.observed import ObservedToMany, OverPeers, stacked
from chiplog.fitting.one_to_many.separable import SeparableCurve, relative_errors, replicates, solve
from chiplog.fitting.one_to_many.settings import (
    DECAY_BOUNDS,
    DECAYS,
    LOOSE,
    POLE,
    POLES,
)
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.result import Parameter
from chiplog.fitting.settings import NEGLIGIBLE, REPLICATES
from chiplog.models.protocol import Model, ParameterSpec, payload_steps

# Derived: no byte takes less than no time.
PER_BYTE = ParameterSpec("G", "s/B", 0.0, np.inf, "time per byte of each message")
# Derived: likewise.
PER_BYTE_OF_CALL = ParameterSpec("O_s", "s/B", 0.0, np.inf, "overhead of a send per byte")


def lop_estimates(model: Model, observed: ObservedToMany, rng: np.random.Generator) -> Estimates:
    """C, l1, l2, A and tau; none of them identified with fewer than 6 numbers of peers."""
    return _lop(model.parameters, [observed], rng)


def lop_size_estimates(
    model: Model, observed: Sequence[ObservedToMany], rng: np.random.Generator
) -> Estimates:
    """C, l1, l2, A, tau and G, which hold for all sizes of `observed`."""
    return _lop((*model.parameters, PER_BYTE), observed, rng)


def _lop(
    specs: Sequence[ParameterSpec], observed: Sequence[ObservedToMany], rng: np.random.Generator
) -> Estimates:
    totals = stacked([observation.round_trips for observation in observed])
    p = totals.peers.astype(np.float64)
    if p.size <= len(specs):
        return _too_few(specs, "RTT(p)", totals)
    per_byte = _per_byte(specs, totals, 1.0 + 1.0 / p)

    def basis(nonlinear: NDArray[np.float64]) -> NDArray[np.float64]:
        pole, decay = np.exp(nonlinear[..., :1]) - 1.0, np.exp(nonlinear[..., 1:])
        columns = np.broadcast_arrays(1.0, 1.0 / (pole + p), -np.exp(-p / decay), *per_byte)
        return np.stack(columns, axis=-1)

    starts = np.array([(np.log1p(a), np.log(b)) for a in POLES for b in DECAYS])
    limits = np.log(np.array([(POLE, DECAY_BOUNDS[0]), (1.0 + 1.0 / POLE, DECAY_BOUNDS[1])]))
    curve = SeparableCurve(basis, starts, limits[0], limits[1])
    per_message = _scaled(totals.quantity, 1.0 / p)
    error = relative_errors(per_message.value, per_message.sigma)
    best = solve(curve, per_message.value, error)
    draws = replicates(curve, best, per_message.draws[:, :REPLICATES], error, rng)
    table = np.column_stack((np.concatenate((best.nonlinear, best.linear)), draws))
    values = {
        "C": table[2],
        "l1": table[3],
        "l2": np.exp(table[0]) - 1.0,
        "A": table[4],
        "tau": np.exp(table[1]),
        **({PER_BYTE.symbol: table[5]} if per_byte else {}),
    }
    least = NEGLIGIBLE * float(per_message.value.min())
    absent = [name for name, size in (("l1", table[3, 0]), ("A", table[4, 0])) if size < least]
    return _named(specs, values, absent, {"l2": "l1", "tau": "A"})


def lop_overhead_estimates(
    model: Model, observed: ObservedToMany, rng: np.random.Generator
) -> Estimates:
    """l1, l2 and l3; none of them identified with fewer than 4 numbers of sends."""
    return _lop_overhead(model.parameters, [observed], rng)


def lop_overhead_size_estimates(
    model: Model, observed: Sequence[ObservedToMany], rng: np.random.Generator
) -> Estimates:
    """l1, l2, l3 and O_s, which hold for all sizes of `observed`."""
    return _lop_overhead((*model.parameters, PER_BYTE_OF_CALL), observed, rng)


def _lop_overhead(
    specs: Sequence[ParameterSpec], observed: Sequence[ObservedToMany], rng: np.random.Generator
) -> Estimates:
    posts = stacked([observation.overheads for observation in observed])
    p = posts.peers.astype(np.float64)
    if p.size <= len(specs):
        return _too_few(specs, "the time to post p sends", posts)
    per_byte = _per_byte(specs, posts, 1.0)

    def basis(nonlinear: NDArray[np.float64]) -> NDArray[np.float64]:
        pole = np.exp(nonlinear[..., :1]) - 1.0
        return np.stack(np.broadcast_arrays(1.0, 1.0 / (pole + p), *per_byte), axis=-1)

    starts = np.array([[np.log1p(a)] for a in POLES])
    limits = np.log(np.array([[POLE], [1.0 + 1.0 / POLE]]))
    curve = SeparableCurve(basis, starts, limits[0], limits[1])
    error = relative_errors(posts.quantity.value, posts.quantity.sigma)
    best = solve(curve, posts.quantity.value, error)
    draws = replicates(curve, best, posts.quantity.draws[:, :REPLICATES], error, rng)
    table = np.column_stack((np.concatenate((best.nonlinear, best.linear)), draws))
    values = {
        "l1": table[1],
        "l2": table[2],
        "l3": np.exp(table[0]) - 1.0,
        **({PER_BYTE_OF_CALL.symbol: table[3]} if per_byte else {}),
    }
    least = NEGLIGIBLE * float(posts.quantity.value.min())
    return _named(specs, values, ["l2"] if table[2, 0] < least else [], {"l3": "l2"})


def _per_byte(
    specs: Sequence[ParameterSpec], over: OverPeers, times: NDArray[np.float64] | float
) -> list[NDArray[np.float64]]:
    """The column of the parameter per byte, where `specs` have it: the bytes after the first, so many `times`."""
    if not any(spec.unit == "s/B" for spec in specs):
        return []
    return [payload_steps(over.quantity.message_bytes) * times]


def _scaled(quantity: Quantity, factor: NDArray[np.float64]) -> Quantity:
    return replace(
        quantity,
        value=factor * quantity.value,
        sigma=factor * quantity.sigma,
        draws=factor[:, None] * quantity.draws,
    )


def _too_few(specs: Sequence[ParameterSpec], what: str, measured: OverPeers) -> Estimates:
    reason = (
        f"{what} was measured for {measured.peers.size} values of p; "
        f"a curve of {len(specs)} parameters needs at least {len(specs) + 1}."
    )
    return {spec.symbol: unidentified(spec.symbol, spec.unit, reason) for spec in specs}


def _named(
    specs: Sequence[ParameterSpec],
    values: dict[str, NDArray[np.float64]],
    absent: Sequence[str],
    scale_of: dict[str, str],
) -> Estimates:
    """Each value, first of its array, with its draws; a term that is 0 identifies neither of its parameters."""
    estimates: Estimates = {}
    for spec in specs:
        term = scale_of.get(spec.symbol, spec.symbol)
        if term in absent:
            reason = f"the curve shows no term with {term}: the best fit has {term} = 0."
            estimates[spec.symbol] = unidentified(spec.symbol, spec.unit, reason)
            continue
        value, draws = float(values[spec.symbol][0]), values[spec.symbol][1:]
        estimates[spec.symbol] = _estimate(spec, value, draws)
    return estimates


def _estimate(spec: ParameterSpec, value: float, draws: NDArray[np.float64]) -> Estimate:
    low, high = interval(draws)
    loose = high - spec.lower > LOOSE * (low - spec.lower)
    note = "other values give almost the same curve: compare curves." if loose else None
    bounds = min(low, value), max(high, value)
    return Estimate(Parameter(spec.symbol, value, *bounds, spec.unit, True, note), draws)
