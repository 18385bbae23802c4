"""The parameter vectors that the data leave of one regime of a model of the LogP family.

What is not identified lies in a range (`chiplog.fitting.predictions.known`), and the ranges are bound to each other:

    L = L_half - o_s - o_r >= 0                      where round trips were measured: T(s) needs L_half only
    o_s, o_r, g <= what a message adds to a train    where trains were measured
    g <= 2 L_half                                    else: a rank of a ping-pong sends once a round trip
    G_half = G + O_s + O_r                           of loggops, but where its slopes are free; there, a send of a train
                                                     takes at most the train's step g + (s-1) G

A point of the set is named by its fractions: numbers in [0, 1], one for each parameter that is free, each of which says
how far between its least and its largest value, given those before it, the parameter lies.
`chiplog.fitting.predictions.span` gives the least and the largest answer over the set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.fitting.predictions.known import (
    Array,
    Bounds,
    bounds_of,
    values_of,
)
from chiplog.fitting.predictions.settings import REFUSED
from chiplog.fitting.result import FREE, RECEIVER, Curve, Fit
from chiplog.fitting.settings import REPLICATES, UNLIMITED
from chiplog.models.protocol import Model
from chiplog.models.registry import load_model

Vectors = dict[str, Array]
"""Parameter vectors by symbol, each of shape (vectors,)."""


def is_of_logp_family(model: Model) -> bool:
    """Are the model's parameters, all of them numbers, those of a `Regime`?"""
    tables = any(parameter.table is not None for parameter in model.parameters)
    return {"L", "o_s", "o_r", "g"} <= model.symbols and not tables


