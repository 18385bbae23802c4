"""The simulated network takes, to the nanosecond, what the formulas of LogGOPS say."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import simulated_runs

from chiplog.dataset.series import Dataset, Series
from chiplog.models.loggops import LOGGOPS
from chiplog.models.protocol import Theta, points
from chiplog.plan.request import SeriesRequest

ROUNDING = 0.51e-9
"""Records keep whole nanoseconds; virtual time sums whole picoseconds."""
SIZES = (0, 1, 2, 100, 1024, 8192, 8193, 65536, 65537, 1 << 20)
LONG_NS = 20_000_000
"""A delay that outlasts a round trip of the largest message."""
EVERY_PATTERN = (
    ("prtt", 1, 0),
    ("prtt", 2, 0),
    ("prtt", 10, 0),
    ("prtt", 10, 700),
    ("prtt", 10, "rtt"),
    ("ping_pong", 1, 0),
    ("ping_pong", 1, 3000),
    ("ping_pong", 1, LONG_NS),
    ("send_overhead", 1, 0),
    ("send_overhead", 7, 0),
    ("receive_overhead", 1, LONG_NS),
    ("receive_overhead", 5, LONG_NS),
    ("flood", 32, 0),
    ("late_receiver", 1, LONG_NS),
)
SYMBOLS = ("L", "o_s", "o_r", "g", "G", "O_s", "O_r")


def machine(*values: float) -> Theta:
    """Parameters in microseconds, then nanoseconds per byte."""
    units = (1e-6, 1e-6, 1e-6, 1e-6, 1e-9, 1e-9, 1e-9)
    rows = zip(SYMBOLS, values, units, strict=True)
    return {symbol: value * unit for symbol, value, unit in rows}


MACHINES = {
    "the wire is slowest": machine(5, 0.3, 0.5, 2, 0.5, 0.1, 0.2),
    "the sender is slowest": machine(2, 3, 1, 0, 0.05, 0.4, 0.3),
    "the receiver is slowest": machine(1, 0.2, 4, 1, 0.2, 0.1, 0.7),
    "the slowest changes with the size": machine(5, 1, 6, 2, 0.5, 0.8, 0.1),
}


def target(theta: Theta, *more: str) -> str:
    times = (f"{symbol}={value * 1e9:.12g}ns" for symbol, value in theta.items())
    return ",".join(("sim:" + ",".join(times), *more))


def measured(network: str, sizes: tuple[int, ...] = SIZES) -> Dataset:
    series = tuple(
        SeriesRequest(pattern, size, train, delay)
        for size in sizes
        for pattern, train, delay in EVERY_PATTERN
    )
    return next(simulated_runs(f"{network},S=1GiB", series, samples=3))


def predicted(one: Series, theta: Theta) -> float:
    asked = points(one.pattern, one.message_bytes, one.train, one.delay_seconds)
    return float(LOGGOPS.seconds(asked, theta)[0])


def expect(one: Series, theta: Theta, name: str = "") -> None:
    where = f"{one.pattern}({one.train}, {one.delay_seconds}) of {one.message_bytes} B {name}"
    taken = float(np.median(one.seconds))
    assert taken == pytest.approx(predicted(one, theta), abs=ROUNDING, rel=0.0), where


@pytest.mark.parametrize("name", MACHINES)
def test_every_pattern_takes_what_the_formula_says(name: str) -> None:
    for one in measured(target(MACHINES[name])).series:
        expect(one, MACHINES[name], name)


def test_a_protocol_change_changes_any_parameter() -> None:
    below = MACHINES["the wire is slowest"]
    above = {**below, "L": 9e-6, "g": 4e-6, "O_s": 0.3e-9, "O_r": 0.6e-9}
    network = target(below, "change=8KiB:L=9us:g=4us:O_s=0.3ns:O_r=0.6ns")
    for one in measured(network).series:
        if one.pattern != "flood":  # its empty answer is of the first protocol
            expect(one, above if one.message_bytes > 8192 else below)


def test_slopes_change_where_lines_meet() -> None:
    first = MACHINES["the wire is slowest"]
    met = 8191 * 0.2e-9
    second = {**first, "L": first["L"] + met, "g": first["g"] + met, "G": 0.3e-9}
    met = 65535 * 0.05e-9
    third = {**second, "o_s": first["o_s"] + met, "O_s": 0.05e-9}
    for one in measured(target(first, "slope=8KiB:G=0.3ns", "slope=64KiB:O_s=0.05ns")).series:
        size = one.message_bytes
        if one.pattern != "flood":
            expect(one, third if size > 65536 else second if size > 8192 else first)
        if size in (8192, 65536) and one.pattern != "flood":
            above = second if size == 8192 else third
            expect(one, above, "by the line above")
