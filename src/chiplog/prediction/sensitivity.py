"""How a schedule's time changes with the network's parameters, and how much worse they may become."""

from __future__ import annotations

from collections.abc import Callable

from chiplog.prediction.network_change import NetworkChange
from chiplog.simulation.sensitivity import SLOWER

PRECISION = 0.005
"""Given: a tolerance is searched until it is known so well; it is printed with two or three digits."""
STEPS = 16
"""Given: the search misses a time that is too long only between two of these steps."""
MOST_DOUBLINGS = 60
"""Given: of a change that still makes nothing slower: doubtless none does."""

GAINS = {
    "latency": NetworkChange(latency=0.9),
    "overhead": NetworkChange(overhead=0.9),
    "gap": NetworkChange(gap=0.9),
    "bandwidth": NetworkChange(byte_time=1.0 / 1.1),
    "computing": NetworkChange(computing=1.0 / 1.1),
}
"""Given: what is made better by 10 %: times are shorter, the bandwidth and the speed of computing are higher."""


def added_latency(amount: float) -> NetworkChange:
    """Each message takes `amount` seconds longer."""
    return NetworkChange(added_latency_seconds=amount)


def less_bandwidth(amount: float) -> NetworkChange:
    """Each byte takes 1 + `amount` times as long."""
    return NetworkChange(byte_time=1.0 + amount)


def tolerated(
    seconds: Callable[[NetworkChange], float],
    change: Callable[[float], NetworkChange],
    small: float,
) -> float | None:
    """The smallest amount of a change that makes the time longer by the share SLOWER; None where no amount does.

    `seconds` is the time with a change, `change` makes one of an amount, and `small` is an amount that changes little.
    What `small` adds tells where a straight line would reach the limit. Up to there the search takes equal steps,
    because the order of events may change and the time may rise for a short while; beyond it the steps double.
    """
    whole = seconds(change(0.0))
    limit = (1.0 + SLOWER) * whole
    added = seconds(change(small)) - whole
    end = small * SLOWER * whole / added if added > 0.0 else small
    amounts = [end * step / STEPS for step in range(1, STEPS + 1)]
    amounts += [end * 2.0**doubling for doubling in range(1, MOST_DOUBLINGS)]
    low = 0.0
    for high in amounts:
        if seconds(change(high)) > limit:
            return _crossing(lambda amount: seconds(change(amount)) > limit, low, high)
        low = high
    return None


def _crossing(is_beyond: Callable[[float], bool], low: float, high: float) -> float:
    """The least amount known to be beyond, between `low`, which is not, and `high`."""
    while high - low > PRECISION * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high