@dataclass
class Regime:
    """The parameter vectors of one segment of a model of the LogP family.

    They are L_half, G_half (a byte of a message alone), o_s, O_s, o_r, O_r, g and G, whatever the model leaves out.
    """

    fit: Fit
    segment: int
    free: list[str] = field(default_factory=list)
    """The parameters that fractions are for, in their order."""

    def __post_init__(self) -> None:
        segment = self.fit.segments[self.segment]
        self.first_bytes, self.last_bytes = segment.first_bytes, segment.last_bytes
        self._values: dict[str, Array] = {}
        self._bounds: dict[str, Bounds] = {}
        self._is_free = segment.form == FREE
        symbols = load_model(self.fit.model).symbols
        self._sizes_count, self._overheads_grow = "G" in symbols, {"O_s", "O_r"} <= symbols
        self._is_receiver_bound = segment.form == RECEIVER
        grows_or_bounds = self._overheads_grow or self._is_receiver_bound
        self.receiver_keeps_up = not grows_or_bounds or self._is_free
        """Does a train tell nothing of the receiver, so that its time in one is at most the train's step?"""
        for number, symbol in enumerate(self._symbols()):
            values = values_of(self.fit, self.segment, symbol, number)
            if values is not None:
                self._values[symbol] = values
            else:
                self._bounds[symbol] = bounds_of(self.fit, self.segment, symbol)
        self._follow()
        self._only = self._only_time()
        self._train_limit = _least(self.fit, segment.first_bytes, segment.last_bytes, "gap")
        self._byte_limit = _slope_limit(self.fit, segment.first_bytes, segment.last_bytes)
        self.free = self._order()
        centre = np.full((1, len(self.free)), 0.5)
        low = self.at(np.zeros_like(centre))
        for place, symbol in reversed(list(enumerate(self.free))):
            corner = centre.copy()
            corner[0, place] = 1.0
            if self.at(corner)[symbol][0] <= low[symbol][0]:
                self._values[symbol] = np.full(1 + REPLICATES, low[symbol][0])
                del self._bounds[symbol]
        self.free = self._order()

    def _symbols(self) -> list[str]:
        """What the regime is made of; those that stand for others only where they are there."""
        symbols = ["L_half", "L", "o_s", "o_r", "g"]
        if not self._sizes_count:
            return symbols
        symbols.append("G")
        given = self.fit.segments[self.segment].parameters
        if self._overheads_grow:
            symbols += ["O_s", "O_r", *(["G_half"] if "G_half" in given else [])]
        elif "O" in given and given["O"].value is not None:
            symbols.append("O")
        return symbols

    def _only_time(self) -> tuple[float, float] | None:
        """Bytes and seconds of the only half round trip, where L_half is unknown: L_half is what G leaves of it.

        So it is of a few bytes, too, whose time stands for L_half as long as nothing says what they cost.
        """
        free_bytes = "G" in self._bounds or "G_half" in self._bounds
        curve = curve_of(self.fit, "half_round_trip")
        if curve is None or not ("L_half" in self._bounds or free_bytes):
            return None
        inside = (curve.message_bytes >= self.first_bytes) & (
            curve.message_bytes <= self.last_bytes
        )
        if np.count_nonzero(inside) != 1:
            return None
        if "L_half" in self._bounds:
            known = self._bounds["L_half"]
        elif "L_half" in self._values:
            known = Bounds(0.0, float(self._values.pop("L_half")[0]))
        else:
            return None
        self._bounds["L_half"] = replace(known, follows=True)
        return float(curve.message_bytes[inside][0]), float(curve.measured_seconds[inside][0])

    def _order(self) -> list[str]:
        return [
            symbol
            for symbol in _ORDER
            if symbol in self._bounds and not self._bounds[symbol].follows
        ]

    def _follow(self) -> None:
        """Takes from the identity of L what it tells of the others, and drops what is then not needed."""
        known, bounds = self._values, self._bounds
        if "L_half" not in known and {"L", "o_s", "o_r"} <= known.keys():
            known["L_half"] = known["L"] + known["o_s"] + known["o_r"]
        if {"L", "L_half"} <= known.keys():
            for symbol, other in (("o_s", "o_r"), ("o_r", "o_s")):
                if symbol not in known and other in known:
                    rest = known["L_half"] - known["L"] - known[other]
                    known[symbol] = np.maximum(rest, 0.0)
                    del bounds[symbol]
            if "o_s" in bounds and "o_r" in bounds:
                bounds["o_r"] = replace(bounds["o_r"], follows=True)
        if "L_half" in known:
            bounds.pop("L_half", None)
            bounds.pop("L", None)
        elif "L_half" in bounds and bounds["L_half"].high is not None:
            bounds.pop("L", None)
        else:
            bounds.pop("L_half", None)
        if self._overheads_grow and "G_half" not in self._values:
            is_sum = not self._is_free and {"G", "O_s", "O_r"} <= known.keys()
            if not is_sum and "G_half" in bounds:
                return
            bounds.pop("G_half", None)
        if self._overheads_grow and "G_half" in known and not self._is_free:
            unknown = [name for name in _PARTS if name in bounds]
            if unknown:
                bounds[unknown[0]] = replace(bounds[unknown[0]], follows=True)

    def is_unlimited(self, symbol: str) -> bool:
        """Is there no upper bound, not even one that follows from others?"""
        ends = np.full((1, len(self.free)), 0.5)
        ends[0, self.free.index(symbol)] = 1.0
        return bool(self.at(ends)[symbol][0] >= REFUSED)

    def at(self, fractions: Array, *, whole: bool = False) -> Vectors:
        """The vectors at some points of the set, of fractions of shape (points, free); the fit's values alone.

        With `whole` there are 1 + REPLICATES of them a point, the fit's values first. Shape (points · rows,).
        """
        rows = slice(None) if whole else slice(0, 1)
        vectors: Vectors = {}

        def take(symbol: str, limit: Array | float = np.inf) -> Array:
            if symbol in self._values:
                return self._values[symbol][np.newaxis, rows]
            bounds = self._bounds[symbol]
            most = UNLIMITED if bounds.high is None else bounds.high
            high = np.maximum(np.minimum(most, limit), bounds.low)
            share = (
                fractions[:, self.free.index(symbol), np.newaxis] if symbol in self.free else 0.0
            )
            return np.asarray(bounds.low + share * (high - bounds.low))

        self._slopes(vectors, take)
        self._starts(vectors, take, rows)
        count = 1 + REPLICATES if whole else 1
        shape = (fractions.shape[0], count)
        return {
            name: np.broadcast_to(vector, shape).reshape(-1) for name, vector in vectors.items()
        }

    def middle(self) -> dict[str, float]:
        """The parameters in the middle of the set, as the model's formulas take them.

        L_half stands for L, and what a byte alone costs for its parts where they are not bound to be its sum. What has
        no upper bound is left out.
        """
        vectors = self.at(np.full((1, len(self.free)), 0.5))
        parameters = {
            name: float(vector[0]) for name, vector in vectors.items() if vector[0] < REFUSED / 2.0
        }
        parameters.pop("L", None)
        if self._sums_up:
            parameters.pop("G_half", None)
        if "O" in self._values:
            parameters["O"] = parameters["O_s"]
        if self._is_receiver_bound:
            parameters["o_r_train"] = parameters["o_r"]
        return parameters

    @property
    def _sums_up(self) -> bool:
        """Is what a byte of a message alone costs the sum of G, O_s and O_r?"""
        return not self._is_free and "G_half" not in self._bounds

    def _slopes(self, vectors: Vectors, take: _Take) -> None:
        """G, O_s, O_r and G_half; what a byte costs in all bounds its parts."""
        further = max(1, self.last_bytes - 1)
        if not self._sizes_count:
            vectors.update(dict.fromkeys(("G", "O_s", "O_r", "G_half"), np.zeros((1, 1))))
            return
        if not self._overheads_grow:
            vectors["G"] = vectors["G_half"] = take("G", self._byte_limit)
            vectors["O_s"] = take("O") if "O" in self._values else np.zeros((1, 1))
            vectors["O_r"] = np.zeros((1, 1))
            return
        if self._is_free:
            vectors["G_half"] = take("G_half", self._byte_limit)
            limit = 2.0 * (vectors["G_half"] + self._most_half() / further)
            for name in _PARTS:
                vectors[name] = take(name, limit)
            vectors["O_s"] = np.minimum(vectors["O_s"], vectors["G"])
            return
        is_known = "G_half" in self._values
        is_given = is_known or "G_half" in self._bounds
        rest = take("G_half", self._byte_limit) if is_given else np.asarray(self._byte_limit)
        if is_given:
            vectors["G_half"] = rest
        for name in _PARTS:
            if name in self._values:
                rest = np.maximum(rest - take(name), 0.0)
        for name in reversed(_PARTS):
            follows = is_known and name in self._bounds and self._bounds[name].follows
            vectors[name] = rest if follows else take(name, rest)
            if name not in self._values:
                rest = np.maximum(rest - vectors[name], 0.0)
        vectors.setdefault("G_half", vectors["G"] + vectors["O_s"] + vectors["O_r"])

    def _most_half(self) -> float:
        if "L_half" in self._values:
            return float(self._values["L_half"][0])
        bounds = self._bounds.get("L_half")
        return UNLIMITED if bounds is None or bounds.high is None else bounds.high

    def _left_of(self, size: float, seconds: float, vectors: Vectors) -> Array:
        """L_half, from the only half round trip and what its bytes cost."""
        return np.maximum(seconds - (size - 1.0) * vectors["G_half"], 0.0)

    def _starts(self, vectors: Vectors, take: _Take, rows: slice) -> None:
        """L_half, o_s, o_r and g under L >= 0 and what trains show."""
        trains = self._train_limit
        if "L_half" in self._values or "L_half" in self._bounds:
            half = take("L_half") if self._only is None else self._left_of(*self._only, vectors)
            L = self._values.get("L")
            rest = half if L is None else half - L[np.newaxis, rows]
            if "o_r" in self._values:
                vectors["o_r"] = take("o_r")
                vectors["o_s"] = take("o_s", np.minimum(rest - vectors["o_r"], trains))
            else:
                least = self._bounds["o_r"].low
                vectors["o_s"] = take("o_s", np.minimum(rest - least, trains))
                vectors["o_r"] = (
                    take("o_r", np.minimum(rest - vectors["o_s"], trains))
                    if L is None
                    else np.maximum(rest - vectors["o_s"], 0.0)
                )
        else:
            vectors["o_s"], vectors["o_r"] = take("o_s", trains), take("o_r", trains)
            half = take("L") + vectors["o_s"] + vectors["o_r"]
        vectors["L_half"] = half
        vectors["L"] = half - vectors["o_s"] - vectors["o_r"]
        vectors["g"] = take("g", np.minimum(2.0 * half, trains))
        if self._is_free:
            vectors["o_s"] = np.minimum(vectors["o_s"], vectors["g"])
            vectors["L"] = half - vectors["o_s"] - vectors["o_r"]


