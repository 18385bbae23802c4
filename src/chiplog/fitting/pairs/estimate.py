"""The parameters of one protocol with their intervals, and which of them the data tell.

The intervals are those of the pigeonhole bootstrap: each replicate weights every launch and every (size, k) by an
exponential variate, so that they carry what launches differ by and what the model misses. Independent scatter
would count more than once that way, so the replicates' deviations are scaled to the standard errors of `spread`.

Source: A. B. Owen, "The pigeonhole bootstrap", Ann. Appl. Stat. 1 (2007); D. B. Rubin, "The Bayesian bootstrap",
Ann. Stat. 9 (1981).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtri  # scipy.stats takes a second to load

from chiplog.counts import counted
from chiplog.errors import UsageError
from chiplog.fitting.estimates.parameters import Estimate, Estimates, identified, unidentified
from chiplog.fitting.pairs.bounds import BoundedTimes, fitted_times, saturation_bounds
from chiplog.fitting.pairs.faces import Solution, Solver
from chiplog.fitting.pairs.spread import standard_errors
from chiplog.fitting.pairs.table import Floats, PairTable
from chiplog.fitting.settings import (
    NEGLIGIBLE,
    REPLICATES,
    ROUNDING_SHARE,
    SMALLEST_PART,
    UNLIMITED,
)
from chiplog.fitting.text import rate_text, sizes_text
from chiplog.models.max_rate_modified import DELAY_PARAMETERS, DELAYS
from chiplog.models.protocol import Model
from chiplog.plugins import load_reference
from chiplog.statistics import TAILS

DOUBT = 1.0 / float(ndtri(TAILS[1]))
"""Derived: the relative standard error above which an interval of a time per byte includes 0: the rate may be
infinite."""
TAIL_SCORES = (float(ndtri(TAILS[0])), float(ndtri(TAILS[1])))
LARGEST = np.log(UNLIMITED)
Draws = Mapping[str, Floats]


def pair_estimates(
    model: Model,
    table: PairTable,
    rng: np.random.Generator,
    *,
    method: str,
    delays: bool = False,
) -> Estimates:
    """The model's parameters by `method` and, where it has one, the number of pairs that saturate the node.

    `table` holds the points of one regime. With `delays`, max-rate-modified also has s_k, G_k and g_N. R_N is not
    identified where the measured pairs don't reach it, in the fit or in more than 2.5 % of the replicates; the others
    are then those of the fit without it.
    """
    solver: Solver = load_reference(model.estimators[method])
    solve = partial(solver, delays=delays)
    weights = [table.random_weights(rng) for _ in range(REPLICATES)]
    value, draws = _solved(solve, table, weights, reached=True)
    errors = _errors(model, table, value)
    if "R_N" in value and (not _told(value, draws, "R_N") or errors["R_N"] > DOUBT):
        value, draws = _solved(solve, table, weights, reached=False)
        value.pop("g_N", None)
        errors = _errors(model, table, value)
    draws = _with_spread(value, draws, errors)
    fitted = fitted_times(model, table, value, draws)
    estimates = {
        spec.symbol: _estimate(spec.symbol, spec.unit, value, fitted, table, errors)
        for spec in (*model.parameters, *DELAY_PARAMETERS)
        if spec.symbol in value
    }
    if "R_Ci" in value:
        known = {symbol for symbol, estimate in estimates.items() if estimate.parameter.identified}
        _refuse_free_processes(model, table, known)
    if "R_N" in value and ("R_C" in value or {"R_Cb", "R_Ci"} <= value.keys()):
        estimates["k_sat"] = _saturation(value, draws, estimates)
    return estimates


def _solved(
    solve: Callable[..., list[Solution]], table: PairTable, weights: list[Floats], *, reached: bool
) -> tuple[Solution, Draws]:
    cells = [table.cells(), *(table.cells(weight) for weight in weights)]
    value, *replicates = solve(cells, reached=reached)
    draws = {symbol: np.array([replicate[symbol] for replicate in replicates]) for symbol in value}
    return value, draws


def _errors(model: Model, table: PairTable, value: Solution) -> Mapping[str, float]:
    """The relative standard errors of the parameters that are finite and above 0."""
    if "R_Ci" in value:
        _refuse_free_processes(
            model, table, {symbol for symbol in value if np.isfinite(value[symbol])}
        )
    return standard_errors(model, table, _finite(value))


def _refuse_free_processes(model: Model, table: PairTable, known: Collection[str]) -> None:
    """UsageError where more than one pair sent, and neither R_Ci nor R_N says how fast."""
    if not {"R_Ci", "R_N"} & set(known) and np.any(table.pairs > 1):
        sizes = sizes_text(int(table.sizes[0]), int(table.sizes[-1]))
        raise UsageError(
            f"{model.name}: the times of {sizes} tell neither what a further process adds nor what the node can send; "
            "max-rate and postal need less."
        )


def _finite(value: Solution) -> Solution:
    return {symbol: number for symbol, number in value.items() if np.isfinite(number)}


def _with_spread(value: Solution, draws: Draws, errors: Mapping[str, float]) -> Draws:
    """The replicates, their relative deviations scaled to the standard `errors`; infinite ones stay as they are.

    Replicates of times that are all printed alike agree, although rounding leaves an error: they get normal scores.
    """
    spread = dict(draws)
    for symbol, error in errors.items():
        if symbol in DELAYS:
            spread[symbol] = _scaled_delay(value[symbol], draws[symbol], error)
            continue
        if symbol.startswith("R_") and error > DOUBT:
            spread[symbol] = _scaled_rate(value[symbol], draws[symbol], error)
            continue
        finite = np.isfinite(draws[symbol])
        deviation = np.log(np.maximum(draws[symbol][finite], 1e-300) / value[symbol])
        if deviation.size == 0:
            continue
        low, high = np.quantile(deviation, TAILS)
        if high - low <= ROUNDING_SHARE < error:
            deviation = ndtri((np.arange(deviation.size) + 0.5) / deviation.size)
            low, high = TAIL_SCORES
        factor = 2.0 * ndtri(TAILS[1]) * error / max(high - low, ROUNDING_SHARE)
        scaled = draws[symbol].copy()
        scaled[finite] = value[symbol] * np.exp(np.minimum(factor * deviation, LARGEST))
        spread[symbol] = scaled
    return spread


def _scaled_delay(value: float, draws: Floats, error: float) -> Floats:
    """The replicates of a time that may be 0, their deviations scaled to the relative standard `error`."""
    low, high = np.quantile(draws, TAILS)
    factor = 2.0 * ndtri(TAILS[1]) * error * value / max(high - low, ROUNDING_SHARE * value)
    return np.asarray(np.maximum(value + factor * (draws - value), 0.0))


def _scaled_rate(value: float, draws: Floats, error: float) -> Floats:
    """The replicates of a rate that may be infinite, the deviations of its time per byte scaled to its `error`."""
    per_byte = _scaled_delay(1.0 / value, 1.0 / draws, error)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / per_byte)


def _told(value: Solution, draws: Draws, symbol: str) -> bool:
    return bool(np.isfinite(value[symbol]) and np.mean(~np.isfinite(draws[symbol])) <= TAILS[0])


def _estimate(
    symbol: str,
    unit: str,
    value: Solution,
    fitted: BoundedTimes,
    table: PairTable,
    errors: Mapping[str, float],
) -> Estimate:
    draws = fitted.draws
    reason = _unknown(symbol, value, draws, table)
    if reason is None and symbol.startswith("R_") and errors.get(symbol, 0.0) > DOUBT:
        reason = _REASONS.get(symbol, _not_told)(value, draws, table)
    if reason is None and _hangs_on_one_point(value[symbol], draws[symbol], fitted.scatter):
        reason = ONE_POINT
    if reason is None:
        return identified(symbol, unit, value[symbol], draws[symbol][np.isfinite(draws[symbol])])
    known = unidentified(symbol, unit, reason, *fitted.bounds(symbol))
    return replace(known, draws=_draws_beside_bounds(symbol, draws, table))


def _draws_beside_bounds(symbol: str, draws: Draws, table: PairTable) -> Floats:
    """The replicates of a parameter that is not identified, of which predictions make use; none of most.

    A replicate without the rate of a process has one pair reach the node's rate: any rate from there on predicts the
    same.
    """
    if symbol in ("s0", *DELAYS):
        return draws[symbol]
    if symbol not in ("R_C", "R_Cb") or "R_N" not in draws or table.pairs.min() > 1:
        return np.empty(0)
    rates = np.where(np.isfinite(draws[symbol]), draws[symbol], draws["R_N"])
    return rates if np.all(np.isfinite(rates)) else np.empty(0)


def _hangs_on_one_point(value: float, draws: Floats, scatter: float) -> bool:
    """Do the replicates agree to rounding, although the points scatter? Then one point alone says the value."""
    finite = draws[np.isfinite(draws)]
    return scatter > NEGLIGIBLE and bool(np.ptp(finite) <= SMALLEST_PART * scatter * value)


def _unknown(symbol: str, value: Solution, draws: Draws, table: PairTable) -> str | None:
    """Why the data don't tell a parameter; None where they do."""
    if symbol in DELAYS:
        return None if value[symbol] > 0.0 else _NO_DELAY[symbol]
    if not _told(value, draws, symbol):
        return _REASONS.get(symbol, _not_told)(value, draws, table)
    if symbol != "s0":
        return None
    vague = value["s0"] <= 0.0 or np.quantile(draws["s0"], TAILS[1]) > value["s0"] / SMALLEST_PART
    return NO_START_UP if vague else None


