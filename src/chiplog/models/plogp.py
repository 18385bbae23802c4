"""pLogP: LogP whose overheads and gap are tables over the message size.

    T(s) = L + g(s)        RTT(s) = 2 (L + g(s))        L = RTT(0)/2 - g(0)        g(s) >= o_s(s), o_r(s)

A table's entry for size s is named as in the paper, `g(1024)`; between two entries the time is linear in s, above
the last one the last slope goes on.

Source: T. Kielmann, H. Bal, K. Verstoep, "Fast measurement of LogP parameters for message passing platforms",
IPDPS workshops 2000, section 2.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.errors import UsageError
from chiplog.models.colours import ORANGE
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta

Seconds = NDArray[np.float64]
_ENTRY = re.compile(r"(g|o_s|o_r)\(([0-9]{1,18})\)")


def table(theta: Theta, symbol: str) -> tuple[NDArray[np.float64], Seconds]:
    """Sizes in bytes (ascending) and seconds of one table in `theta`, both of shape (entries,)."""
    entries = sorted(
        (int(match[2]), value)
        for name, value in theta.items()
        if (match := _ENTRY.fullmatch(name)) and match[1] == symbol
    )
    if not entries:
        raise UsageError(
            f"pLogP needs a table of {symbol}(s); there is no entry such as {symbol}(1)."
        )
    rows = np.array(entries, dtype=np.float64)
    return rows[:, 0], rows[:, 1]


def look_up(theta: Theta, symbol: str, message_bytes: ArrayLike) -> Seconds:
    """The table's value at `message_bytes` in seconds, linear between and beyond its entries."""
    sizes, seconds = table(theta, symbol)
    wanted = np.asarray(message_bytes, dtype=np.float64)
    inside: Seconds = np.asarray(np.interp(wanted, sizes, seconds))
    if sizes.size < 2:
        return inside
    slope = max(0.0, float((seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])))
    return np.asarray(inside + slope * np.maximum(wanted - sizes[-1], 0.0))


def _one_way(message_bytes: ArrayLike, theta: Theta) -> Seconds:
    return np.asarray(theta["L"] + look_up(theta, "g", message_bytes))


def _prtt(points: Points, theta: Theta) -> Seconds:
    gap = look_up(theta, "g", points.message_bytes)
    step = gap
    if np.any(points.delay_seconds > 0):
        busy = points.delay_seconds + look_up(theta, "o_s", points.message_bytes)
        step = np.where(points.delay_seconds > 0, np.maximum(gap, busy), gap)
    return 2.0 * (theta["L"] + gap) + (points.train - 1) * step


def _ping_pong(points: Points, theta: Theta) -> Seconds:
    round_trip = 2.0 * _one_way(points.message_bytes, theta)
    if not np.any(points.delay_seconds > 0):
        return round_trip
    overheads = look_up(theta, "o_s", points.message_bytes) + look_up(
        theta, "o_r", points.message_bytes
    )
    return np.maximum(round_trip, points.delay_seconds + overheads)


def _send_overhead(points: Points, theta: Theta) -> Seconds:
    return points.train * look_up(theta, "o_s", points.message_bytes)


def _receive_overhead(points: Points, theta: Theta) -> Seconds:
    overhead = look_up(theta, "o_r", points.message_bytes)
    return points.train * overhead + (points.train - 1) * points.delay_seconds


def _flood(points: Points, theta: Theta) -> Seconds:
    gap = look_up(theta, "g", points.message_bytes)
    return points.train * gap + theta["L"] + _one_way(0, theta)


PLOGP = Model(
    name="plogp",
    label="pLogP",
    source="Kielmann et al. 2000, section 2",
    parameters=(
        ParameterSpec("L", "s", 0.0, np.inf, "end-to-end latency of an empty message less g(0)"),
        ParameterSpec("o_s", "s", 0.0, np.inf, "table: send overhead by size", table="o_s"),
        ParameterSpec("o_r", "s", 0.0, np.inf, "table: receive overhead by size", table="o_r"),
        ParameterSpec("g", "s", 0.0, np.inf, "table: gap by size", table="gap"),
    ),
    formulas={
        "ping_pong": _ping_pong,
        "prtt": _prtt,
        "send_overhead": _send_overhead,
        "receive_overhead": _receive_overhead,
        "flood": _flood,
    },
    estimators={"kielmann": "chiplog.fitting.estimates.plogp:plogp"},
    colour=ORANGE.dashed("4 3"),
    headline=60,
)
