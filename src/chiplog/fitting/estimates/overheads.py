"""L, L_half, o_s and o_r of one segment, each with a value or with what the data leave of it.

L_half = T(1), from the line through the half round trips;    L = L_half - o_s - o_r

None of them is negative, so each is at most what the others leave of L_half. Delays that were not longer than the gap
show no overhead; what they give is the most that it may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    fixed_at_zero,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.quantities.value_intervals import intervals
from chiplog.fitting.regimes.line import RegimeLine
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.regimes.partition import HALF, RECEIVE, SEND
from chiplog.fitting.result import Parameter
from chiplog.fitting.text import seconds_text

SOURCES = {HALF: "round trips", SEND: "send overheads", RECEIVE: "receive overheads"}


@dataclass(frozen=True)
class OverheadLines:
    """The lines that L, L_half, o_s and o_r of one segment are read from; None where nothing was measured."""

    half: RegimeLine | None
    o_s: RegimeLine | None
    o_r: RegimeLine | None
    is_one_sided: bool
    """Has the receiver's CPU no part in the operation? Then `o_r` is a line at 0."""

    @staticmethod
    def of(lines: RegimeLines, segment: int, *, one_sided: bool) -> OverheadLines:
        """Those of the regimes that hold the segment."""
        half = lines.line(HALF, segment)
        o_r = _no_overhead(half) if one_sided else lines.line(RECEIVE, segment)
        return OverheadLines(half, lines.line(SEND, segment), o_r, one_sided)


def overhead_estimates(
    quantities: MethodQuantities,
    overhead_lines: OverheadLines,
    sizes: tuple[int, int],
    *,
    most: float | None = None,
) -> Estimates:
    """L, L_half, o_s and o_r of the segment of these `sizes` (and EEL, of the method that reports it).

    An overhead that was not measured is at most `most` seconds, by default the half round trip.
    """
    half = overhead_lines.half
    most = most_seconds(half) if most is None else most
    short = {
        name: upper_bound.within(*sizes) for name, upper_bound in quantities.upper_bounds.items()
    }
    o_s = _overhead("o_s", overhead_lines.o_s, SEND, short.get(SEND), most)
    if overhead_lines.is_one_sided:
        o_r = fixed_at_zero("o_r", "s", 0 if half is None else half.intercept_draws.size)
    else:
        o_r = _overhead("o_r", overhead_lines.o_r, RECEIVE, short.get(RECEIVE), most)
    o_s, o_r = _within_half(o_s, o_r, half), _within_half(o_r, o_s, half)
    estimates = {"L": _latency(quantities, overhead_lines, o_s.parameter, o_r.parameter)}
    estimates["L_half"] = _half(half)
    estimates["o_s"], estimates["o_r"] = o_s, o_r
    if quantities.reports_round_trip and half is not None and half.only_bytes is None:
        estimates["EEL"] = identified("EEL", "s", 2 * half.intercept, 2 * half.intercept_draws)
    return estimates


def most_seconds(half: RegimeLine | None) -> float | None:
    """The longest that a part of the half round trip may be, in seconds; None where none was measured."""
    return None if half is None else max(half.intercept, interval(half.intercept_draws)[1])


def one_size_alone(line: RegimeLine, source: str) -> str:
    """The reason why a line through one size tells no start-up time."""
    return f"there are {source} of {line.only_bytes:,} B alone in this segment: two sizes tell what its bytes cost."


def _no_overhead(half: RegimeLine | None) -> RegimeLine | None:
    """The receive overhead of an operation that has none, with as many replicates as the round trips."""
    if half is None:
        return None
    nothing = np.zeros_like(half.intercept_draws)
    return RegimeLine(0.0, 0.0, nothing, nothing, half.sizes)


def _half(half: RegimeLine | None) -> Estimate:
    if half is None:
        return unidentified("L_half", "s", "there are no round trips in this segment.")
    if half.only_bytes is not None:
        reason = one_size_alone(half, SOURCES[HALF])
        return unidentified("L_half", "s", reason, high=most_seconds(half))
    return identified("L_half", "s", half.intercept, half.intercept_draws)


