"""PRTT: trains of n messages with a busy delay d between them and one answer; nothing floods the network.

    o_s(s) = [PRTT(n,d,s) - PRTT(m,d,s)]/(n-m) - d,     d > g + (s-1)G, m < n
    g + (s-1)G = [PRTT(n,0,s) - PRTT(1,0,s)]/(n-1)      where that exceeds o_s(s)
    o_r(s): receives whose messages are there already, with the same delay between them
    L = PRTT(1,0,1)/2 - o_s(1) - o_r(1)

Source: T. Hoefler, A. Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern interconnection
networks", PMEO-PDS 2007.
"""

from __future__ import annotations

from chiplog.fit.quantities.measured import MeasuredSeries
from chiplog.fit.quantities.methods.quantities import MethodQuantities, needed
from chiplog.fit.quantities.over_sizes import (
    delayed_send_overhead,
    half_round_trip,
    receive_overhead,
    train_gap,
)


def prtt(measured: MeasuredSeries) -> MethodQuantities:
    """The quantities of LogGP from PRTT trains and from receives of messages that wait."""
    half = half_round_trip(measured)
    gap = train_gap(measured)
    o_s = delayed_send_overhead(measured)
    o_r = receive_overhead(measured)
    bounds = {
        "o_s": delayed_send_overhead(measured, hidden=True),
        "o_r": receive_overhead(measured, hidden=True),
    }
    used = needed(half, gap, o_s, o_r, *bounds.values())
    return MethodQuantities("prtt", half, gap, o_s, o_r, used, upper_bounds=bounds)
