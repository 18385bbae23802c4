"""What the times of k pairs leave of a parameter that they don't tell.

Each part of a time is at most the whole: s0 and k g_N are at most T, and n/R_C, k n/R_N, (k-1) s_k and (k-1) n G_k at
most what the least s0 leaves of T (all of T for k n/R_N where it hides s0). T is the fitted time of a measured
(size, k), give or take twice what single points scatter about the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from chiplog.fitting.pairs.faces import Solution
from chiplog.fitting.pairs.settings import MARGIN
from chiplog.fitting.pairs.table import Floats, PairTable
from chiplog.fitting.result import Parameter
from chiplog.fitting.settings import SHORTEST_SECONDS, SMALLEST_PART
from chiplog.models.protocol import Model, points
from chiplog.statistics import TAILS

Bounds = tuple[float | None, float | None]
"""The least and the largest value; None is no bound on that side."""


@dataclass(frozen=True)
class BoundedTimes:
    """What bounds come from: sizes in bytes, pairs, and the longest time that each point leaves; shape (P,)."""

    message_bytes: Floats
    pairs: Floats
    longest_seconds: Floats
    room_seconds: Floats
    """What the least s0 leaves of each of them."""
    node_room_seconds: Floats
    """What is left for the node's rate: all, where it hides s0."""
    scatter: float
    """Relative standard deviation of the points about the fit."""
    draws: Mapping[str, Floats]

    def bounds(self, symbol: str) -> Bounds:
        """The bounds of a parameter in its unit."""
        n, k, seconds, room = (
            self.message_bytes, self.pairs, self.longest_seconds, self.room_seconds
        )  # fmt: skip
        if symbol == "R_Ci":
            return self._further_rate(), None
        if symbol == "R_N":
            return float(np.max(k * n / self.node_room_seconds)), None
        if symbol in ("R_C", "R_Cb"):
            alone = k == 1 if symbol == "R_Cb" else k > 0
            seen = float(np.max(n[alone] / room[alone], initial=0.0))
            low = float(np.quantile(self.draws[symbol], TAILS[0], method="lower"))
            return low if np.isfinite(low) else seen, None
        further = k > 1
        limits: Mapping[str, Callable[[], Floats]] = {
            "s0": lambda: seconds,
            "s_k": lambda: room[further] / (k[further] - 1.0),
            "G_k": lambda: (room / np.maximum(n, 1.0))[further] / (k[further] - 1.0),
            "g_N": lambda: seconds / k,
        }
        if symbol not in limits:
            return 0.0, None
        most = float(np.min(limits[symbol](), initial=np.inf))
        drawn = float(np.quantile(self.draws[symbol], TAILS[1]))
        high = min(drawn, most) if drawn > 0.0 else most
        return 0.0, high if np.isfinite(high) else None

    def _further_rate(self) -> float:
        """Two pairs or more reach R_N: so each further pair adds what the first one lacks, at least."""
        second = np.min(self.pairs[self.pairs > 1], initial=np.inf)
        with np.errstate(invalid="ignore"):  # a replicate may lack both rates
            lacking = self.draws["R_N"] - self.draws["R_Cb"]
        known = lacking[np.isfinite(lacking)]
        if known.size < (1.0 - TAILS[0]) * lacking.size:
            return 0.0
        return max(0.0, float(np.quantile(known, TAILS[0])) / float(second - 1.0))


def fitted_times(
    model: Model, table: PairTable, value: Solution, draws: Mapping[str, Floats]
) -> BoundedTimes:
    """What the fit `value` of `table`, with its bootstrap replicates `draws`, bounds parameters by."""
    finite = {symbol: number for symbol, number in value.items() if np.isfinite(number)}
    seconds = np.maximum(model.seconds(table.points, finite) / 2.0, SHORTEST_SECONDS)
    scatter = float(np.sqrt(np.mean(np.log(table.seconds / seconds) ** 2)))
    longest = seconds * np.exp(MARGIN * scatter)
    start_up = float(np.quantile(draws["s0"], TAILS[0]))
    room = np.maximum(longest - start_up, SMALLEST_PART * longest)
    return BoundedTimes(
        table.message_bytes.astype(np.float64),
        table.pairs.astype(np.float64),
        longest,
        room,
        room if _adds_start_up(model) else longest,
        scatter,
        draws,
    )


def _adds_start_up(model: Model) -> bool:
    """Does s0 come on top of the time that the node's rate takes?"""
    point = points("pairs", np.ones(1, dtype=np.int64))
    return bool(model.seconds(point, {"s0": 1.0, "R_N": 1.0})[0] > 2.0)


def saturation_bounds(parameters: Mapping[str, Parameter]) -> Bounds:
    """Bounds of k_sat from those of the rates; at least one pair saturates a node."""
    first = "R_Cb" if "R_Cb" in parameters else "R_C"
    node, alone = parameters["R_N"], parameters[first]
    if "G_k" in parameters:
        return 1.0, None
    if first == "R_C":
        return (
            max(1.0, _ratio(node.low, alone.high) or 1.0),
            _at_least_one(_ratio(node.high, alone.low)),
        )
    further = parameters["R_Ci"]
    least = _ratio(_less(node.low, alone.high), further.high)
    return 1.0 + max(0.0, least or 0.0), _one_more(_ratio(_less(node.high, alone.low), further.low))


def _ratio(over: float | None, under: float | None) -> float | None:
    return over / under if over is not None and under else None


def _less(one: float | None, other: float | None) -> float | None:
    return one - other if one is not None and other is not None else None


def _at_least_one(value: float | None) -> float | None:
    return None if value is None else max(1.0, value)


def _one_more(value: float | None) -> float | None:
    return None if value is None else 1.0 + max(0.0, value)