def _overhead(
    symbol: str, line: RegimeLine | None, quantity: str, short: Quantity | None, most: float | None
) -> Estimate:
    source = SOURCES[quantity]
    if line is None:
        if short is not None and short.value.size:
            return _behind_gap(symbol, short, most)
        return unidentified(symbol, "s", f"there are no {source} in this segment.", high=most)
    if line.only_bytes is not None:
        return unidentified(symbol, "s", one_size_alone(line, source), high=most_seconds(line))
    low, high = interval(line.intercept_draws)
    if line.intercept <= 0 or low <= 0:
        span = f"between {seconds_text(max(low, 0.0))} and {seconds_text(high)}"
        reason = f"{symbol} is {span}: too small to measure here."
        return unidentified(symbol, "s", reason, high=max(high, 0.0))
    return identified(symbol, "s", line.intercept, line.intercept_draws)


def _behind_gap(symbol: str, short: Quantity, most: float | None) -> Estimate:
    """An overhead that no delay showed, since the gap was longer than all of them: at most what they gave."""
    bound = max(0.0, float(np.min(intervals(short.draws)[1])))
    high = bound if most is None else min(bound, most)
    return unidentified(
        symbol,
        "s",
        "the delays were not longer than the gap between messages, so the gap is what they show: a new measurement "
        f"takes longer ones. {symbol} is at most {seconds_text(high)}.",
        high=high,
    )


def _within_half(estimate: Estimate, other: Estimate, half: RegimeLine | None) -> Estimate:
    """An overhead that is not identified is at most what the other one leaves of the half round trip."""
    parameter, whole = estimate.parameter, most_seconds(half)
    if parameter.identified or whole is None or half is None or half.only_bytes is not None:
        return estimate
    rest = whole - (other.parameter.low or 0.0)
    if parameter.high is not None and (parameter.high <= rest or rest <= 0.0):
        return estimate
    reason = parameter.reason or ""
    return unidentified(parameter.symbol, "s", reason, high=rest if rest > 0.0 else whole)


def _latency(
    quantities: MethodQuantities, overhead_lines: OverheadLines, o_s: Parameter, o_r: Parameter
) -> Estimate:
    half = overhead_lines.half
    if quantities.latency_reason is not None:
        return unidentified("L", "s", quantities.latency_reason, high=most_seconds(half))
    if half is None:
        return unidentified("L", "s", "there are no round trips in this segment.")
    bounds = _left_for_latency(half, o_s, o_r)
    if overhead_lines.o_s is None or overhead_lines.o_r is None:
        missing = "o_s" if overhead_lines.o_s is None else "o_r"
        known = quantities.upper_bounds.get(missing)
        why = "was not measured" if known is None or not known.value.size else "is not identified"
        return unidentified("L", "s", f"L = L_half - o_s - o_r, and {missing} {why}.", *bounds)
    lines = {HALF: half, SEND: overhead_lines.o_s, RECEIVE: overhead_lines.o_r}
    for name, line in lines.items():
        if line.only_bytes is not None:
            return unidentified("L", "s", one_size_alone(line, SOURCES[name]), *bounds)
    overheads = overhead_lines.o_s.intercept + overhead_lines.o_r.intercept
    value = half.intercept - overheads
    draws = (
        half.intercept_draws
        - overhead_lines.o_s.intercept_draws
        - overhead_lines.o_r.intercept_draws
    )
    low, high = interval(draws)
    if value <= 0 or low <= 0:
        reason = (
            f"half the round trip ({seconds_text(half.intercept)}) does not exceed the overheads "
            f"(o_s + o_r = {seconds_text(overheads)}) beyond doubt: the difference is "
            f"{seconds_text(low)} to {seconds_text(high)}."
        )
        return unidentified("L", "s", reason, high=high if high > 0 else most_seconds(half))
    return identified("L", "s", value, draws)


def _left_for_latency(
    half: RegimeLine, o_s: Parameter, o_r: Parameter
) -> tuple[float, float | None]:
    """The least and the most that the overheads leave of the half round trip."""
    whole = most_seconds(half)
    assert whole is not None
    if half.only_bytes is not None:
        return 0.0, whole
    high = whole - (o_s.low or 0.0) - (o_r.low or 0.0)
    low = 0.0
    if o_s.high is not None and o_r.high is not None:
        low = max(0.0, interval(half.intercept_draws)[0] - o_s.high - o_r.high)
    return low, high if high > 0.0 else whole
