"""The parameters of LogGP for one protocol, from the quantities of any method.

o_s(s) = o_s + (s-1) O, o_r(s) likewise: LogGP's overhead is that of a small message, so the growth with the size, which
LogGP has not, is always fitted along, reported as O where it is seen (LogGOPS's O; the model's trains use it), and
never averaged into o_s.
L_half = T(1), from the line through the half round trips;    L = L_half - o_s - o_r
g, G: the line through the gaps (see `gap`); where overheads hide them, G is the slope of the half round trips.
"""

from __future__ import annotations

import numpy as np

from chiplog.fit.estimates.gap import MARGIN, GapFit, fit_gap
from chiplog.fit.estimates.job import Job, SegmentEstimates
from chiplog.fit.estimates.parameters import (
    Estimate,
    Estimates,
    fixed_at_zero,
    identified,
    interval,
    unidentified,
)
from chiplog.fit.quantities.methods.quantities import MethodQuantities
from chiplog.fit.regimes.line import Line
from chiplog.fit.regimes.of_quantities import RegimeLines
from chiplog.fit.regimes.partition import GAP, HALF, RECEIVE, SEND
from chiplog.fit.text import seconds_text, sizes_text

GROWTH_ERRORS = 3.0
"""An overhead is said to grow with the size if its slope is above 0 by so many standard errors."""

G_DIFFERS = 0.2
"""Share by which the round trips' cost of a byte may differ from G before the reader is told."""


def _overhead(symbol: str, line: Line | None, source: str, most: float | None) -> Estimate:
    """An overhead; where it was not measured, it is at most the half round trip (`most` seconds)."""
    if line is None:
        return unidentified(symbol, "s", f"there are no {source} in this segment.", high=most)
    if line.only_bytes is not None:
        return unidentified(symbol, "s", _one_size(line, source), high=_most(line))
    low, high = interval(line.intercept_draws)
    if line.intercept <= 0 or low <= 0:
        span = f"between {seconds_text(max(low, 0.0))} and {seconds_text(high)}"
        reason = f"{symbol} is {span}: too small to measure here."
        return unidentified(symbol, "s", reason, high=max(high, 0.0))
    return identified(symbol, "s", line.intercept, line.intercept_draws)


def _one_size(line: Line, source: str) -> str:
    return f"there are {source} of {line.only_bytes:,} B alone in this segment: two sizes tell what its bytes cost."


def _most(half: Line | None) -> float | None:
    """The longest that a part of the half round trip may be, in seconds; None where none was measured."""
    return None if half is None else max(half.intercept, interval(half.intercept_draws)[1])


def _latency(half: Line | None, o_s: Line | None, o_r: Line | None) -> Estimate:
    if half is None:
        return unidentified("L", "s", "there are no round trips in this segment.")
    if o_s is None or o_r is None:
        missing = "o_s" if o_s is None else "o_r"
        reason = f"L = L_half - o_s - o_r, and {missing} was not measured."
        return unidentified("L", "s", reason, high=_most(half))
    for line, source in (
        (half, "round trips"),
        (o_s, "send overheads"),
        (o_r, "receive overheads"),
    ):
        if line.only_bytes is not None:
            return unidentified("L", "s", _one_size(line, source), high=_most(half))
    value = half.intercept - o_s.intercept - o_r.intercept
    draws = half.intercept_draws - o_s.intercept_draws - o_r.intercept_draws
    low, high = interval(draws)
    if value <= 0 or low <= 0:
        reason = (
            f"half the round trip ({seconds_text(half.intercept)}) does not exceed the overheads "
            f"(o_s + o_r = {seconds_text(o_s.intercept + o_r.intercept)}) beyond doubt: the difference is "
            f"{seconds_text(low)} to {seconds_text(high)}."
        )
        return unidentified("L", "s", reason, high=high if high > 0 else _most(half))
    return identified("L", "s", value, draws)


def least_gap(found: GapFit, o_r: Line | None) -> Estimate:
    """g, with a note where it is as long as `o_r`."""
    line = found.line
    if line is None:
        return unidentified("g", "s", found.reason or "", high=found.most_seconds)
    low, high = interval(line.intercept_draws)
    if line.intercept <= 0 or low <= 0:
        reason = (
            f"g is between {seconds_text(max(low, 0.0))} and {seconds_text(high)} by the gaps from "
            f"{found.first_bytes} B on: too small to measure here."
        )
        return unidentified("g", "s", reason, high=max(high, 0.0))
    note = None
    if o_r is not None and abs(line.intercept - o_r.intercept) <= MARGIN * line.intercept:
        note = "as long as o_r: the receiver may be what bounds the trains."
    return identified("g", "s", line.intercept, line.intercept_draws, note)


def _grows(line: Line | None) -> bool:
    return line is not None and line.slope > 0 and interval(line.slope_draws)[0] > 0


def _gap_per_byte(found: GapFit, half: Line | None) -> Estimate:
    if found.line is not None and _grows(found.line):
        return identified("G", "s/B", found.line.slope, found.line.slope_draws)
    why = "the gaps are hidden" if found.line is None else "the gaps do not grow beyond doubt"
    if half is not None and _grows(half):
        note = f"from the half round trips, as {why}."
        return identified("G", "s/B", half.slope, half.slope_draws, note)
    reason = f"{why}, and the half round trips do not grow with the size beyond doubt."
    return unidentified("G", "s/B", reason, high=steepest(half))


