"""A fit's parameters as arrays: the value first, then draws of what else it may be."""

from __future__ import annotations

import numpy as np

from chiplog.collectives.costs import Seconds
from chiplog.errors import UsageError
from chiplog.fit.result import Fit, Parameter

DRAWS = 200
NORMAL_975 = 1.959963984540054

Theta = dict[str, Seconds]
"""Parameters by symbol, shape (1 + DRAWS,)."""


def drawn(fit: Fit, segment: int) -> Theta:
    """The parameters of one segment that have a value: the value, then the fit's bootstrap draws.

    A parameter without draws is drawn from its interval, as two halves of a normal distribution; one without an
    interval stands still. One that is not identified, but has draws, has their median for a value.
    """
    found = {}
    for number, (symbol, parameter) in enumerate(fit.segments[segment].parameters.items()):
        draws = fit.draws.get(f"{segment}/{symbol}", np.empty(0))
        draws = draws[np.isfinite(draws)]
        value = parameter.value
        if value is None:
            if not draws.size:
                continue
            value = float(np.quantile(draws, 0.5, method="inverted_cdf"))
        if not draws.size:
            draws = _from_interval(parameter, value, np.random.default_rng([segment, number]))
        found[symbol] = np.concatenate(([value], np.resize(draws, DRAWS)))
    return found


def _from_interval(parameter: Parameter, value: float, rng: np.random.Generator) -> Seconds:
    if parameter.low is None or parameter.high is None:
        return np.full(DRAWS, value)
    z = rng.standard_normal(DRAWS) / NORMAL_975
    side = np.where(z < 0, value - parameter.low, parameter.high - value)
    return np.maximum(value + z * side, 0.0)


def not_identified(fit: Fit, segment: int, symbol: str) -> UsageError:
    """The sentence that says which parameter a prediction lacks, and why."""
    one = fit.segments[segment]
    parameter = one.parameters.get(symbol)
    why = f": {parameter.reason}" if parameter is not None and parameter.reason else "."
    return UsageError(
        f"the fit of {fit.model} can't predict messages of {one.first_bytes} to {one.last_bytes} B: {symbol} is not "
        f"identified{why}"
    )


def segment_of(fit: Fit, message_bytes: int) -> int:
    """The segment that holds a size; the nearest one where none does."""
    starts = [segment.first_bytes for segment in fit.segments]
    return max(0, int(np.searchsorted(starts, message_bytes, side="right")) - 1)
