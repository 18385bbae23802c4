"""A machine in one small file, to be shown beside others: what was measured, without names of hosts or addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chiplog import __version__
from chiplog.errors import UsageError
from chiplog.fitting.origin import target_of
from chiplog.fitting.predictions.regime import curve_of
from chiplog.fitting.regimes.partition import EXCHANGE, HALF
from chiplog.fitting.result import Fit, Parameter
from chiplog.fitting.verdict import rejection
from chiplog.json_values import members

SCHEMA = "chiplog.machine/1"
SHARED = ("loggops", "loggps", "loggp")
"""Models whose parameters are shared: each of them has L, o, g and G."""
SIMULATED = "sim"
LONGEST_NAME = 80
"""Given: what a line has room for."""
DIGITS = 4
"""Given: significant digits of all that is shared; no time is measured to more."""


def shared_machine(fits: Sequence[Fit], name: str) -> dict[str, Any]:
    """Returns what is shared of a model file's fits (chiplog.machine/1).

    `name` is what others see. UsageError where no fit of LogGP or its kin stands.
    """
    if not name.strip() or len(name) > LONGEST_NAME:
        raise UsageError(f"--name: accepts 1 to {LONGEST_NAME} characters.")
    best = [min(of_one, key=_median_error) for of_one in _by_target(fits)]
    if not best:
        raise UsageError(
            f"no fit of {', '.join(SHARED)} that its own check accepts is in the file: "
            "make one with `chiplog fit --model loggp`."
        )
    return {
        "schema": SCHEMA,
        "chiplog": __version__,
        "name": name.strip(),
        "simulated": any(fit.transport == SIMULATED for fit in best),
        "networks": [_network(fit) for fit in best],
    }


def _by_target(fits: Iterable[Fit]) -> Iterable[list[Fit]]:
    """The fits that are shared, those of a target together."""
    found: dict[str, list[Fit]] = {}
    for fit in fits:
        is_plain = (fit.operation, fit.posting) == ("send", "normal")
        if fit.model in SHARED and is_plain and rejection(fit) is None:
            found.setdefault(target_of(fit), []).append(fit)
    return found.values()


def _median_error(fit: Fit) -> float:
    return (fit.held_out or fit.error).median_relative


def _network(fit: Fit) -> dict[str, Any]:
    error = fit.held_out or fit.error
    return {
        **members(fit, "transport", "ranks", "hosts", "launches", "model", "method", "statistic"),
        "segments": [
            {
                **members(segment, "first_bytes", "last_bytes"),
                "parameters": {
                    symbol: _parameter(parameter)
                    for symbol, parameter in segment.parameters.items()
                },
            }
            for segment in fit.segments
        ],
        "changes": [
            members(change, "last_before_bytes", "first_after_bytes", "kind")
            for change in fit.changes
        ],
        "error": {
            "median_relative": error.median_relative,
            "max_relative": error.max_relative,
            "held_out": fit.held_out is not None,
        },
        "busy": fit.busy,
        "half_round_trips": _half_round_trips(fit),
        "exchange_factors": _exchange_factors(fit),
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    numbers = members(parameter, "value", "low", "high")
    short = {name: number and float(f"{number:.{DIGITS}g}") for name, number in numbers.items()}
    return {**short, **members(parameter, "unit", "identified")}


def _half_round_trips(fit: Fit) -> dict[str, Any]:
    curve = curve_of(fit, HALF)
    if curve is None:
        return {"message_bytes": [], "seconds": []}
    return {
        "message_bytes": curve.message_bytes.tolist(),
        "seconds": _short(curve.measured_seconds.tolist()),
    }


def _exchange_factors(fit: Fit) -> dict[str, Any]:
    """How many times a message alone an exchange of its size took."""
    alone, both = curve_of(fit, HALF), curve_of(fit, EXCHANGE)
    if alone is None or both is None:
        return {"message_bytes": [], "factor": []}
    sizes, of_alone, of_both = np.intersect1d(
        alone.message_bytes, both.message_bytes, return_indices=True
    )
    factors = both.measured_seconds[of_both] / alone.measured_seconds[of_alone]
    return {"message_bytes": sizes.tolist(), "factor": _short(factors.tolist())}


def _short(numbers: Iterable[float]) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in numbers]
