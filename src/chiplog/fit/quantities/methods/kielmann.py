"""Kielmann et al.: single sends, copies on receive and floods, as tables over the size (pLogP).

    o_s(s): one send        o_r(s): one receive of a message that is there
    g(s): floods            L = RTT(0)/2 - g(0)

Source: T. Kielmann, H. Bal, K. Verstoep, "Fast measurement of LogP parameters for message passing platforms",
IPDPS workshops 2000, section 3.
"""

from __future__ import annotations

from chiplog.fit.quantities.measured import MeasuredSeries
from chiplog.fit.quantities.methods.quantities import MethodQuantities, needed
from chiplog.fit.quantities.over_sizes import (
    direct_send_overhead,
    flood_gap,
    ping_pong,
    receive_overhead,
)


def kielmann(measured: MeasuredSeries) -> MethodQuantities:
    """The tables of pLogP from sends, receives and floods."""
    half = ping_pong(measured)
    gap = flood_gap(measured)
    o_s = direct_send_overhead(measured, single=True)
    o_r = receive_overhead(measured, single=True)
    bounds = {"o_r": receive_overhead(measured, single=True, hidden=True)}
    used = needed(half, gap, o_s, o_r, *bounds.values())
    return MethodQuantities("kielmann", half, gap, o_s, o_r, used, upper_bounds=bounds)
