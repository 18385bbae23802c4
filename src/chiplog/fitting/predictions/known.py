"""What a fit tells of one parameter: its value with draws, or the bounds that the data leave; and what would tell it.

An identified parameter has a value and the fit's bootstrap draws. A parameter that is not identified has a range; all
values in the range fit the data equally well, so an unknown parameter is never taken as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import UsageError
from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.origin import target_of
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import REPLICATES
from chiplog.statistics import NORMAL_975

Array = NDArray[np.float64]


MEASUREMENTS = {
    "L": "ping_pong,send_overhead,receive_overhead",
    "L_half": "ping_pong",
    "G_half": "ping_pong",
    "o_s": "prtt,send_overhead",
    "O_s": "prtt,send_overhead",
    "o_r": "receive_overhead",
    "O_r": "receive_overhead",
    "g": "prtt",
    "G": "prtt",
    "R_N": "pairs",
    "R_C": "pairs",
    "R_Cb": "pairs",
    "R_Ci": "pairs",
    "s0": "pairs",
    "f": "one_to_many",
    "C": "one_to_many",
    "o_min": "one_to_many",
    "o_max": "one_to_many",
}
"""The pattern that tells a parameter, as `chiplog measure --pattern` takes it."""
MORE_RANKS = ("pairs", "one_to_many")


def values_of(fit: Fit, segment: int, symbol: str, number: int = 0) -> Array | None:
    """An identified parameter: its value, then REPLICATES of it, shape (1 + REPLICATES,); None for any other.

    Without bootstrap draws it is drawn from its interval, as two halves of a normal distribution; without an interval
    it stands still. `number` tells the parameters of a segment apart, so that their draws are independent.
    """
    parameter = fit.segments[segment].parameters.get(symbol)
    if parameter is None or parameter.value is None:
        return None
    draws = _draws(fit, segment, symbol)
    if not draws.size:
        rng = np.random.default_rng([segment, number])
        draws = drawn(parameter.value, parameter.low, parameter.high, rng)
    return np.concatenate(([parameter.value], np.resize(draws, REPLICATES)))


def _draws(fit: Fit, segment: int, symbol: str) -> Array:
    draws = fit.draws.get(f"{segment}/{symbol}", np.empty(0))
    return draws[np.isfinite(draws)]


def drawn(value: float, low: float | None, high: float | None, rng: np.random.Generator) -> Array:
    """Draws from a 95 % interval, as two halves of a normal distribution; shape (REPLICATES,).

    Without an interval the value stands still.
    """
    if low is None or high is None:
        return np.full(REPLICATES, value)
    z = rng.standard_normal(REPLICATES) / NORMAL_975
    side = np.where(z < 0, value - low, high - value)
    return np.maximum(value + z * side, 0.0)


@dataclass(frozen=True)
class Bounds:
    """The range of a parameter that is not identified; `high` None where nothing bounds it above."""

    low: float
    high: float | None
    follows: bool = False
    """Does its value follow from the others'? Then no fraction is for it."""


def bounds_of(fit: Fit, segment: int, symbol: str) -> Bounds:
    """What the data leave of a parameter that is not identified, or that the segment does not have.

    Where there are draws of it, as of a search that did not settle, these are what the data leave.
    """
    parameter = fit.segments[segment].parameters.get(symbol)
    draws = _draws(fit, segment, symbol)
    if draws.size:
        return Bounds(*interval(draws))
    if parameter is None:
        return Bounds(0.0, None)
    low = max(0.0, parameter.low or 0.0)
    return Bounds(low, None if parameter.high is None else max(low, parameter.high))


def refusal(fit: Fit, segment: int, symbol: str) -> UsageError:
    """The sentence that says which parameter an answer lacks, why, and what measurement would tell it."""
    part = fit.segments[segment]
    parameter = part.parameters.get(symbol)
    why = parameter.reason if parameter is not None and parameter.reason else "it was not measured."
    return UsageError(
        f"the fit of {fit.model} can't predict messages of {part.first_bytes} to {part.last_bytes} B: {symbol} is not "
        f"identified: {why} {advice(fit, symbol)}"
    )


def advice(fit: Fit, symbol: str) -> str:
    """The measurement that would tell the parameter, as a command."""
    pattern = MEASUREMENTS.get(symbol, "prtt,ping_pong")
    more = " --ranks MORE" if pattern in MORE_RANKS else ""
    return f"To tell it: chiplog measure {target_of(fit)} --pattern {pattern}{more} -o RUN.jsonl."