ONE_POINT = "a single (size, pairs) alone shows it, so that nothing tells how far it scatters."
NO_START_UP = "the times, taken back to 0 B, leave no start-up time."
_NO_DELAY = {
    "s_k": "further pairs add no start-up time that shows here.",
    "G_k": "further pairs add no time per byte that shows here.",
    "g_N": "the node's times, taken back to 0 B, leave no time per message.",
}


def _at_least(draws: Floats) -> str:
    low = float(np.quantile(np.where(np.isfinite(draws), draws, np.inf), TAILS[0], method="lower"))
    return f": it is at least {rate_text(low)}" if np.isfinite(low) else ""


def _node_rate(value: Solution, draws: Draws, table: PairTable) -> str:
    del value, draws
    most = int(table.pairs.max())
    chosen = (table.pairs == most) & (table.message_bytes == table.sizes[-1])
    sent = (
        most * float(table.sizes[-1]) / float(np.median(table.seconds[chosen]))
        if chosen.any()
        else 0
    )
    together = f", which sent {rate_text(sent)} together" if sent else ""
    return f"not reached: {most} pairs{together} do not show a limit of the node beyond doubt."


def _process_rate(value: Solution, draws: Draws, table: PairTable) -> str:
    symbol = "R_C" if "R_C" in value else "R_Cb"
    if not np.isfinite(value.get("R_N", np.inf)):
        sizes = sizes_text(int(table.sizes[0]), int(table.sizes[-1]))
        return f"the times of {sizes} do not grow with the size beyond doubt{_at_least(draws[symbol])}."
    fewest = int(table.pairs.min())
    pairs = counted(fewest, "pair reaches", "pairs reach")
    return f"already {pairs} the node's rate, or nearly{_at_least(draws[symbol])}."