_Take = Callable[..., Array]
_PARTS = ("G", "O_r", "O_s")
"""Of G_half; the first that is not identified is what the others leave."""
_ORDER = ("L_half", "L", "G_half", "G", "O_s", "O_r", "o_s", "o_r", "g")


def curve_of(fit: Fit, quantity: str) -> Curve | None:
    """The fit's measured medians of a quantity over size."""
    return next((curve for curve in fit.curves if curve.quantity == quantity), None)


def _inside(fit: Fit, first: int, last: int, quantity: str) -> tuple[Array, Array]:
    """Sizes, and how long the quantity took there at most, in seconds."""
    curve = curve_of(fit, quantity)
    if curve is None:
        return np.empty(0), np.empty(0)
    most = np.fmax(curve.measured_seconds, curve.high_seconds)
    chosen = (curve.message_bytes >= first) & (curve.message_bytes <= last)
    chosen &= np.isfinite(most) & (most > 0)
    return curve.message_bytes[chosen].astype(np.float64), most[chosen]


def _least(fit: Fit, first: int, last: int, quantity: str) -> float:
    seconds = _inside(fit, first, last, quantity)[1]
    return float(seconds.min()) if seconds.size else np.inf


def _slope_limit(fit: Fit, first: int, last: int) -> float:
    """The most that a byte of a message alone may cost: it is no more than the whole message."""
    sizes, seconds = _inside(fit, first, last, "half_round_trip")
    later = sizes > 1
    return float((seconds[later] / (sizes[later] - 1)).min()) if later.any() else np.inf
