"""The methods: which series each of them needs, and how it gets at the quantities of LogGP and pLogP."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.over_sizes import (
    delayed_ping_pong_overhead,
    delayed_send_overhead,
    direct_send_overhead,
    flood_gap,
    half_round_trip,
    knee_send_overhead,
    ping_pong,
    receive_overhead,
    train_gap,
)
from chiplog.fitting.quantities.quantity import Quantity

ONE_TO_MANY = "one-to-many"
"""RTT(p) and post times over p."""
EVERY_K = "k=all"
PAIR_METHODS = (EVERY_K, "k=1", "k=max")
"""Of k pairs: which numbers of pairs are fitted to."""


@dataclass(frozen=True)
class MethodQuantities:
    """The four quantities as one method measures them; a missing one has no sizes.

    `series` are the indices of all series that the method needed; `latency_reason` says why the method itself
    gives no L, None where it does.
    """

    method: str
    half_round_trip: Quantity
    gap: Quantity
    o_s: Quantity
    o_r: Quantity
    series: frozenset[int]
    latency_reason: str | None = None
    reports_round_trip: bool = False
    upper_bounds: Mapping[str, Quantity] = field(default_factory=dict)
    """By the overhead's name, at sizes where no delay was longer than the gap: what it does not exceed."""

    def without(self, sizes: Collection[int]) -> MethodQuantities:
        """The quantities at all sizes but these, in bytes."""
        return replace(
            self,
            half_round_trip=self.half_round_trip.without(sizes),
            gap=self.gap.without(sizes),
            o_s=self.o_s.without(sizes),
            o_r=self.o_r.without(sizes),
            upper_bounds={
                name: upper_bound.without(sizes) for name, upper_bound in self.upper_bounds.items()
            },
        )


def needed(*quantities: Quantity) -> frozenset[int]:
    """The series behind several quantities."""
    return frozenset().union(*(quantity.series for quantity in quantities))


def prtt(measured: MeasuredSeries) -> MethodQuantities:
    """The quantities of LogGP from PRTT trains and from receives of messages that wait.

    PRTT: trains of n messages with a busy delay d between them and one answer; nothing floods the network.

        o_s(s) = [PRTT(n,d,s) - PRTT(m,d,s)]/(n-m) - d,     d > g + (s-1)G, m < n
        g + (s-1)G = [PRTT(n,0,s) - PRTT(1,0,s)]/(n-1)      where that exceeds o_s(s)
        o_r(s): receives whose messages are there already, with the same delay between them
        L = PRTT(1,0,1)/2 - o_s(1) - o_r(1)

    Source: T. Hoefler, A. Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern interconnection
    networks", PMEO-PDS 2007.
    """
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
    """The quantities of LogGP from sends, delayed ping-pongs and floods.

    Culler/Iannello: a few sends, ping-pongs with a long delay, and floods.

        o_s(s): a few sends, divided by their number
        o_r(s) = [ping-pong with d > RTT] - d - o_s(s)
        g + (s-1)G: floods
        L = RTT/2 - o_r - o_s

    The errors of o_s and o_r add up in L. Source: D. Culler, L. Liu, R. Martin, C. Yoshikawa, "Assessing fast network
    interfaces", IEEE Micro 16 (1996); G. Iannello, M. Lauria, S. Mercolino, "LogP performance characterization of
    Fast Messages atop Myrinet", PDP 1998.
    """
    half = ping_pong(measured)
    gap = flood_gap(measured)
    o_s = direct_send_overhead(measured, single=False)
    o_r = remote_overhead(measured, o_s)
    bounds = {"o_r": receive_overhead(measured, hidden=True)}
    used = needed(half, gap, o_s, o_r)
    return MethodQuantities("culler", half, gap, o_s, o_r, used, upper_bounds=bounds)


def kielmann(measured: MeasuredSeries) -> MethodQuantities:
    """The tables of pLogP from sends, receives and floods.

    Kielmann et al.: single sends, copies on receive and floods, as tables over the size (pLogP).

        o_s(s): one send        o_r(s): one receive of a message that is there
        g(s): floods            L = RTT(0)/2 - g(0)

    Source: T. Kielmann, H. Bal, K. Verstoep, "Fast measurement of LogP parameters for message passing platforms",
    IPDPS workshops 2000, section 3.
    """
    half = ping_pong(measured)
    gap = flood_gap(measured)
    o_s = direct_send_overhead(measured, single=True)
    o_r = receive_overhead(measured, single=True)
    bounds = {"o_r": receive_overhead(measured, single=True, hidden=True)}
    used = needed(half, gap, o_s, o_r, *bounds.values())
    return MethodQuantities("kielmann", half, gap, o_s, o_r, used, upper_bounds=bounds)


NO_LATENCY = "Bell et al. measure the end-to-end latency EEL only, not L."


def bell(measured: MeasuredSeries) -> MethodQuantities:
    """The quantities of LogGP from a ladder of delays, delayed ping-pongs and floods.

    Bell et al.: the delay between sends is raised until the train takes longer; there, d + o_s = g + (s-1)G.

        d*(s)  = d - [PRTT(n,d,s) - PRTT(n,0,s)]/(n-1)      at the first delay d at which the train takes longer
        o_s(s) = g + (s-1)G - d*(s)
        o_r: as Culler         g: floods         L: not measured; EEL = RTT

    The gap that o_s is taken from is that of the same trains. Source: C. Bell et al., "An evaluation of current
    high-performance networks", IPDPS 2003, section 3.
    """
    half = ping_pong(measured)
    flooded = flood_gap(measured)
    gap = flooded if flooded.value.size else train_gap(measured)
    o_s = knee_send_overhead(measured)
    o_r = remote_overhead(measured, o_s)
    used = needed(half, gap, o_s, o_r)
    return MethodQuantities("bell", half, gap, o_s, o_r, used, NO_LATENCY, True)
