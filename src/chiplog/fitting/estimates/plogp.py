"""The parameters of pLogP: a latency and three tables."""

from __future__ import annotations

import numpy as np

from chiplog.errors import UsageError
from chiplog.fitting.estimates.freedom import few_samples, without_interval
from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import whole
from chiplog.fitting.text import seconds_text


def plogp(job: Job) -> SegmentEstimates:
    """One segment over all sizes."""
    estimates = plogp_estimates(job.quantities)
    return SegmentEstimates(whole(np.array(job.range)), [estimates])


def _latency(quantities: MethodQuantities) -> Estimate:
    half, gap = quantities.half_round_trip, quantities.gap
    if not half.value.size or not gap.value.size:
        return unidentified("L", "s", "L = RTT(0)/2 - g(0), and one of them was not measured.")
    value = float(half.value[0] - gap.value[0])
    low, high = interval(half.draws[0] - gap.draws[0])
    if value <= 0 or low <= 0:
        reason = (
            f"half the round trip ({seconds_text(float(half.value[0]))}) does not exceed the gap "
            f"({seconds_text(float(gap.value[0]))}) beyond doubt: the difference is "
            f"{seconds_text(low)} to {seconds_text(high)}."
        )
        return unidentified("L", "s", reason, high=max(high, 0.0))
    estimate = identified("L", "s", value, half.draws[0] - gap.draws[0])
    why = few_samples(half) or few_samples(gap)
    return estimate if why is None else without_interval(estimate, why)


def _first(symbol: str, quantity: Quantity) -> Estimate:
    if not quantity.value.size:
        return unidentified(symbol, "s", f"{symbol}(s) was not measured.")
    value = float(quantity.value[0])
    if value <= 0:
        return unidentified(
            symbol,
            "s",
            f"{symbol}({quantity.message_bytes[0]}) was measured as {seconds_text(value)}.",
            high=max(interval(quantity.draws[0])[1], 0.0),
        )
    note = f"the table's entry for {quantity.message_bytes[0]} B."
    estimate = identified(symbol, "s", value, quantity.draws[0], note)
    why = few_samples(quantity)
    return estimate if why is None else without_interval(estimate, why)


def plogp_estimates(quantities: MethodQuantities) -> Estimates:
    """L, L_half, and the tables' entries for the smallest size; the tables themselves are the fit's curves.

    Raises UsageError where no gap was measured, which all of its times are made of.
    """
    if not quantities.gap.value.size:
        raise UsageError("the run lacks gaps by flooding (pattern flood).")
    return {
        "L": _latency(quantities),
        "L_half": _first("L_half", quantities.half_round_trip),
        "o_s": _first("o_s", quantities.o_s),
        "o_r": _first("o_r", quantities.o_r),
        "g": _first("g", quantities.gap),
    }