def steepest(line: Line | None) -> float | None:
    """The most that a byte may cost by the line, in seconds; None where none was measured."""
    if line is None:
        return None
    if line.only_bytes is not None:
        return interval(line.intercept_draws)[1] / (line.only_bytes - 1)
    return max(line.slope, interval(line.slope_draws)[1])


def _growth(line: Line | None) -> Estimates:
    if line is None or line.slope <= GROWTH_ERRORS * line.slope_draws.std():
        return {}
    note = "growth of o_s with the size, which LogGP does not have."
    return {"O": identified("O", "s/B", line.slope, line.slope_draws, note)}


def _no_overhead(half: Line | None) -> Line | None:
    """The receive overhead of an operation that has none, with as many replicates as the round trips."""
    if half is None:
        return None
    nothing = np.zeros_like(half.intercept_draws)
    return Line(0.0, 0.0, nothing, nothing, 0.0, half.sizes)


def two_prices_of_a_byte(found: Estimates, half: Line | None, where: str) -> tuple[str, ...]:
    """A sentence if a byte costs something else in a round trip than in a train: LogGP has one G for both."""
    G = found["G"].parameter
    if G.value is None or half is None or not _grows(half) or G.reason is not None:
        return ()
    ratio = half.slope / G.value
    low, high = interval(half.slope_draws / np.maximum(found["G"].draws, 1e-30))
    if abs(ratio - 1.0) < G_DIFFERS or low <= 1.0 <= high:
        return ()
    return (
        f"From {where}, a byte costs {seconds_text(half.slope)} in a message on its own and "
        f"{seconds_text(G.value)} (G) in a train: copies that overlap in a train don't in a round trip. LogGP has one "
        f"G for both, so its half round trips are off there.",
    )


def loggp(job: Job) -> SegmentEstimates:
    """LogGP in each regime of each protocol."""
    lines = job.lines
    parts = lines.parts
    found = [
        segment_estimates(job.quantities, lines, number, one_sided=job.one_sided)
        for number in range(len(parts.ranges))
    ]
    told = tuple(sentence for _, cautions in found for sentence in cautions)
    return SegmentEstimates(parts, [estimates for estimates, _ in found], told)


def segment_estimates(
    quantities: MethodQuantities,
    lines: RegimeLines,
    segment: int,
    *,
    one_sided: bool = False,
) -> tuple[Estimates, tuple[str, ...]]:
    """L, L_half, o_s, o_r, g, G (and O) of one segment, with what a reader must be told.

    Flat `lines` make it LogP: nothing depends on the size. `one_sided` operations have o_r = 0 by their nature.
    """
    half, o_s = lines.line(HALF, segment), lines.line(SEND, segment)
    o_r = _no_overhead(half) if one_sided else lines.line(RECEIVE, segment)
    gap = gap_of(lines, segment, (SEND,))
    found = common_estimates(quantities, half, o_s, o_r, one_sided=one_sided)
    found["g"] = least_gap(gap, None if one_sided else o_r)
    if lines.flat:
        return found, ()
    found["G"] = _gap_per_byte(gap, half)
    found.update(_growth(o_s))
    return found, two_prices_of_a_byte(found, half, sizes_text(*lines.parts.ranges[segment]))


def gap_of(lines: RegimeLines, segment: int, hidden_by: tuple[str, ...]) -> GapFit:
    """The gap's line in the regime that holds the segment, as far as these overheads do not hide it."""
    gap = lines.quantity(GAP, segment)
    overhead = lines.largest(hidden_by, gap.message_bytes, gap.draws.shape[1])
    return fit_gap(gap, *overhead, lines.rng, flat=lines.flat)


def common_estimates(
    quantities: MethodQuantities,
    half: Line | None,
    o_s: Line | None,
    o_r: Line | None,
    *,
    one_sided: bool,
    most: float | None = None,
) -> Estimates:
    """L, L_half, o_s and o_r of one segment (and EEL, of the method that reports it).

    An overhead that was not measured is at most `most` seconds, by default the half round trip.
    """
    found: Estimates = {}
    most = _most(half) if most is None else most
    if quantities.latency_reason is None:
        found["L"] = _latency(half, o_s, o_r)
    else:
        found["L"] = unidentified("L", "s", quantities.latency_reason, high=_most(half))
    if half is None:
        found["L_half"] = unidentified("L_half", "s", "there are no round trips in this segment.")
    elif half.only_bytes is not None:
        reason = _one_size(half, "round trips")
        found["L_half"] = unidentified("L_half", "s", reason, high=_most(half))
    else:
        found["L_half"] = identified("L_half", "s", half.intercept, half.intercept_draws)
    found["o_s"] = _overhead("o_s", o_s, "send overheads", most)
    if one_sided:
        found["o_r"] = fixed_at_zero("o_r", "s", 0 if half is None else half.intercept_draws.size)
    else:
        found["o_r"] = _overhead("o_r", o_r, "receive overheads", most)
    if quantities.reports_round_trip and half is not None and half.only_bytes is None:
        found["EEL"] = identified("EEL", "s", 2 * half.intercept, 2 * half.intercept_draws)
    return found
