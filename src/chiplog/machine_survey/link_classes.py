"""Parameters of each class of link, by what one small and one large message tell of them.

A survey measures one size for latency and one for bandwidth, with one pair to a node at a time. By LogGP half a round
trip of one byte is `L_half = L + o_s + o_r`, and a window of n messages of m bytes with its empty answer takes
`2 L_half + n (m - 1) G + (n - 1) g`. A ping-pong sends one message each round trip, so `0 <= g <= 2 L_half`. That
identifies L_half, and G where n is 1; else it bounds G. By the max-rate model a pair alone has the rate
`R = min(R_C, R_N) = 1 / G`. What else the models know, L, o_s, o_r, g, R_C and R_N, is not identified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.settings import SETTINGS
from chiplog.statistics import TAILS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chiplog.machine_survey.leaves import Unit
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, Kind
    from chiplog.machine_survey.slowness_model import PairFit

ALL = "all nodes"
NOT_IDENTIFIED = {
    "L": "one size and no overheads: only L + o_s + o_r shows",
    "o_s": "one size and no overheads: only L + o_s + o_r shows",
    "o_r": "one size and no overheads: only L + o_s + o_r shows",
    "g": "no trains of small messages were measured",
    "R_C": "each node has one pair at a time: only the smaller of R_C and R_N shows",
    "R_N": "each node has one pair at a time: only the smaller of R_C and R_N shows",
}
REMEDY = "chiplog measure, between two nodes of the class, tells them apart"


@dataclass(frozen=True, slots=True)
class LinkParameter:
    """A parameter in seconds, seconds a byte or bytes a second; None where it, or a bound of it, is not identified."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None
    """Why there is no value."""


@dataclass(frozen=True, slots=True)
class LinkClass:
    """A class of links: its name, how many pairs of it were measured, and its parameters by symbol."""

    name: str
    pairs: int
    parameters: Mapping[str, LinkParameter]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What was sent: bytes of a latency's message, of a bandwidth's, and how many of the latter are in a window."""

    latency_bytes: int
    bandwidth_bytes: int
    window: int


def class_names(fit: PairFit, unit: Unit = "leaf") -> dict[int, str]:
    """Returns the name of each class of pairs in a fit, by its number.

    A machine whose nodes are all in one leaf has one class.
    """
    present = np.unique(fit.classes).tolist()
    if fit.leaf_count < 2:
        return dict.fromkeys(present, ALL)
    names = f"within a {unit}", f"between {'leaves' if unit == 'leaf' else unit + 's'}"
    return {number: names[number] for number in present}


def link_classes(
    fits: Mapping[Kind, PairFit], sizes: Sizes, unit: Unit = "leaf"
) -> tuple[LinkClass, ...]:
    """Returns the classes of a sweep: medians over the pairs of each, with 95 % intervals by resampling its nodes."""
    medians: dict[tuple[int, str], dict[Kind, _Median]] = {}
    for kind, fit in fits.items():
        for number_and_name in class_names(fit, unit).items():
            medians.setdefault(number_and_name, {})[kind] = _median(
                fit, fit.classes == number_and_name[0]
            )
    return tuple(
        LinkClass(name, max(median.pairs for median in known.values()), _parameters(known, sizes))
        for (_, name), known in sorted(medians.items())
    )


@dataclass(frozen=True, slots=True)
class _Median:
    pairs: int
    value: float
    low: float
    """NaN where there is no interval."""
    high: float


def _parameters(known: Mapping[Kind, _Median], sizes: Sizes) -> dict[str, LinkParameter]:
    half = _half_round_trip(known.get("latency"), sizes)
    slope = _slope(known.get("bandwidth"), half, sizes)
    unknown = {name: LinkParameter(None, None, None, why) for name, why in NOT_IDENTIFIED.items()}
    return {"L_half": half, "G": slope, "R": _inverse(slope), **unknown}


def _half_round_trip(latency: _Median | None, sizes: Sizes) -> LinkParameter:
    if latency is None:
        return LinkParameter(None, None, None, "no latency was measured")
    if sizes.latency_bytes > 1:
        return LinkParameter(
            None, None, latency.value, f"latency was measured with {sizes.latency_bytes} bytes"
        )
    return LinkParameter(latency.value, *_ends(latency))


def _slope(bandwidth: _Median | None, half: LinkParameter, sizes: Sizes) -> LinkParameter:
    """Returns G: of a window of one message as a value, of a longer one as bounds."""
    message = sizes.bandwidth_bytes
    if bandwidth is None or message < 2:
        return LinkParameter(None, None, None, "no bandwidth was measured")
    slowest, quickest = (
        message / rate for rate in (_or(bandwidth.low, bandwidth), _or(bandwidth.high, bandwidth))
    )
    longest = half.high if half.high is not None else half.value
    shortest = half.low if half.low is not None else (half.value or 0.0)
    upper = _positive((slowest - 2 * shortest / sizes.window) / (message - 1))
    lower = None if longest is None else _positive((quickest - 2 * longest) / (message - 1))
    if half.value is None or sizes.window > 1:
        return LinkParameter(None, lower, upper, "g is not known: bounds by 0 <= g <= 2 L_half")
    value = (message / bandwidth.value - 2 * half.value) / (message - 1)
    if value <= 0:
        return LinkParameter(None, None, upper, "the large message is as quick as two small ones")
    has_interval = math.isfinite(bandwidth.low) and half.low is not None
    return LinkParameter(value, lower if has_interval else None, upper if has_interval else None)


def _positive(bound: float) -> float | None:
    """The bound of a time of a byte; None where it is not above 0, as where latencies were disturbed most."""
    return bound if bound > 0 else None


def _inverse(slope: LinkParameter) -> LinkParameter:
    value, low, high = (
        None if slope_value is None or slope_value <= 0 else 1.0 / slope_value
        for slope_value in (slope.value, slope.high, slope.low)
    )
    return LinkParameter(value, low, high, slope.reason)


def _or(end: float, median: _Median) -> float:
    return end if math.isfinite(end) else median.value


def _ends(median: _Median) -> tuple[float | None, float | None]:
    if not math.isfinite(median.low):
        return None, None
    return median.low, median.high


def _median(fit: PairFit, is_in_class: FloatArray | IntArray) -> _Median:
    """Returns the median figure of a class's pairs; nodes are resampled, since a node's pairs share what is its own."""
    pairs = fit.usable[is_in_class]
    order = np.argsort(fit.values.values[pairs], kind="stable")
    values = fit.values.values[pairs][order]
    clients, servers = fit.values.clients[pairs][order], fit.values.servers[pairs][order]
    middle = float(np.median(values))
    nodes = np.unique(np.concatenate([clients, servers]))
    if nodes.size < SETTINGS.least_class_nodes:
        return _Median(values.size, middle, math.nan, math.nan)
    generator = np.random.default_rng(1)
    count = len(fit.values.nodes)
    medians = []
    for _ in range(SETTINGS.resamples):
        times = np.bincount(generator.choice(nodes, nodes.size), minlength=count)
        weights = np.cumsum(times[clients] * times[servers])
        if weights[-1]:
            medians.append(values[np.searchsorted(weights, weights[-1] / 2)])
    low, high = np.quantile(medians, TAILS)
    return _Median(values.size, middle, float(low), float(high))
