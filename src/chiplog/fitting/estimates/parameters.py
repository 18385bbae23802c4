"""Parameters with their interval, from a value and its bootstrap replicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.quantities.value_intervals import intervals
from chiplog.fitting.result import Parameter

RATE = "B/s"


@dataclass(frozen=True)
class Estimate:
    """A parameter on its way to the result; `draws` has shape (B,)."""

    parameter: Parameter
    draws: NDArray[np.float64]


Estimates = dict[str, Estimate]
"""The parameters of one segment by symbol."""


def parameters_of(estimates: Mapping[str, Estimate]) -> dict[str, Parameter]:
    """The parameters of a segment, as a fit holds them."""
    return {symbol: estimate.parameter for symbol, estimate in estimates.items()}


def draws_of(
    segments: Sequence[Mapping[str, Estimate]], most: int | None = None
) -> dict[str, NDArray[np.float64]]:
    """The draws of the parameters of all segments by "segment index/symbol", at most so many of each."""
    return {
        f"{number}/{symbol}": estimate.draws[:most]
        for number, estimates in enumerate(segments)
        for symbol, estimate in estimates.items()
        if estimate.draws.size
    }


def interval(draws: NDArray[np.float64]) -> tuple[float, float]:
    """The interval that a further replicate would lie in with 95 % probability."""
    low, high = intervals(draws)
    return float(low), float(high)


def identified(
    symbol: str, unit: str, value: float, draws: NDArray[np.float64], note: str | None = None
) -> Estimate:
    """An identified parameter; its interval never reaches below 0."""
    low, high = interval(draws)
    bounded = Parameter(
        symbol, value, max(0.0, min(low, value)), max(high, value), unit, True, note
    )
    return Estimate(bounded, draws)


FIXED = "fixed by the operation, in which the receiver's CPU has no part; not fitted."


def fixed_at_zero(symbol: str, unit: str, draws: int) -> Estimate:
    """A parameter that the operation itself makes 0; `draws` is how many replicates there are."""
    return Estimate(Parameter(symbol, 0.0, 0.0, 0.0, unit, True, FIXED), np.zeros(draws))


def is_fixed(parameter: Parameter) -> bool:
    """Was its value given instead of fitted?"""
    return parameter.reason == FIXED


def unidentified(
    symbol: str, unit: str, reason: str, low: float | None = 0.0, high: float | None = None
) -> Estimate:
    """A parameter that the data can't tell, why, and its bounds: the values that the data leave.

    None is no bound on that side. No parameter is negative, so 0 is the least that any may be; data that leave nothing
    above 0 contradict the model, and bound nothing.
    """
    most = high if high is None or high > 0 else None
    return Estimate(Parameter(symbol, None, low, most, unit, False, reason), np.empty(0))
