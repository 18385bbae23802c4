"""LogP's parameters from one process to many: the line RTT(p) = 2 (L + o_s + o_r) + (p-1) max(g, o_s).

o_s is one number for all p, through all post times. Where the line's slope doesn't exceed it beyond doubt, g is hidden,
and the line is fitted with o_s for its slope.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    fixed_at_zero,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.one_to_many.observed import ObservedToMany
from chiplog.fitting.regimes.line import RegimeLine, fit_line
from chiplog.fitting.settings import SEEN_SHARE
from chiplog.fitting.text import seconds_text
from chiplog.models.protocol import Model


def logp_estimates(model: Model, observed: ObservedToMany, rng: np.random.Generator) -> Estimates:
    """L_half (= L + o_s + o_r), L, o_s, o_r and g at one message size."""
    del model
    totals = observed.round_trips.quantity
    steps = (observed.round_trips.peers - 1).astype(np.float64)
    posts = observed.overheads
    o_s = None
    if posts.peers.size:
        o_s = fit_line(posts.quantity, np.zeros(posts.peers.size), rng, flat=True)
    line = fit_line(totals, steps, rng)
    gap = _gap(line, o_s, observed.round_trips.peers.size)
    if not gap.parameter.identified and o_s is not None:
        posting = steps * o_s.intercept
        draws = totals.draws - steps[:, None] * o_s.intercept_draws
        rest = replace(totals, value=totals.value - posting, draws=draws)
        line = fit_line(rest, np.zeros(steps.size), rng, flat=True)
    estimates = {
        "L": _latency(observed, line, o_s),
        "L_half": identified("L_half", "s", line.intercept / 2.0, line.intercept_draws / 2.0),
        "o_s": _not_posted(line),
        "g": gap,
    }
    if o_s is not None:
        estimates["o_s"] = identified("o_s", "s", o_s.intercept, o_s.intercept_draws)
    if observed.one_sided:
        estimates["o_r"] = fixed_at_zero("o_r", "s", line.intercept_draws.size)
    elif observed.receive.value.size:
        receive = observed.receive
        estimates["o_r"] = identified("o_r", "s", float(receive.value[0]), receive.draws[0])
    return estimates


def _not_posted(line: RegimeLine) -> Estimate:
    """Without post times: o_s is part of the half round trip, and RTT(p) grows by at least o_s with each peer."""
    most = [interval(line.intercept_draws / 2.0)[1]]
    if line.slope > 0:
        most.append(interval(line.slope_draws)[1])
    return unidentified(
        "o_s", "s", "there are no post times (send_overhead).", high=max(min(most), 0.0)
    )


def _gap(line: RegimeLine, o_s: RegimeLine | None, peers: int) -> Estimate:
    if peers < 2:
        return unidentified("g", "s", "RTT(p) was measured for one number of peers only.")
    if o_s is None:
        note = "the larger of g and o_s: o_s was not measured."
        return identified("g", "s", line.slope, line.slope_draws, note)
    low, _ = interval(line.slope_draws - o_s.intercept_draws)
    if low <= SEEN_SHARE * o_s.intercept:
        reason = (
            f"RTT(p) grows by {seconds_text(line.slope)} with each peer, which does not exceed o_s "
            f"({seconds_text(o_s.intercept)}) beyond doubt."
        )
        return unidentified("g", "s", reason, high=max(interval(line.slope_draws)[1], 0.0))
    return identified("g", "s", line.slope, line.slope_draws)


def _latency(observed: ObservedToMany, line: RegimeLine, o_s: RegimeLine | None) -> Estimate:
    most = interval(line.intercept_draws / 2.0)[1]
    if o_s is None:
        reason = "L = L_half - o_s - o_r, and o_s was not measured."
        return unidentified("L", "s", reason, high=most)
    value, draws = line.intercept / 2.0 - o_s.intercept, line.intercept_draws / 2.0
    draws = draws - o_s.intercept_draws
    if not observed.one_sided:
        if not observed.receive.value.size:
            reason = "L = L_half - o_s - o_r, and o_r was not measured."
            return unidentified("L", "s", reason, high=max(interval(draws)[1], 0.0))
        value -= float(observed.receive.value[0])
        draws = draws - observed.receive.draws[0]
    low, high = interval(draws)
    if value <= 0 or low <= 0:
        reason = (
            f"half the round trip ({seconds_text(line.intercept / 2.0)}) does not exceed the overheads beyond doubt: "
            f"the difference is at most {seconds_text(high)}."
        )
        return unidentified("L", "s", reason, high=high if high > 0 else most)
    return identified("L", "s", value, draws)
