"""The fit: LogGP's, with the mean of both overheads for o."""

from __future__ import annotations

from dataclasses import replace

from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.loggp import loggp
from chiplog.fitting.estimates.parameters import Estimate, Estimates, identified, unidentified


def one_overhead(job: Job) -> SegmentEstimates:
    """L, o, g and G in each regime of each protocol."""
    fitted = loggp(job)
    return replace(fitted, estimates=[_merged(found) for found in fitted.estimates])


def _merged(found: Estimates) -> Estimates:
    others = {symbol: one for symbol, one in found.items() if symbol not in ("o_s", "o_r")}
    return {**others, "o": _mean(found["o_s"], found["o_r"])}


def _mean(send: Estimate, receive: Estimate) -> Estimate:
    for one in (send, receive):
        if one.parameter.value is None:
            symbol = one.parameter.symbol
            reason = f"o is the mean of o_s and o_r, and {symbol} is not identified."
            return unidentified("o", "s", reason, high=one.parameter.high)
    value = (send.parameter.value + receive.parameter.value) / 2.0
    return identified("o", "s", value, (send.draws + receive.draws) / 2.0)
