"""Predictions of lop and logfp: barriers in rounds of one process and its p peers.

    T = R RTT(p)/2

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC), for
n-way dissemination.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.ranges import Ranges, rows_of
from chiplog.fitting.predictions.span import Evaluate
from chiplog.fitting.result import Fit
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.prediction.loggp import by_points
from chiplog.prediction.network import Asked, Space, beyond_all, segment_of

READ_AHEAD = 64
"""Given: peers that a model is asked about at once: whoever asks for one number mostly asks for the next one, too."""


class OneToManySpeaker:
    """Speaks about barriers, whose messages have the size that was measured nearest, or any of a fit of all sizes."""

    knows_nodes: ClassVar[bool] = False

    def __init__(self, fit: Fit, task: Task, per_node: int = 1) -> None:
        del per_node
        self.fit = fit
        self._segment = segment_of(fit, task.message_bytes)
        first, last = (
            fit.segments[self._segment].first_bytes,
            fit.segments[self._segment].last_bytes,
        )
        self._message_bytes = task.message_bytes if first < last else first
        self._model = load_model(fit.model)
        needed = [parameter.symbol for parameter in self._model.parameters if parameter.needed]
        self._ranges = Ranges(fit, self._segment, needed)
        self._known: dict[tuple[int, bytes, bool], Seconds] = {}

    @staticmethod
    def speaks_about(algorithm: Algorithm) -> bool:
        """Where an algorithm's rounds are known."""
        return algorithm.fan_out is not None

    def space(self, asked: Sequence[Asked]) -> Space:
        """The vectors of the one size."""
        symbols = tuple((self._segment, symbol) for symbol in self._ranges.free)

        def seconds(algorithm: Algorithm, task: Task, fractions: Array, whole: bool) -> Seconds:
            return by_points(
                self._seconds(algorithm, task, fractions, whole), len(fractions), whole
            )

        unlimited = frozenset(range(len(symbols)))
        return Space(self.fit, symbols, (self._segment,), unlimited, seconds)

    def _seconds(self, algorithm: Algorithm, task: Task, fractions: Array, whole: bool) -> Seconds:
        """R RTT(p)/2."""
        assert algorithm.fan_out is not None
        fan_out = algorithm.fan_out(task)
        round_trip = self._round_trip(max(1, fan_out.peers), fractions, whole)
        return np.asarray(fan_out.rounds * round_trip / 2.0)

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """R RTT(p)/2 in the middle of the set."""
        return self._seconds(algorithm, task, np.full((1, len(self._ranges.free)), 0.5), True)

    def lower_bound(self, operation: str, task: Task) -> tuple[Space, Evaluate]:
        """RTT(1)/2: one message's way."""

        def evaluate(fractions: Array, whole: bool) -> Seconds:
            way = self._round_trip(1, fractions, whole) / 2.0
            return by_points(way if task.ranks > 1 else 0.0 * way, len(fractions), whole)

        return self.space([]), evaluate

    def least_round(self, task: Task, peers: int) -> float:
        """Not known without the answer."""
        return 0.0

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """More peers in a round, or more ranks, than were measured."""
        assert algorithm.fan_out is not None
        known = [int(curve.peers.max()) for curve in self.fit.curves if curve.peers is not None]
        reasons: list[str | None] = []
        if known:
            most = max(known)
            if (peers := algorithm.fan_out(task).peers) > most:
                reasons.append(f"{peers} peers, up to {most} were measured")
            if task.ranks > most + 1 and self.fit.ranks is None:
                reasons.append(f"{task.ranks:,} ranks, up to {most + 1:,} were measured")
        return beyond_all(self.fit, task, 1, reasons)

    def _round_trip(self, peers: int, fractions: Array, whole: bool) -> Seconds:
        key = (peers, fractions.tobytes(), whole)
        if key not in self._known:
            ahead = np.arange(peers, peers + READ_AHEAD)
            asked = points("one_to_many", self._message_bytes, peers=ahead)
            rows = rows_of(self._ranges.at(fractions, whole=whole))
            table = np.array([self._model.seconds(asked, row) for row in rows])
            for place, column in enumerate(table.T):
                self._known.setdefault((int(ahead[place]), *key[1:]), column)
        return self._known[key]
