"""The parameters of LogGOPS for one segment, from the quantities of any method.

    T(s) = L_half + (s-1) G_half        the line through the half round trips; L_half = L + o_s + o_r
    o_s + (s-1) O_s, o_r + (s-1) O_r    the lines through the overheads
    g + (s-1) G                         the line through the gaps, where these exceed both overheads

and G_half = G + O_s + O_r ties them: the half round trips know the sum far better than the others know its parts, so
what these miss it by is shared out among them, in proportion to their variances. Where overheads hide the gaps, G is
what the sum leaves.

Where that can't hold, the slopes are free (form "free"): G_half stands for itself, and g + (s-1) G is what a further
message of a train takes, whatever bounds it. It can't hold where trains are faster than the overheads of their
messages, or where the parts of the sum miss it by more than chance and by more than `FORM_TOLERANCE` of T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.contradictions import (
    do_overheads_exceed_half,
    overheads_sentence,
    train_misses_overheads,
)
from chiplog.fitting.estimates.gap import GapFit, fit_gap
from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.loggp import gap_of, least_gap, steepest
from chiplog.fitting.estimates.overheads import OverheadLines, overhead_estimates
from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.estimates.settings import FORM_TOLERANCE
from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.regimes.line import RegimeLine
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.regimes.partition import GAP, RECEIVE, SEND, Range, joined
from chiplog.fitting.result import FREE
from chiplog.fitting.text import seconds_text, sizes_text
from chiplog.models.protocol import payload_steps
from chiplog.statistics import BEYOND_DOUBT

Floats = NDArray[np.float64]

SUM_MISSED = "a byte of a message alone does not cost the sum G + O_s + O_r"


@dataclass(frozen=True)
class LogGOPSEstimates:
    """The parameters of one segment; `why_free` says why its slopes are free, None where they are not."""

    found: Estimates
    why_free: str | None


def loggops(job: Job) -> SegmentEstimates:
    """LogGOPS in each regime of each protocol."""
    lines = job.lines
    parts = lines.parts
    segments = [
        loggops_estimates(job.quantities, lines, number, one_sided=job.one_sided)
        for number in range(len(parts.ranges))
    ]
    why = tuple(estimates.why_free for estimates in segments)
    exceeding = [
        place
        for number, place in enumerate(parts.ranges)
        if do_overheads_exceed_half(OverheadLines.of(lines, number, one_sided=job.one_sided))
    ]
    cautions = free_slopes(parts.ranges, why)
    if exceeding:
        cautions = (overheads_sentence(exceeding, parts.ranges), *cautions)
    forms = tuple(None if reason is None else FREE for reason in why)
    return SegmentEstimates(parts, [estimates.found for estimates in segments], cautions, forms)


def loggops_estimates(
    quantities: MethodQuantities, lines: RegimeLines, segment: int, *, one_sided: bool = False
) -> LogGOPSEstimates:
    """L, L_half, o_s, o_r, g, G, O_s, O_r and G_half of one segment."""
    overhead_lines = OverheadLines.of(lines, segment, one_sided=one_sided)
    half, o_s, o_r = overhead_lines.half, overhead_lines.o_s, overhead_lines.o_r
    hidden_by = (SEND,) if one_sided else (SEND, RECEIVE)
    gap = gap_of(lines, segment, hidden_by)
    most = _longest_step(lines, segment, half)
    estimates = overhead_estimates(
        quantities, overhead_lines, lines.parts.ranges[segment], most=most
    )
    last = float(payload_steps(lines.parts.ranges[segment][1]))
    why = train_misses_overheads(lines, segment, hidden_by) or _sum_missed(
        gap, half, o_s, o_r, last
    )
    if why is None:
        estimates["g"] = least_gap(gap)
        sloping = _any_gap(lines, segment).line or half
        estimates.update(_tied(gap, half, o_s, o_r, steepest(sloping)))
    else:
        free = _any_gap(lines, segment)
        estimates["g"] = least_gap(free)
        estimates["G"] = _per_byte("G", free.line, _slope_draws(free.line), None)
        estimates["O_s"] = _per_byte("O_s", o_s, _slope_draws(o_s), steepest(half))
        estimates["O_r"] = _per_byte("O_r", o_r, _slope_draws(o_r), steepest(half))
    estimates["G_half"] = _per_byte("G_half", half, _slope_draws(half), None)
    return LogGOPSEstimates(estimates, why)


def free_slopes(ranges: Sequence[Range], why: Sequence[str | None]) -> tuple[str, ...]:
    """One sentence for each reason for which slopes are free, with the sizes."""
    sentences = []
    for reason in dict.fromkeys(cause for cause in why if cause is not None):
        free = [place for place, cause in zip(ranges, why, strict=True) if cause == reason]
        sizes = ", ".join(sizes_text(*place) for place in joined(free, ranges))
        sentences.append(
            f"The slopes of loggops are free for {sizes}: {reason}. There, g and G are what a further message of a "
            "train takes, whatever bounds it."
        )
    return tuple(sentences)


def _any_gap(lines: RegimeLines, segment: int) -> GapFit:
    """The line through all gaps of the regime, whatever bounds them."""
    gap = lines.quantity(GAP, segment)
    nothing = np.zeros(gap.value.size)
    return fit_gap(gap, nothing - np.inf, np.zeros(gap.draws.shape), lines.rng)


def _sum_missed(
    gap: GapFit,
    half: RegimeLine | None,
    o_s: RegimeLine | None,
    o_r: RegimeLine | None,
    last: float,
) -> str | None:
    if half is None:
        return None
    parts = [line for line in (gap.line, o_s, o_r) if line is not None]
    miss = sum(part.slope for part in parts) - half.slope
    draws = sum((part.slope_draws for part in parts), -half.slope_draws)
    known_all = gap.line is not None and o_s is not None and o_r is not None
    if miss < 0.0 and not known_all:
        return None  # what is not seen may make up for it
    share = abs(miss) * last / float(half.at(np.array([last]))[0])
    within_chance = known_all and abs(miss) <= BEYOND_DOUBT * float(np.std(draws))
    return None if share <= FORM_TOLERANCE or within_chance else SUM_MISSED


def _longest_step(lines: RegimeLines, segment: int, half: RegimeLine | None) -> float | None:
    """The longest that an overhead may be that was not measured: a message of a train takes no less."""
    gap = lines.quantity(GAP, segment)
    if not gap.value.size:
        return None if half is None else half.intercept
    return max(0.0, interval(gap.draws[int(np.argmin(gap.message_bytes))])[1])


def _tied(
    gap: GapFit,
    half: RegimeLine | None,
    o_s: RegimeLine | None,
    o_r: RegimeLine | None,
    most: float | None,
) -> Estimates:
    """G, O_s and O_r that add up to G_half; one that was not measured is at most `most` seconds a byte."""
    given = {"G": gap.line, "O_s": o_s, "O_r": o_r}
    missing = [symbol for symbol, line in given.items() if line is None]
    if half is None or missing not in ([], ["G"]):
        return {s: _per_byte(s, line, _slope_draws(line), most) for s, line in given.items()}
    if missing:
        assert o_s is not None and o_r is not None
        rest_draws = half.slope_draws - o_s.slope_draws - o_r.slope_draws
        rest = max(half.slope - o_s.slope - o_r.slope, 0.0)
        hidden = RegimeLine(0.0, rest, rest_draws, np.maximum(rest_draws, 0.0), half.sizes)
        given = {"G": hidden, "O_s": o_s, "O_r": o_r}
        return {s: _per_byte(s, line, _slope_draws(line), most) for s, line in given.items()}
    lines = [line for line in given.values() if line is not None]
    value, draws = _shared_out(
        np.array([line.slope for line in lines]),
        np.stack([line.slope_draws for line in lines]),
        half.slope,
        half.slope_draws,
    )
    tied = [
        RegimeLine(0.0, float(slope), drawn, drawn, half.sizes)
        for slope, drawn in zip(value, draws, strict=True)
    ]
    return {
        symbol: _per_byte(symbol, line, line.slope_draws, most)
        for symbol, line in zip(given, tied, strict=True)
    }


def _shared_out(
    parts: Floats, draws: Floats, total: float, total_draws: Floats
) -> tuple[Floats, Floats]:
    """`parts`, shape (3,), and their draws, (3, B), moved so that they add up to `total`; none below 0."""
    variance = draws.var(axis=1) + 1e-40
    share = variance / variance.sum()
    value = np.maximum(parts + share * (total - parts.sum()), 0.0)
    moved = np.maximum(draws + share[:, None] * (total_draws - draws.sum(axis=0)), 0.0)
    return value, moved


def _slope_draws(line: RegimeLine | None) -> Floats:
    return np.empty(0) if line is None else line.slope_draws


def _per_byte(symbol: str, line: RegimeLine | None, draws: Floats, most: float | None) -> Estimate:
    """A cost of a byte; with bounds from 0 on where it is too small to tell, up to `most` where it was not measured."""
    if line is None:
        return unidentified(symbol, "s/B", f"what {symbol} is was not measured here.", high=most)
    if line.only_bytes is not None:
        reason = (
            f"{symbol} is what a byte costs, and there is one size alone, {line.only_bytes:,} B."
        )
        return unidentified(symbol, "s/B", reason, high=steepest(line))
    low, high = interval(draws)
    if line.slope <= 0 or low <= 0:
        reason = (
            f"{symbol} is between 0 s and {seconds_text(high)} a byte: too small to measure here."
        )
        return unidentified(symbol, "s/B", reason, high=max(high, 0.0))
    return identified(symbol, "s/B", line.slope, draws)
