"""Bell et al.: the delay between sends is raised until the train takes longer; there, d + o_s = g + (s-1)G.

    d*(s)  = d - [PRTT(n,d,s) - PRTT(n,0,s)]/(n-1)      at the first delay d at which the train takes longer
    o_s(s) = g + (s-1)G - d*(s)
    o_r: as Culler         g: floods         L: not measured; EEL = RTT

The gap that o_s is taken from is that of the same trains. Source: C. Bell et al., "An evaluation of current
high-performance networks", IPDPS 2003, section 3.
"""

from __future__ import annotations

from chiplog.fit.quantities.measured import MeasuredSeries
from chiplog.fit.quantities.methods.culler import remote_overhead
from chiplog.fit.quantities.methods.quantities import MethodQuantities, needed
from chiplog.fit.quantities.over_sizes import flood_gap, knee_send_overhead, ping_pong, train_gap

NO_LATENCY = "Bell et al. measure the end-to-end latency EEL only, not L."


def bell(measured: MeasuredSeries) -> MethodQuantities:
    """The quantities of LogGP from a ladder of delays, delayed ping-pongs and floods."""
    half = ping_pong(measured)
    flooded = flood_gap(measured)
    gap = flooded if flooded.value.size else train_gap(measured)
    o_s = knee_send_overhead(measured)
    o_r = remote_overhead(measured, o_s)
    used = needed(half, gap, o_s, o_r)
    return MethodQuantities("bell", half, gap, o_s, o_r, used, NO_LATENCY, True)
