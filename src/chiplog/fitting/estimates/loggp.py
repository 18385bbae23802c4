"""The parameters of LogGP for one protocol, and of LogP and LogGPS, from the quantities of any method.

o_s(s) = o_s + (s-1) O, o_r(s) likewise: LogGP's overhead is that of a small message, so the growth with the size, which
LogGP has not, is always fitted along, reported as O where it is seen (LogGOPS's O; the model's trains use it), and
never averaged into o_s.
L_half, L: see `overheads`
g, G: the line through the gaps (see `gap`); where overheads hide them, G is the slope of the half round trips.
LogP's are those of short messages, with flat lines; LogGPS has S, the largest message whose send returns although the
receiver is late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.fitting.estimates.contradictions import (
    do_overheads_exceed_half,
    overheads_sentence,
    prices_of_a_byte,
    prices_sentence,
    too_fast_sentence,
    train_misses_overheads,
)
from chiplog.fitting.estimates.gap import GapFit, fit_gap
from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.overheads import OverheadLines, overhead_estimates
from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.estimates.settings import WAITED_SHARE
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import whole
from chiplog.fitting.regimes.line import RegimeLine
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.regimes.partition import GAP, RECEIVE, SEND
from chiplog.fitting.result import RECEIVER, Parameter
from chiplog.fitting.settings import FEWEST_SIZES, SEEN_SHARE
from chiplog.fitting.text import seconds_text
from chiplog.models.protocol import payload_steps
from chiplog.statistics import BEYOND_DOUBT, NO_DIFFERENCE


def least_gap(gap: GapFit) -> Estimate:
    """g, or the most that trains leave of it."""
    line = gap.line
    if line is None:
        return unidentified("g", "s", gap.reason or "", high=gap.most_seconds)
    low, high = interval(line.intercept_draws)
    if line.intercept <= 0 or low <= 0:
        reason = (
            f"g is between {seconds_text(max(low, 0.0))} and {seconds_text(high)} by the gaps from "
            f"{gap.first_bytes} B on: too small to measure here."
        )
        return unidentified("g", "s", reason, high=max(high, 0.0))
    return identified("g", "s", line.intercept, line.intercept_draws)


def _grows(line: RegimeLine | None) -> bool:
    return line is not None and line.slope > 0 and interval(line.slope_draws)[0] > 0


def _gap_per_byte(gap: GapFit, half: RegimeLine | None) -> Estimate:
    if gap.line is not None and _grows(gap.line):
        return identified("G", "s/B", gap.line.slope, gap.line.slope_draws)
    why = "the gaps are hidden" if gap.line is None else "the gaps do not grow beyond doubt"
    if half is not None and _grows(half):
        note = f"from the half round trips, as {why}."
        return identified("G", "s/B", half.slope, half.slope_draws, note)
    reason = f"{why}, and the half round trips do not grow with the size beyond doubt."
    return unidentified("G", "s/B", reason, high=steepest(half))


def steepest(line: RegimeLine | None) -> float | None:
    """The most that a byte may cost by the line, in seconds; None where none was measured."""
    if line is None:
        return None
    if line.only_bytes is not None:
        return interval(line.intercept_draws)[1] / (line.only_bytes - 1)
    return max(line.slope, interval(line.slope_draws)[1])


def _growth(line: RegimeLine | None) -> Estimates:
    if line is None or line.slope <= BEYOND_DOUBT * line.slope_draws.std():
        return {}
    note = "growth of o_s with the size, which LogGP does not have."
    return {"O": identified("O", "s/B", line.slope, line.slope_draws, note)}


def loggp(job: Job) -> SegmentEstimates:
    """LogGP in each regime of each protocol."""
    return each_segment(job, job.lines)


def each_segment(job: Job, lines: RegimeLines) -> SegmentEstimates:
    """The estimates of every segment of `lines`, its form, and what they contradict each other in."""
    numbers = range(len(lines.parts.ranges))
    one_sided = job.one_sided
    estimates = [
        segment_estimates(job.quantities, lines, number, one_sided=one_sided) for number in numbers
    ]
    forms = tuple(
        RECEIVER if not one_sided and receives_bound_trains(lines, number) else None
        for number in numbers
    )
    sentences = contradictions(lines, estimates, one_sided=one_sided)
    return SegmentEstimates(lines.parts, estimates, sentences, forms)


def segment_estimates(
    quantities: MethodQuantities,
    lines: RegimeLines,
    segment: int,
    *,
    one_sided: bool = False,
) -> Estimates:
    """L, L_half, o_s, o_r, g, G (and O) of one segment.

    Flat `lines` make it LogP: nothing depends on the size. `one_sided` operations have o_r = 0 by their nature.
    """
    overhead_lines = OverheadLines.of(lines, segment, one_sided=one_sided)
    hidden_by = (
        (SEND,) if one_sided or not receives_bound_trains(lines, segment) else (SEND, RECEIVE)
    )
    gap = gap_of(lines, segment, hidden_by, flat_receives=True)
    estimates = overhead_estimates(quantities, overhead_lines, lines.parts.ranges[segment])
    estimates["g"] = least_gap(gap)
    if not lines.flat:
        estimates["G"] = _gap_per_byte(gap, overhead_lines.half)
        estimates.update(_growth(overhead_lines.o_s))
    return estimates


def contradictions(
    lines: RegimeLines, segments: Sequence[Estimates], *, one_sided: bool
) -> tuple[str, ...]:
    """What the estimates of the segments contradict each other in, a sentence each."""
    ranges = lines.parts.ranges
    overheads = [
        OverheadLines.of(lines, number, one_sided=one_sided) for number in range(len(ranges))
    ]
    exceeding = [
        place
        for place, overhead_lines in zip(ranges, overheads, strict=True)
        if do_overheads_exceed_half(overhead_lines)
    ]
    prices = {
        place: pair
        for place, overhead_lines, estimates in zip(ranges, overheads, segments, strict=True)
        if not lines.flat
        and (
            pair := prices_of_a_byte(estimates, overhead_lines.half, float(payload_steps(place[1])))
        )
    }
    names = (SEND,) if one_sided else (SEND, RECEIVE)
    too_fast = [
        place
        for number, place in enumerate(ranges)
        if train_misses_overheads(lines, number, names) is not None
    ]
    sentences = []
    if too_fast:
        sentences.append(too_fast_sentence(too_fast, ranges))
    if exceeding:
        sentences.append(overheads_sentence(exceeding, ranges))
    if prices:
        sentences.append(prices_sentence(prices, ranges))
    return tuple(sentences)


def gap_of(
    lines: RegimeLines, segment: int, hidden_by: tuple[str, ...], *, flat_receives: bool = False
) -> GapFit:
    """The gap's line in the regime that holds the segment, as far as these overheads do not hide it.

    With `flat_receives`, o_r hides it by what it is of a message of one byte.
    """
    gap = lines.quantity(GAP, segment)
    flat = (RECEIVE,) if flat_receives else ()
    overhead = lines.largest(hidden_by, gap.message_bytes, gap.draws.shape[1], flat)
    return fit_gap(gap, *overhead, lines.rng, flat=lines.flat)


def receives_bound_trains(lines: RegimeLines, segment: int) -> bool:
    """Do trains take as long as receives where these take longer than sends, at some sizes of the regime?

    LogGP's o_r is one number. Where trains are faster than that, receives behind a delay are another operation.
    """
    gap, o_r = lines.quantity(GAP, segment), lines.line(RECEIVE, segment)
    if not gap.value.size or o_r is None or o_r.only_bytes is not None:
        return False
    o_s, _ = lines.largest((SEND,), gap.message_bytes, gap.draws.shape[1])
    error = BEYOND_DOUBT * np.hypot(gap.sigma, o_r.intercept_draws.std())
    bound = (gap.value <= o_r.intercept * (1.0 + SEEN_SHARE) + error) & (o_s < o_r.intercept)
    if not np.any(bound):
        return False
    missed = o_r.intercept - gap.value[bound]
    return bool(np.median(missed - error[bound]) <= SEEN_SHARE * o_r.intercept)


def last_short_size(half: Quantity) -> int:
    """The largest size in bytes up to which half round trips stay within 5 % (at least 3 sizes, if there are)."""
    base = float(np.median(half.value[:FEWEST_SIZES]))
    noise = 2.0 * half.sigma
    longer = np.flatnonzero(half.value - noise > (1.0 + NO_DIFFERENCE) * base)
    first_long = (
        int(longer[longer >= FEWEST_SIZES][0])
        if np.any(longer >= FEWEST_SIZES)
        else half.value.size
    )
    return int(half.message_bytes[first_long - 1])


def logp(job: Job) -> SegmentEstimates:
    """One segment, of those sizes that cost about as much as the smallest."""
    half = job.quantities_in_lines.half_round_trip
    first, last = job.range[0], last_short_size(half) if half.value.size else 0
    parts = whole(np.array([first, max(first, last)]))
    lines = RegimeLines(job.quantities_in_lines, parts, job.rng, flat=True)
    return each_segment(job, lines)


def loggps(job: Job) -> SegmentEstimates:
    """LogGP with one S for all segments."""
    threshold = synchronisation_estimate(job.measured, job.limits, job.quantities.o_s)
    fitted = loggp(job)
    return replace(
        fitted, estimates=[{**estimates, "S": threshold} for estimates in fitted.estimates]
    )


def synchronisation_estimate(
    measured: MeasuredSeries, boundaries: Sequence[int], o_s: Quantity
) -> Estimate:
    """S in bytes from sends to a late receiver, at a protocol change where one fits.

    A send has waited if its time is nearer to the receiver's delay than to its own, o_s. The interval runs from the
    largest size that was seen not to wait to the largest that may still not.
    """
    waited: dict[int, list[bool]] = {}
    for index, series in enumerate(measured.series):
        if series.pattern == "late_receiver" and series.delay_seconds > 0:
            own = _own_seconds(o_s, series.message_bytes)
            middle = own + WAITED_SHARE * max(series.delay_seconds - own, 0.0)
            has_waited = bool(measured.at.value[index] > middle)
            waited.setdefault(series.message_bytes, []).append(has_waited)
    if not waited:
        return unidentified(
            "S", "B", "no sends to a late receiver were measured (pattern late_receiver)."
        )
    waits = {size: np.mean(seen) > 0.5 for size, seen in waited.items()}
    blocked = [size for size, seen in waits.items() if seen]
    if not blocked:
        return unidentified(
            "S",
            "B",
            f"no send waited for a late receiver: S is {max(waits)} B or more.",
            low=float(max(waits)),
        )
    first_blocked = min(blocked)
    free = [size for size in waits if size < first_blocked]
    if not free:
        return unidentified(
            "S",
            "B",
            f"every send waited for a late receiver: S is below {first_blocked} B.",
            high=float(first_blocked - 1),
        )
    last_free = max(free)
    inside = [limit for limit in boundaries if last_free <= limit < first_blocked]
    value = float(inside[0] if inside else last_free)
    low, high = float(last_free), float(first_blocked - 1)
    if inside:
        low = high = value
    parameter = Parameter("S", value, low, high, "B", True, None)
    return Estimate(parameter, np.empty(0))


def _own_seconds(o_s: Quantity, message_bytes: int) -> float:
    """What a send of that size takes by itself, between the measured sizes; 0 where nothing was measured."""
    if not o_s.value.size:
        return 0.0
    return max(float(np.interp(message_bytes, o_s.message_bytes, o_s.value)), 0.0)
