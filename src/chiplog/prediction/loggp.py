"""Predictions of the LogP family: loggops, loggps, loggp and logp.

    T(s)     = L_half + (s-1) G_half        send and receive keep their CPUs for o_s + (s-1) O_s and o_r + (s-1) O_r
    gap(s)   = g + (s-1) G                  between two messages of a NIC

A message is at its receiver T(s) less the receive's time after its send began, and as a whole: two messages from
anywhere are at least the later one's gap apart. Where trains tell nothing of the
receiver, a receive takes at most what a message adds to a train: more would show there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.bcast.logp_optimal import tree_costs
from chiplog.collectives.costs import ANY_SIZE, Message, Seconds
from chiplog.fitting.predictions.known import Array, refusal
from chiplog.fitting.predictions.measured_times import MeasuredTimes
from chiplog.fitting.predictions.regime import Regime, Vectors
from chiplog.fitting.predictions.settings import REFUSED
from chiplog.fitting.predictions.span import Evaluate
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import REPLICATES
from chiplog.prediction.bounds import lower_bounds
from chiplog.prediction.network import Asked, Space, beyond_all, beyond_sizes, segment_of
from chiplog.prediction.sent_sizes import sizes_asked_for, sizes_sent
from chiplog.schedule.traffic import Traffic

SHAPED_BY_COSTS = ("logp-optimal",)
"""Algorithms that the costs of a message shape."""
MOST_KEPT = 64
"""Given: networks that are kept: of the points that every search begins with, and a few more."""


def message_of(vectors: Vectors, message_bytes: int, *, receiver_keeps_up: bool) -> Message:
    """The costs of a message under parameter vectors as of `Regime`; one of 0 bytes counts as one of 1."""
    further = max(message_bytes, 1) - 1
    one_way = vectors["L_half"] + further * vectors["G_half"]
    send = vectors["o_s"] + further * vectors["O_s"]
    gap = vectors["g"] + further * vectors["G"]
    receive = vectors["o_r"] + further * vectors["O_r"]
    if receiver_keeps_up:
        receive = np.minimum(receive, np.maximum(send, gap))
    receive = np.minimum(receive, one_way)
    way = one_way - receive
    lead = np.minimum(further * vectors["G"], way)
    return Message(send_busy=send, gap=gap, way=way, receive_busy=receive, lead=lead)


@dataclass(frozen=True)
class RegimeNetwork:
    """The costs of messages, by regime, for parameter vectors of one length."""

    fit: Fit
    regimes: Sequence[Regime]
    times: MeasuredTimes
    vectors: Mapping[int, Vectors]
    whole: bool
    """Has each point 1 + REPLICATES vectors?"""
    known: dict[tuple[int, int, Traffic], Message] = field(default_factory=dict)

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """The costs under the regime of that size."""
        if message_bytes == ANY_SIZE:
            segment = min(self.vectors)
            return self._message(segment, self.regimes[segment].first_bytes, traffic)
        return self._message(segment_of(self.fit, message_bytes), message_bytes, traffic)

    def fastest(self, message_bytes: int) -> Message:
        """The least of each cost over all regimes, measured or by their lines; of larger messages, what the smallest
        costs.
        """
        least = []
        for segment, vectors in self.vectors.items():
            regime = self.regimes[segment]
            size = max(message_bytes, regime.first_bytes)
            keeps_up = regime.receiver_keeps_up
            least += [
                self._message(segment, size, Traffic.ALONE),
                message_of(vectors, size, receiver_keeps_up=keeps_up),
            ]
        return reduce(_least, least)

    def _message(self, segment: int, message_bytes: int, traffic: Traffic) -> Message:
        key = (segment, message_bytes, traffic)
        if key not in self.known:
            self.known[key] = message_of(
                self.at(segment, message_bytes, traffic),
                message_bytes,
                receiver_keeps_up=self.regimes[segment].receiver_keeps_up,
            )
        return self.known[key]

    def at(self, segment: int, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Vectors:
        """The parameter vectors as they hold at one size of a regime: measured times where there are some."""
        regime, vectors = self.regimes[segment], self.vectors[segment]
        return self.times.at(regime, vectors, message_bytes, whole=self.whole, traffic=traffic)


def _least(message: Message, other: Message) -> Message:
    receive = np.minimum(message.receive_busy, other.receive_busy)
    return Message(
        np.minimum(message.send_busy, other.send_busy),
        np.minimum(message.gap, other.gap),
        np.minimum(message.one_way, other.one_way) - receive,
        receive,
        np.minimum(message.lead, other.lead),
    )


class LogGPSpeaker:
    """Predicts every algorithm."""

    knows_nodes: ClassVar[bool] = False

    def __init__(
        self, fit: Fit, task: Task | None = None, per_node: int = 1, *, one_engine: bool = False
    ) -> None:
        """With `one_engine`, bytes that cross others take twice as long, unless exchanges were measured."""
        del task, per_node
        self.fit = fit
        self._networks: dict[tuple[tuple[int, ...], bytes, bool], RegimeNetwork] = {}
        self._sizes: dict[tuple[str, str, Task], set[int]] = {}
        self._spaces: dict[tuple[int, ...], Space] = {}
        self.regimes = tuple(Regime(fit, segment) for segment in range(len(fit.segments)))
        self._times = MeasuredTimes(fit, one_engine=one_engine)
        limited = [regime for regime in self.regimes if not latency_is_unlimited(regime)]
        if not limited:
            raise refusal(fit, 0, "L" if "L" in self.regimes[0].free else "L_half")
        self._limited = tuple(regime.segment for regime in limited)

    @cached_property
    def one_engine(self) -> LogGPSpeaker:
        """The same where bytes that cross others take twice as long."""
        return LogGPSpeaker(self.fit, one_engine=True)

    @property
    def tells_exchanges(self) -> bool:
        """Whether messages that cross others take another time than alone."""
        return self._times.tells_exchanges

    @property
    def follows_measured_times(self) -> bool:
        """Whether messages take what was measured, which follows no one line over the sizes."""
        return bool(self._times)

    @staticmethod
    def speaks_about(algorithm: Algorithm) -> bool:
        """Always."""
        return True

    def space(self, asked: Sequence[Asked]) -> Space:
        """The vectors of those regimes whose sizes the tasks send, or their bounds ask for."""
        sizes = {
            size
            for question in asked
            for size in self.sizes(*question) | sizes_asked_for(*question, self._recorded)
        }
        used = sorted({segment_of(self.fit, size) for size in sizes})
        return self.space_of(tuple(used) or (0,))

    def space_of(self, used: tuple[int, ...]) -> Space:
        """The vectors of the regimes `used`, ascending."""
        if used not in self._spaces:
            self._spaces[used] = self._new_space(used)
        return self._spaces[used]

    def _new_space(self, used: tuple[int, ...]) -> Space:
        symbols = tuple(
            (segment, symbol) for segment in used for symbol in self.regimes[segment].free
        )
        unlimited = frozenset(
            place
            for place, (segment, symbol) in enumerate(symbols)
            if self.regimes[segment].is_unlimited(symbol)
        )

        def seconds(algorithm: Algorithm, task: Task, fractions: Array, whole: bool) -> Seconds:
            times = algorithm.seconds(task, self.network(used, fractions, whole))
            return by_points(times, len(fractions), whole)

        return Space(self.fit, symbols, used, unlimited, seconds)

    def network(self, used: Sequence[int], fractions: Array, whole: bool) -> RegimeNetwork:
        """Messages of the regimes `used` at some points of their set; the same ones are asked for again and again."""
        key = (tuple(used), fractions.tobytes(), whole)
        if key not in self._networks:
            if len(self._networks) >= MOST_KEPT:
                self._networks.clear()
            vectors = self.vectors(used, fractions, whole)
            self._networks[key] = RegimeNetwork(self.fit, self.regimes, self._times, vectors, whole)
        return self._networks[key]

    def vectors(self, used: Sequence[int], fractions: Array, whole: bool) -> dict[int, Vectors]:
        """The parameter vectors of the regimes `used`; their free parameters stand side by side in `fractions`."""
        vectors, first = {}, 0
        for segment in used:
            regime = self.regimes[segment]
            regime_fractions = fractions[:, first : first + len(regime.free)]
            vectors[segment] = regime.at(regime_fractions, whole=whole)
            first += len(regime.free)
        return vectors

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """The algorithm's closed form in the middle of the set."""
        return algorithm.seconds(task, self._middle(whole=True))

    def _middle(self, *, whole: bool) -> RegimeNetwork:
        used = range(len(self.regimes))
        free = sum(len(regime.free) for regime in self.regimes)
        return self.network(used, np.full((1, free), 0.5), whole)

    def tree_costs(self, message_bytes: int) -> TreeCosts:
        """What shapes a tree of messages of that size, in the middle of the set."""
        return tree_costs(self._recorded, message_bytes)

    @cached_property
    def _recorded(self) -> RegimeNetwork:
        return self._middle(whole=False)

    def lower_bound(self, operation: str, task: Task) -> tuple[Space, Evaluate]:
        """The operation's bound on the least of all regimes' costs; each point of the set has its own tree."""
        space = self.space_of(self._limited)

        def evaluate(fractions: Array, whole: bool) -> Seconds:
            network = self.network(self._limited, fractions, whole)
            return lower_bounds(operation, task, network, len(fractions))

        return space, evaluate

    def least_round(self, task: Task, peers: int) -> float:
        """Sends, or receives, one after the other; or the CPU time of all."""
        message = self._recorded.message(task.message_bytes)
        if peers < 1:
            return 0.0
        step = max(float(message.between_sends[0]), float(message.between_receives[0]))
        by_network = float(message.one_way[0]) + (peers - 1) * step
        return max(by_network, peers * float(message.send_busy[0] + message.receive_busy[0]))

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """Sizes, sends that may wait, and more ranks than were measured: pairs of ranks may disturb each other."""
        sizes = self.sizes(algorithm, task)
        return beyond_all(self.fit, task, 1, [beyond_sizes(self.fit, sizes), self._may_wait(sizes)])

    def _may_wait(self, sizes: set[int]) -> str | None:
        """Which of the sizes may wait for their receives, for all that is known of S."""
        S = self.fit.segments[0].parameters.get("S")
        if S is None or S.value is not None or max(sizes, default=0) <= (S.low or 0.0):
            return None
        return f"sends of {max(sizes)} B may wait for their receives: {S.reason}".rstrip(".")

    def sizes(self, algorithm: Algorithm, task: Task) -> set[int]:
        """The sizes of the algorithm's messages in bytes."""
        key = (algorithm.operation, algorithm.name, task)
        if key not in self._sizes:
            self._sizes[key] = sizes_sent(algorithm, task, self._recorded)
        return self._sizes[key]

    @cached_property
    def largest_eager_bytes(self) -> int | None:
        """S of LogGPS: longer sends wait for their receive; None where none does, or where it is not known."""
        measured = self.fit.segments[0].parameters.get("S")
        return None if measured is None or not measured.value else int(measured.value)


def latency_is_unlimited(regime: Regime) -> bool:
    """Does nothing bound T(1)?"""
    corner = np.ones((1, len(regime.free)))
    return bool(regime.at(corner)["L_half"][0] >= REFUSED)


def by_points(times: Seconds, points: int, whole: bool) -> Seconds:
    """Times of flat vectors as (points, rows)."""
    rows = 1 + REPLICATES if whole else 1
    flat = times if times.size == points * rows else np.broadcast_to(times, (points * rows,))
    return flat.reshape(points, rows)
