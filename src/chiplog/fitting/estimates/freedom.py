"""Intervals of parameters where the residuals of their line alone tell the noise: wider, or none.

The noise of a size is told by its samples where there are enough of them, else by what the samples scatter about the
line: then Student's t of the degrees of freedom left takes the place of the normal distribution. Two numbers on a line
of two parameters leave none: the line is known, its interval is not.

Source: Student, "The probable error of a mean", Biometrika 6 (1908).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from chiplog.counts import counted
from chiplog.fitting.estimates.job import SegmentEstimates
from chiplog.fitting.estimates.parameters import Estimate, Estimates, identified, is_fixed
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.quantities.value_intervals import student_factor
from chiplog.fitting.regimes.partition import GAP, HALF, RECEIVE, SEND, Partition
from chiplog.fitting.settings import LINE_COEFFICIENTS
from chiplog.statistics import FEWEST_SAMPLES

NO_INTERVAL = "no interval: "
READ_FROM: Mapping[str, tuple[str, ...]] = {
    SEND: ("o_s", "O", "O_s", "L"),
    RECEIVE: ("o_r", "O_r", "L"),
    GAP: ("g", "G"),
}
"""The parameters that are read from a quantity beside the half round trip, which all others hang on."""
NOT_READ = "S"
"""A size, whose interval lies between two that were measured, whatever their noise is."""


def with_own_freedom(fitted: SegmentEstimates, quantities: MethodQuantities) -> SegmentEstimates:
    """The estimates with intervals for the degrees of freedom that there are; without any, values with the reason."""
    estimates = [
        _of_segment(segment_estimates, number, fitted.parts, quantities)
        for number, segment_estimates in enumerate(fitted.estimates)
    ]
    return replace(fitted, estimates=estimates)


def _of_segment(
    estimates: Estimates, number: int, parts: Partition, quantities: MethodQuantities
) -> Estimates:
    why: dict[str, str] = {}
    factor: dict[str, float] = {}
    for name, quantity in (
        (HALF, quantities.half_round_trip),
        (SEND, quantities.o_s),
        (RECEIVE, quantities.o_r),
        (GAP, quantities.gap),
    ):
        inside = quantity.within(*parts.own.get(name, parts.ranges)[number])
        reason, wider = no_freedom(inside), wider_than_normal(inside)
        for symbol in READ_FROM.get(name, tuple(estimates)):
            if reason is not None:
                why.setdefault(symbol, reason)
            factor[symbol] = max(factor.get(symbol, 1.0), wider)
    return {
        symbol: without_interval(estimate, why[symbol])
        if symbol in why and symbol != NOT_READ
        else widened(estimate, factor.get(symbol, 1.0))
        for symbol, estimate in estimates.items()
    }


def no_freedom(quantity: Quantity) -> str | None:
    """Why a line through the quantity has no interval; None where it has one, and where nothing was measured."""
    freedom = quantity.freedom(LINE_COEFFICIENTS)
    if not quantity.value.size or freedom is None or freedom > 0:
        return None
    sizes, samples = np.unique(quantity.message_bytes).size, int(quantity.samples.sum())
    of = f"{counted(samples, 'sample')} of {counted(sizes, 'size')}"
    return f"{of} tell no scatter; measure more sizes, or more often."


def wider_than_normal(quantity: Quantity) -> float:
    """By which factor Student's t makes the half of a 95 % interval wider than the normal distribution does."""
    freedom = quantity.freedom(LINE_COEFFICIENTS)
    if not quantity.value.size or freedom is None or freedom < 1:
        return 1.0
    return student_factor(freedom)


def widened(estimate: Estimate, factor: float) -> Estimate:
    """An identified estimate whose replicates are further from its value by so much, on a logarithmic scale."""
    parameter = estimate.parameter
    if (
        not (parameter.identified and parameter.value and estimate.draws.size)
        or is_fixed(parameter)
        or factor == 1.0
    ):
        return estimate
    share = factor * (estimate.draws - parameter.value) / parameter.value
    draws = parameter.value * np.exp(np.arcsinh(share))
    return identified(parameter.symbol, parameter.unit, parameter.value, draws, parameter.reason)


def few_samples(quantity: Quantity) -> str | None:
    """Why the value of the quantity's smallest size has no interval; None where it has one."""
    count = int(quantity.samples[0])
    if count >= FEWEST_SAMPLES:
        return None
    return f"{counted(count, 'sample')} of {int(quantity.message_bytes[0])} B; {FEWEST_SAMPLES} are needed."


def without_interval(estimate: Estimate, why: str) -> Estimate:
    """An identified estimate as a value alone, with the reason; any other as it is."""
    parameter = estimate.parameter
    if (
        not parameter.identified
        or is_fixed(parameter)
        or (parameter.reason or "").startswith(NO_INTERVAL)
    ):
        return estimate
    reason = NO_INTERVAL + (
        why if parameter.reason is None else f"{why.rstrip('.')}; {parameter.reason}"
    )
    return Estimate(replace(parameter, low=None, high=None, reason=reason), np.empty(0))
