"""The sensitivity of a schedule's time: by a fit, with the intervals that its draws leave, or by given parameters."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from chiplog.fitting.predictions.known import Array
from chiplog.jobs.replay import ReplayBy, given_seconds
from chiplog.jobs.simulated_model import FittedParameters, corners
from chiplog.prediction.network_change import UNCHANGED, NetworkChange
from chiplog.prediction.sensitivity import (
    GAINS,
    added_latency,
    less_bandwidth,
    tolerated,
)
from chiplog.prediction.simulated import PS_PER_SECOND
from chiplog.schedule.arrays import SEND, Schedule
from chiplog.simulation import Conditions
from chiplog.simulation.parameters import Protocol
from chiplog.simulation.sensitivity import (
    SLOWER,
    GainRow,
    Sensitivity,
    SensitivityCurve,
    ToleranceRow,
)

CURVE_FACTORS = tuple(2.0**power for power in range(-4, 8))
"""Given: by what a curve multiplies a parameter."""
CURVES: dict[str, Callable[[float], NetworkChange]] = {
    "L": lambda factor: NetworkChange(latency=factor),
    "G": lambda factor: NetworkChange(byte_time=factor),
}
Seconds = Callable[[NetworkChange], float]
Values = list[float | None]


class _ChangedTimes:
    """How long a schedule takes by one vector of parameters, with and without changes of the network."""

    def __init__(self, seconds: Seconds) -> None:
        self.seconds = seconds
        self.unchanged = seconds(UNCHANGED)

    def gain(self, change: NetworkChange) -> float:
        """The share of the time that a change saves."""
        return 1.0 - self.seconds(change) / self.unchanged


def sensitivity(schedule: Schedule, by: ReplayBy) -> Sensitivity:
    """What better parameters would save of a schedule's time, and what worse ones may cost; RunFailed as of `simulate`.

    Intervals are over the corners of what a fit leaves open, and over its draws in which messages take least and most.
    """
    vectors = _vectors(schedule, by)
    if not all(vector.unchanged > 0.0 for vector in vectors):
        return Sensitivity((), ())
    gains = {name: [vector.gain(change) for vector in vectors] for name, change in GAINS.items()}
    rows = (GainRow(name, shares[0], min(shares), max(shares)) for name, shares in gains.items())
    messages = max(int((schedule.operations["kind"] == SEND).sum()), 1)
    least_seconds = SLOWER * vectors[0].unchanged / messages

    def tolerances(
        parameter: str, change: Callable[[float], NetworkChange], first: float
    ) -> Values:
        shares = gains[parameter]
        extremes = {0, int(np.argmin(shares)), int(np.argmax(shares))}
        return [tolerated(vectors[place].seconds, change, first) for place in sorted(extremes)]

    added = tolerances("latency", added_latency, least_seconds)
    ratios = tolerances("bandwidth", less_bandwidth, SLOWER)
    latency, byte_time = _parameters_now(schedule, by)
    in_latency = _tolerance("L", latency, [_or_none(latency, each) for each in added])
    in_bytes = _tolerance("G", byte_time, [_or_none(byte_time, each, byte_time) for each in ratios])
    return Sensitivity(tuple(rows), (in_latency, in_bytes))


def curves(schedule: Schedule, by: ReplayBy) -> tuple[SensitivityCurve, ...]:
    """The time over L, and over G, of all messages in the same ratio; none of a parameter that is 0 now.

    Intervals and errors as of `sensitivity`.
    """
    vectors = _vectors(schedule, by)
    curves = []
    for (parameter, change), now in zip(CURVES.items(), _parameters_now(schedule, by), strict=True):
        if not now > 0.0:
            continue
        by_factor = {
            factor: [vector.seconds(change(factor)) for vector in vectors]
            for factor in CURVE_FACTORS
        }
        finite = {factor: row for factor, row in by_factor.items() if max(row) < math.inf}
        values, times = tuple(factor * now for factor in finite), tuple(finite.values())
        middle = tuple(row[0] for row in times)
        ends = tuple(map(min, times)), tuple(map(max, times))
        curves.append(SensitivityCurve(parameter, now, values, middle, *ends))
    return tuple(curves)


def _vectors(schedule: Schedule, by: ReplayBy) -> list[_ChangedTimes]:
    """By each vector of what is not known; first in the middle of it."""
    return _fitted(by.fitted, schedule, by.conditions) if by.fitted else [_given(by, schedule)]


def _or_none(start: float, amount: float | None, unit: float = 1.0) -> float | None:
    return None if amount is None else start + amount * unit


def _parameters_now(schedule: Schedule, by: ReplayBy) -> tuple[float, float]:
    """L of the shortest messages in seconds, and G of the longest ones in seconds a byte."""
    protocols = by.parameters_of(schedule).protocols
    last = protocols[-1]
    byte_as = last.G_as if isinstance(last, Protocol) else last.nic_as
    return protocols[0].latency_ps / PS_PER_SECOND, byte_as * 1e-18


def _fitted(
    fitted: FittedParameters, schedule: Schedule, conditions: Conditions
) -> list[_ChangedTimes]:
    """By a fit: first in the middle of the set, then at its corners, then by the draws at the ends of the interval."""
    middle = fitted.times(schedule, conditions)
    points = corners(middle.space)
    ends = middle.ends(points[0])

    def by(point: Array, place: int) -> _ChangedTimes:
        def seconds(change: NetworkChange) -> float:
            times = fitted.times(schedule, conditions, change)
            parameters = times.parameters(point[np.newaxis], whole=place > 0)
            return times.seconds(parameters[place])

        return _ChangedTimes(seconds)

    return [by(point, 0) for point in points] + [by(points[0], place) for place in ends]


def _given(by: ReplayBy, schedule: Schedule) -> _ChangedTimes:
    """By parameters that are given."""
    return _ChangedTimes(lambda change: given_seconds(schedule, by, change))


def _tolerance(parameter: str, now: float, values: Values) -> ToleranceRow:
    """From that of the middle, which is the first, and of all."""
    known = [value for value in values if value is not None]
    if values[0] is None or len(known) < len(values):
        return ToleranceRow(parameter, now, values[0], None, None)
    return ToleranceRow(parameter, now, values[0], min(known), max(known))
