"""How a schedule's time changes with the network's parameters, and how much worse they may become."""

from __future__ import annotations

from collections.abc import Callable

from chiplog.prediction.network_change import NetworkChange
from chiplog.simulation.sensitivity import SLOWER

BETTER = 1.1
"""Given: each parameter is made better by a tenth, as people ask."""
PRECISION = 0.005
"""Given: a tolerance is searched until it is known so well; it is printed with two or three digits."""
STEPS = 16
"""Given: a time that is too long only between two of these steps is not found."""
MOST_DOUBLINGS = 60
"""Of a change that still makes nothing slower. Given: doubtless none."""

GAINS = {
    "latency": NetworkChange(latency=1.0 / BETTER),
    "overhead": NetworkChange(overhead=1.0 / BETTER),
    "gap": NetworkChange(gap=1.0 / BETTER),
    "bandwidth": NetworkChange(byte_time=1.0 / BETTER),
    "computing": NetworkChange(computing=1.0 / BETTER),
}
"""What is made better: divided by BETTER, the bandwidth times BETTER."""


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
    """The amount of a change from which on the time is longer by SLOWER; None where there is none.

    A path through the schedule that takes longer with each amount crosses the limit where its line does, from what a
    `small` amount adds. The time needn't grow everywhere, as the order of events changes: the first crossing up to
    there is looked for in equal steps, and only beyond in steps that double.
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
