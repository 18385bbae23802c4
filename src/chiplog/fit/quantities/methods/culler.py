"""Culler/Iannello: a few sends, ping-pongs with a long delay, and floods.

    o_s(s): a few sends, divided by their number
    o_r(s) = [ping-pong with d > RTT] - d - o_s(s)
    g + (s-1)G: floods
    L = RTT/2 - o_r - o_s

The errors of o_s and o_r add up in L. Source: D. Culler, L. Liu, R. Martin, C. Yoshikawa, "Assessing fast network
interfaces", IEEE Micro 16 (1996); G. Iannello, M. Lauria, S. Mercolino, "LogP performance characterization of
Fast Messages atop Myrinet", PDP 1998.
"""

from __future__ import annotations

import numpy as np

from chiplog.fit.quantities.measured import MeasuredSeries
from chiplog.fit.quantities.methods.quantities import MethodQuantities, needed
from chiplog.fit.quantities.over_sizes import (
    delayed_ping_pong_overhead,
    direct_send_overhead,
    flood_gap,
    ping_pong,
    receive_overhead,
)
from chiplog.fit.quantities.quantity import Quantity


def difference(name: str, minuend: Quantity, subtrahend: Quantity) -> Quantity:
    """`minuend` less `subtrahend` at the sizes that both have."""
    sizes, left, right = np.intersect1d(
        minuend.message_bytes, subtrahend.message_bytes, return_indices=True
    )
    return Quantity(
        name,
        sizes,
        minuend.value[left] - subtrahend.value[right],
        np.hypot(minuend.sigma[left], subtrahend.sigma[right]),
        minuend.draws[left] - subtrahend.draws[right],
        minuend.series | subtrahend.series,
        np.minimum(minuend.samples[left], subtrahend.samples[right]),
        is_difference=True,
    )


def remote_overhead(measured: MeasuredSeries, o_s: Quantity) -> Quantity:
    """o_r(s) from ping-pongs with a delay above the round trip; where there are none, from delayed receives."""
    both = delayed_ping_pong_overhead(measured)
    return difference("o_r", both, o_s) if both.value.size else receive_overhead(measured)


def culler(measured: MeasuredSeries) -> MethodQuantities:
    """The quantities of LogGP from sends, delayed ping-pongs and floods."""
    half = ping_pong(measured)
    gap = flood_gap(measured)
    o_s = direct_send_overhead(measured, single=False)
    o_r = remote_overhead(measured, o_s)
    bounds = {"o_r": receive_overhead(measured, hidden=True)}
    used = needed(half, gap, o_s, o_r)
    return MethodQuantities("culler", half, gap, o_s, o_r, used, upper_bounds=bounds)
