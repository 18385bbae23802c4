"""What the estimates of one fit contradict each other in: no set of parameters holds both, so a reader is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.fitting.estimates.overheads import OverheadLines
from chiplog.fitting.estimates.parameters import Estimates, interval
from chiplog.fitting.estimates.settings import FORM_TOLERANCE
from chiplog.fitting.regimes.line import RegimeLine
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.regimes.partition import GAP, HALF, Range, joined
from chiplog.fitting.regimes.settings import TRAIN_STEPS
from chiplog.fitting.text import seconds_text, sizes_text
from chiplog.models.protocol import payload_steps
from chiplog.statistics import BEYOND_DOUBT

TOO_FAST = "trains go faster than the overheads of their messages allow"


def do_overheads_exceed_half(overhead_lines: OverheadLines) -> bool:
    """Do o_s + o_r exceed L_half beyond doubt, so that no L explains them?"""
    half, o_s, o_r = overhead_lines.half, overhead_lines.o_s, overhead_lines.o_r
    if half is None or o_s is None or o_r is None:
        return False
    if any(line.only_bytes is not None for line in (half, o_s, o_r)):
        return False
    both = o_s.intercept + o_r.intercept
    rest = half.intercept_draws - o_s.intercept_draws - o_r.intercept_draws
    return both > (1.0 + FORM_TOLERANCE) * half.intercept and interval(rest)[1] < 0.0


def overheads_sentence(places: Sequence[Range], ranges: Sequence[Range]) -> str:
    """What to say of the sizes where overheads exceed half the round trip."""
    return (
        f"From {_sizes(places, ranges)}, o_s + o_r exceed L_half, half the round trip: sender and receiver work at the "
        "same time, or find another state of the machine behind a delay. L is not identified there."
    )


def train_misses_overheads(lines: RegimeLines, segment: int, names: tuple[str, ...]) -> str | None:
    """`TOO_FAST` where overheads exceed the gaps, by more than chance and by a share of the train that matters."""
    gap = lines.quantity(GAP, segment)
    half = lines.line(HALF, segment)
    if not gap.value.size or half is None:
        return None
    overhead, draws = lines.largest(names, gap.message_bytes, gap.draws.shape[1])
    way = half.at(payload_steps(gap.message_bytes))
    train = np.maximum(np.abs(gap.value), overhead) + 2.0 * way / TRAIN_STEPS
    excess = float(np.mean((overhead - gap.value) / train))
    error = float(np.mean((draws - gap.draws) / train[:, None], axis=0).std())
    return TOO_FAST if excess > max(FORM_TOLERANCE, BEYOND_DOUBT * error) else None


def too_fast_sentence(places: Sequence[Range], ranges: Sequence[Range]) -> str:
    """What to say of the sizes where trains go faster than their overheads."""
    return f"From {_sizes(places, ranges)}, {TOO_FAST}: behind a delay, sends and receives take longer than in a train."


def prices_of_a_byte(
    estimates: Estimates, half: RegimeLine | None, last_step: float
) -> tuple[float, float] | None:
    """What a byte costs in a round trip and in a train, where that differs: LogGP has one G for both.

    It differs where the intervals exclude each other and T(s) of `last_step` + 1 bytes is off by more than
    `FORM_TOLERANCE`.
    """
    G = estimates["G"].parameter
    if G.value is None or half is None or G.reason is not None or half.only_bytes is not None:
        return None
    low, high = interval(half.slope_draws - estimates["G"].draws)
    missed = abs(half.slope - G.value) * last_step
    if low <= 0.0 <= high or missed <= FORM_TOLERANCE * float(half.at(np.array([last_step]))[0]):
        return None
    return half.slope, G.value


def prices_sentence(prices: dict[Range, tuple[float, float]], ranges: Sequence[Range]) -> str:
    """What to say of the sizes where a byte has two prices."""
    alone, train = ([pair[number] for pair in prices.values()] for number in (0, 1))
    return (
        f"From {_sizes(list(prices), ranges)}, a byte costs {_span(alone)} in a message on its own and {_span(train)} "
        "(G) in a train, whose messages overlap or wait for each other. LogGP has one G for both, so its half round "
        "trips are off there."
    )


def _sizes(places: Sequence[Range], ranges: Sequence[Range]) -> str:
    return ", from ".join(sizes_text(*place) for place in joined(places, ranges))


def _span(values: Sequence[float]) -> str:
    low, high = seconds_text(min(values)), seconds_text(max(values))
    return low if low == high else f"{low} to {high}"
