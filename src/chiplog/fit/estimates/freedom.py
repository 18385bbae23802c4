"""Parameters without an interval: those of lines through numbers that leave nothing to tell their noise.

The noise of a size is told by its samples where there are enough of them, else by what the samples scatter about the
line. Two numbers on a line of two parameters do neither: the line is known, its interval is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from chiplog.fit.estimates.job import SegmentEstimates
from chiplog.fit.estimates.parameters import Estimate, Estimates, is_fixed
from chiplog.fit.quantities.methods.quantities import MethodQuantities
from chiplog.fit.quantities.quantity import Quantity
from chiplog.fit.quantities.value_intervals import FEWEST_SAMPLES
from chiplog.fit.regimes.partition import GAP, HALF, RECEIVE, SEND, Partition

LINE_PARAMETERS = 2
NO_INTERVAL = "no interval: "
READ_FROM: Mapping[str, tuple[str, ...]] = {
    SEND: ("o_s", "O", "O_s", "L"),
    RECEIVE: ("o_r", "O_r", "L"),
    GAP: ("g", "G"),
}
"""The parameters that are read from a quantity beside the half round trip, which all others hang on."""


def without_empty_intervals(
    fitted: SegmentEstimates, quantities: MethodQuantities
) -> SegmentEstimates:
    """The estimates, those without any freedom as values that have no interval, with the reason."""
    estimates = [
        _of_segment(found, number, fitted.parts, quantities)
        for number, found in enumerate(fitted.estimates)
    ]
    return replace(fitted, estimates=estimates)


def _of_segment(
    found: Estimates, number: int, parts: Partition, quantities: MethodQuantities
) -> Estimates:
    told = dict(found)
    for name, quantity in (
        (HALF, quantities.half_round_trip),
        (SEND, quantities.o_s),
        (RECEIVE, quantities.o_r),
        (GAP, quantities.gap),
    ):
        own = quantity.within(*parts.own.get(name, parts.ranges)[number])
        why = no_freedom(own)
        if why is not None:
            read = READ_FROM.get(name, tuple(found))
            told |= {
                symbol: without_interval(one, why) for symbol, one in told.items() if symbol in read
            }
    return told


def no_freedom(quantity: Quantity) -> str | None:
    """Why a line through the quantity has no interval; None where it has one, and where nothing was measured."""
    freedom = quantity.freedom(LINE_PARAMETERS)
    if not quantity.value.size or freedom is None or freedom > 0:
        return None
    sizes, samples = np.unique(quantity.message_bytes).size, int(quantity.samples.sum())
    counted = "1 sample" if samples == 1 else f"{samples} samples"
    of = "1 size" if sizes == 1 else f"{sizes} sizes"
    return f"{counted} of {of} leave no scatter about a line; measure more sizes, or more often."


def few_samples(quantity: Quantity) -> str | None:
    """Why the value of the quantity's smallest size has no interval; None where it has one."""
    count = int(quantity.samples[0])
    if count >= FEWEST_SAMPLES:
        return None
    counted = "1 sample" if count == 1 else f"{count} samples"
    return f"{counted} of {int(quantity.message_bytes[0])} B; {FEWEST_SAMPLES} are needed."


def without_interval(estimate: Estimate, why: str) -> Estimate:
    """An identified estimate as a value alone, with the reason; any other as it is."""
    one = estimate.parameter
    if not one.identified or is_fixed(one) or (one.reason or "").startswith(NO_INTERVAL):
        return estimate
    told = NO_INTERVAL + why if one.reason is None else f"{NO_INTERVAL}{why} {one.reason}"
    return Estimate(replace(one, low=None, high=None, reason=told), np.empty(0))