def _further_rate(value: Solution, draws: Draws, table: PairTable) -> str:
    del value, draws, table
    return (
        "fewer than two of the measured numbers of pairs stay below the node's rate beyond doubt."
    )


def _not_told(value: Solution, draws: Draws, table: PairTable) -> str:
    del value, draws, table
    return "the times do not tell it beyond doubt."


_REASONS: Mapping[str, Callable[[Solution, Draws, PairTable], str]] = {
    "R_N": _node_rate,
    "R_C": _process_rate,
    "R_Cb": _process_rate,
    "R_Ci": _further_rate,
    "s0": lambda value, draws, table: NO_START_UP,
}


def _saturation(value: Solution, draws: Draws, estimates: Mapping[str, Estimate]) -> Estimate:
    """The number of pairs from which R_N binds; at least 1."""
    rates = [symbol for symbol in estimates if symbol.startswith("R_")]
    for symbol in rates:
        if not estimates[symbol].parameter.identified:
            bounds = saturation_bounds(
                {name: estimate.parameter for name, estimate in estimates.items()}
            )
            return unidentified("k_sat", "", f"{symbol} is not identified.", *bounds)
    replicates = _saturating_pairs(draws)
    point = _saturating_pairs({symbol: np.array([number]) for symbol, number in value.items()})
    return identified("k_sat", "", float(point[0]), replicates[np.isfinite(replicates)])


def _saturating_pairs(rates: Draws) -> Floats:
    """R_N/R_C, or 1 + (R_N - R_Cb)/R_Ci; with delays where k/R_N is 1/R_C + (k-1) G_k."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if "G_k" in rates:
            further = 1.0 / rates["R_N"] - rates["G_k"]
            binding = (1.0 / rates["R_C"] - rates["G_k"]) / further
            return np.asarray(np.where(further > 0, np.maximum(binding, 1.0), np.inf))
        if "R_C" in rates:
            return np.asarray(np.maximum(rates["R_N"] / rates["R_C"], 1.0))
        return np.asarray(np.maximum(1.0 + (rates["R_N"] - rates["R_Cb"]) / rates["R_Ci"], 1.0))
