"""The measured times that predictions follow: of a message alone, and of what one more adds to a train.

A regime's line goes through many sizes and misses some. Where a time was measured, predictions take it; between two
measured sizes with no protocol change between them, the straight line from one to the other. Beyond the measured sizes
the model decides, carried on from the nearest one: its line times what that size was off by.

Where a rank sends one message and receives another at once, a message takes what an exchange of that size took; beyond
the measured exchanges, as many times a message alone as in the nearest one. By as much longer its bytes keep the NIC,
at most twice as long: one engine for both directions. Where no exchange was measured, either case may be: messages that
cross others take what they take alone, or, if that is asked for, their bytes twice as long.

Where several ranks send to one, its NIC takes a message in what an incast of that size showed (`receiver_time`), from
the smallest size on that showed it; beyond the measured ones, as many times the line as at the nearest one.

What was not measured keeps its place in the set of parameter vectors, but must not contradict what was: whichever of
the CPUs and the NIC bounds a train in a vector takes the measured step. Where no trains were measured, all parts of a
message are as much shorter or longer than the line as the whole message is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.predictions.known import Array, drawn
from chiplog.fitting.predictions.regime import Regime, Vectors, curve_of
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.regimes.partition import EXCHANGE, GAP, HALF, PROTOCOL
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import REPLICATES
from chiplog.schedule.traffic import Traffic


@dataclass(frozen=True)
class _QuantityTable:
    """One quantity at its measured sizes: bytes, shape (sizes,), and seconds, shape (sizes, 1 + REPLICATES)."""

    sizes: NDArray[np.int64]
    seconds: Array
    has_interval: NDArray[np.bool_]
    """Of each size: is its own interval known? Else it has that of the line."""
    near: dict[int, list[int]] = field(default_factory=dict)
    """The places of the measured sizes about those that were asked for."""

    def stretch(self, first: float, end: float) -> range:
        """The places of the sizes from `first` on and below `end`."""
        low, high = np.searchsorted(self.sizes, (first, end))
        return range(int(low), int(high))


def _table(fit: Fit, quantity: str) -> _QuantityTable:
    """The medians that predictions follow; none of sizes that were measured in another state of the machine."""
    curve = curve_of(fit, quantity)
    if curve is None:
        return _QuantityTable(
            np.empty(0, np.int64), np.empty((0, 1 + REPLICATES)), np.empty(0, np.bool_)
        )
    usable = np.isfinite(curve.measured_seconds) & (curve.measured_seconds > 0)
    usable &= ~np.isin(curve.message_bytes, fit.other_state_bytes)
    order = np.flatnonzero(usable)
    order = order[np.argsort(curve.message_bytes[order], kind="stable")]
    kind = (HALF, GAP, EXCHANGE, INCAST).index(quantity)
    sizes, value = curve.message_bytes[order], curve.measured_seconds[order]
    low, high = curve.low_seconds[order], curve.high_seconds[order]
    has_interval = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(has_interval, low, value), np.where(has_interval, high, value)
    rows = [
        [middle, *drawn(middle, least, most, np.random.default_rng([int(size), kind]))]
        for size, middle, least, most in zip(sizes, value, low, high, strict=True)
    ]
    return _QuantityTable(sizes, np.array(rows).reshape(-1, 1 + REPLICATES), has_interval)


class MeasuredTimes:
    """What was measured of the messages of a fit of the LogP family; empty where the fit holds no curves."""

    def __init__(self, fit: Fit, *, one_engine: bool = False) -> None:
        """With `one_engine`, bytes of messages that cross take twice as long, unless exchanges were measured."""
        self._half, self._step = _table(fit, HALF), _table(fit, GAP)
        self._exchange, self._incast = _table(fit, EXCHANGE), _table(fit, INCAST)
        self._one_engine = one_engine and not self._exchange.sizes.size
        self._protocols = [
            segment.first_bytes for segment in fit.segments if segment.border == PROTOCOL
        ]

    def __bool__(self) -> bool:
        """Whether any time was measured."""
        return bool(self._half.sizes.size or self._step.sizes.size)

    @property
    def tells_exchanges(self) -> bool:
        """Whether messages that cross others take another time than alone: exchanges were measured, or one engine is
        asked for.
        """
        return self._one_engine or bool(self._exchange.sizes.size)

    @property
    def tells_receivers(self) -> bool:
        """Whether the time of a receiver is known by an incast."""
        return bool(self._incast.sizes.size)

    def at(
        self,
        regime: Regime,
        vectors: Vectors,
        message_bytes: int,
        *,
        whole: bool,
        traffic: Traffic = Traffic.ALONE,
    ) -> Vectors:
        """The parameter vectors of `regime` as they hold at one size; where times were measured, L_half is T(s).

        `vectors` are those of `Regime.at`; with `whole`, each point has 1 + REPLICATES of them. Of messages that cross
        others L_half is E(s).
        """
        times = self._alone(regime, vectors, message_bytes, whole=whole)
        rows = slice(None) if whole else slice(0, 1)
        if traffic in (Traffic.EXCHANGE, Traffic.BURST) and self.tells_exchanges:
            is_one = traffic is Traffic.EXCHANGE
            times = self._both_ways(times, message_bytes, rows, is_one=is_one)
        if traffic not in (Traffic.BURST, Traffic.INCAST) or not self.tells_receivers:
            return times
        lines = [(start, slope) for _, start, slope in _PARTS[1:]]
        receive = self._received(message_bytes, rows, vectors, lines)
        if receive is None:
            return times
        return _taken_in(times, message_bytes, receive, sends=traffic is Traffic.BURST)

    def _received(
        self, message_bytes: int, rows: slice, vectors: Vectors, lines: Sequence[tuple[str, str]]
    ) -> Array | None:
        """How long a receiver takes for a message while others wait; None below the sizes that showed it."""
        if message_bytes < self._incast.sizes[0]:
            return None
        return self._follow(self._incast, message_bytes, rows, vectors, lines)

    def _both_ways(
        self, alone: Vectors, message_bytes: int, rows: slice, *, is_one: bool
    ) -> Vectors:
        """Vectors of messages that cross others: `alone` are those of one size, as they are without.

        A rank that sends one message a step has sent and received within E(s), whatever trains take.
        """
        further = float(max(message_bytes, 1) - 1)
        way = alone["L_half"] + further * alone["G_half"]
        wire = further * alone["G"]
        exchange = way + wire
        if not self._one_engine:
            exchange = self._exchange_at(message_bytes, way, rows)
        wire = wire + np.clip(exchange - way, 0.0, wire)
        both = {**alone, "L_half": exchange, "G": wire / max(further, 1.0)}
        both["G_half"] = np.zeros_like(exchange)
        if is_one:
            nic = np.minimum(alone["g"] + wire, exchange)
            wire = np.minimum(wire, nic)
            busy = np.minimum(_ratio(exchange, alone["o_s"] + alone["o_r"]), 1.0)
            both |= {"g": nic - wire, "G": wire / max(further, 1.0)}
            both |= {name: busy * alone[name] for name in ("o_s", "o_r")}
        return both

    def _exchange_at(self, message_bytes: int, way: Array, rows: slice) -> Array:
        """E(s) of each vector, where a message alone takes `way`: measured, or as many times `way` as nearby."""
        table = self._exchange
        near = self._near(table, message_bytes)
        if len(near) == 2 or (near and table.sizes[near[0]] == message_bytes):
            return _between(table, near, message_bytes, rows, way)
        nearest = int(np.argmin(np.abs(np.log((table.sizes + 1.0) / (message_bytes + 1.0)))))
        size = int(table.sizes[nearest])
        beside = self._near(self._half, size)
        if not beside:
            return way
        alone = _between(self._half, beside, size, rows, way)
        return way * _ratio(_between(table, [nearest], size, rows, way), alone)

    def _alone(
        self, regime: Regime, vectors: Vectors, message_bytes: int, *, whole: bool
    ) -> Vectors:
        """The parameter vectors at one size of messages that cross no other."""
        if not self:
            return vectors
        further = float(max(message_bytes, 1) - 1)
        line = _longest(vectors, [("L_half", "G_half")], message_bytes)
        rows = slice(None) if whole else slice(0, 1)
        way = self._follow(self._half, message_bytes, rows, vectors, [("L_half", "G_half")])
        parts = {name: vectors[start] + further * vectors[slope] for name, start, slope in _PARTS}
        wire = further * vectors["G"]
        bounding = _PARTS[:2] if regime.receiver_keeps_up else _PARTS
        step = self._train_step(regime, vectors, message_bytes, rows, bounding)
        if step is not None:
            parts |= _bounded({name: parts[name] for name, _, _ in bounding}, step)
        elif way is not None:
            share = np.divide(way, line, out=np.ones_like(line), where=line > 0)
            parts = {name: share * part for name, part in parts.items()}
            wire = share * wire
        wire = np.minimum(wire, parts["nic"])
        return {
            "L_half": line if way is None else way,
            "G_half": np.zeros_like(line),
            "o_s": parts["send"],
            "O_s": np.zeros_like(line),
            "o_r": parts["receive"],
            "O_r": np.zeros_like(line),
            "g": parts["nic"] - wire,
            "G": wire / max(further, 1.0),
        }

    def _train_step(
        self,
        regime: Regime,
        vectors: Vectors,
        message_bytes: int,
        rows: slice,
        bounding: tuple[tuple[str, str, str], ...],
    ) -> Array | None:
        """What one more message adds to a train; None beyond the trains of a regime without any."""
        near = self._step.sizes[self._near(self._step, message_bytes)]
        inside = (near >= regime.first_bytes) & (near <= regime.last_bytes)
        if near.size == 0 or (near.size == 1 and near[0] != message_bytes and not inside[0]):
            return None
        lines = [(start, slope) for _, start, slope in bounding]
        return self._follow(self._step, message_bytes, rows, vectors, lines)

    def _near(self, table: _QuantityTable, message_bytes: int) -> list[int]:
        """The places of the measured sizes about a size, in its protocol: two, or the only or nearest one."""
        if message_bytes not in table.near:
            table.near[message_bytes] = self._places(table, message_bytes)
        return table.near[message_bytes]

    def _places(self, table: _QuantityTable, message_bytes: int) -> list[int]:
        first = max(
            (protocol for protocol in self._protocols if protocol <= message_bytes), default=0
        )
        end = min(
            (protocol for protocol in self._protocols if protocol > message_bytes), default=np.inf
        )
        places = table.stretch(first, end)
        if not places:
            return []
        place = int(np.searchsorted(table.sizes, message_bytes))
        if place in places and table.sizes[place] == message_bytes:
            return [place]
        return [neighbour for neighbour in (place - 1, place) if neighbour in places]

    def _follow(
        self,
        table: _QuantityTable,
        message_bytes: int,
        rows: slice,
        vectors: Vectors,
        lines: Sequence[tuple[str, str]],
    ) -> Array | None:
        """The measured time at a size, of each vector; None where nothing was measured in its protocol.

        The model's own time is the largest of `lines`, start and slope.
        """
        near = self._near(table, message_bytes)
        if not near:
            return None
        line = _longest(vectors, lines, message_bytes)
        times = _between(table, near, message_bytes, rows, line)
        if len(near) == 2 or table.sizes[near[0]] == message_bytes:
            return times
        return np.asarray(
            times * _ratio(line, _longest(vectors, lines, float(table.sizes[near[0]])))
        )


def _taken_in(times: Vectors, message_bytes: int, receive: Array, *, sends: bool) -> Vectors:
    """The vectors of a message that its receiver takes in `receive`; a rank that `sends`, too, has one NIC for both."""
    further = float(max(message_bytes, 1) - 1)
    wire = further * times["G"]
    nic = np.maximum(receive, times["g"] + wire) if sends else receive
    wire = np.minimum(wire, nic)
    busy = np.minimum(times["o_r"] + further * times["O_r"], nic)
    return {
        **times,
        "g": nic - wire,
        "G": wire / max(further, 1.0),
        "o_r": busy,
        "O_r": np.zeros_like(busy),
    }


def _between(
    table: _QuantityTable, near: Sequence[int], message_bytes: int, rows: slice, line: Array
) -> Array:
    """The straight line between two measured sizes, or the only one's time, for each vector of the model's `line`.

    What has no interval of its own varies as that line does.
    """
    sizes = table.sizes[list(near)].astype(np.float64)
    share = (message_bytes - sizes[0]) / (sizes[1] - sizes[0]) if len(near) == 2 else 0.0
    seconds = (np.array([1.0 - share, share][: len(near)]) @ table.seconds[list(near)])[rows]
    points = line.reshape(-1, seconds.size)
    times = np.broadcast_to(seconds, points.shape)
    if not table.has_interval[list(near)].all():
        times = times * _ratio(points, points[:, :1])
    return np.asarray(times.reshape(-1))


_PARTS = (("send", "o_s", "O_s"), ("nic", "g", "G"), ("receive", "o_r", "O_r"))


def _longest(vectors: Vectors, lines: Sequence[tuple[str, str]], message_bytes: float) -> Array:
    """The largest of some lines at a size."""
    further = max(message_bytes - 1.0, 0.0)
    return np.asarray(
        np.maximum.reduce([vectors[start] + further * vectors[slope] for start, slope in lines])
    )


def _ratio(array: Array, other: Array) -> Array:
    """The quotient; 1 where the divisor is 0."""
    shape = np.broadcast_shapes(array.shape, other.shape)
    return np.divide(array, other, out=np.ones(shape), where=np.broadcast_to(other > 0, shape))


def _bounded(parts: Vectors, step: Array) -> Vectors:
    """The parts of which the longest takes `step`; a shorter step shortens all alike, so that their order stays."""
    longest = np.maximum.reduce(list(parts.values()))
    shorter = np.minimum(_ratio(step, longest), 1.0)
    return {name: np.where(part >= longest, step, part * shorter) for name, part in parts.items()}
