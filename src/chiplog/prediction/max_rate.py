"""Predictions of postal and max-rate: all k ranks of a node send to other nodes at the same time.

A message of n bytes takes T(n, k); m of them posted at once take T(0, k) + m (T(n, k) - T(0, k)), one start-up and the
bytes of all. So these models speak about algorithms in which every rank sends in every step.

Where R_N was not reached, it is at least what the most pairs that were measured sent.

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import ANY_SIZE, Message, Seconds
from chiplog.fitting.predictions.known import Array, Bounds
from chiplog.fitting.predictions.ranges import Ranges, rows_of
from chiplog.fitting.predictions.regime import Vectors
from chiplog.fitting.predictions.span import Evaluate
from chiplog.fitting.result import Fit
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.prediction.bounds import lower_bounds
from chiplog.prediction.loggp import MOST_KEPT, by_points
from chiplog.prediction.network import Asked, Recorder, Space, beyond_all, beyond_sizes, segment_of


class MaxRateSpeaker:
    """Speaks about algorithms in which everybody sends."""

    knows_nodes: ClassVar[bool] = True

    def __init__(self, fit: Fit, task: Task | None = None, per_node: int = 1) -> None:
        del task
        self.fit = fit
        self.per_node = per_node
        self.most_pairs = max(
            (curve.pairs for curve in fit.curves if curve.pairs is not None), default=1
        )
        rate = "R_Cb" if "R_Cb" in load_model(fit.model).symbols else "R_C"
        self._networks: dict[tuple[tuple[int, ...], bytes, bool], _Network] = {}
        self._ranges = []
        for segment in range(len(fit.segments)):
            parameters = fit.segments[segment].parameters
            has_node_rate = "R_N" in parameters and parameters["R_N"].value is not None
            needed = ["s0"] if has_node_rate and rate not in parameters else ["s0", rate]
            self._ranges.append(Ranges(fit, segment, needed, self._given(segment, rate)))

    def _given(self, segment: int, rate: str) -> dict[str, Bounds]:
        """R_N >= k R_C for the most pairs k that were measured, where the fit gives no bound."""
        parameters = self.fit.segments[segment].parameters
        node, process = parameters.get("R_N"), parameters.get(rate)
        if (
            node is None
            or node.value is not None
            or node.low
            or process is None
            or process.value is None
        ):
            return {}
        least = process.value
        if rate == "R_C":
            least *= self.most_pairs
        return {"R_N": Bounds(least, node.high)}

    def ranges_of(self, segment: int) -> Ranges:
        """What the data leave of a segment's parameters."""
        return self._ranges[segment]

    @staticmethod
    def speaks_about(algorithm: Algorithm) -> bool:
        """Where everybody sends in every step."""
        return algorithm.everybody_sends

    def space(self, asked: Sequence[Asked]) -> Space:
        """The vectors of those protocols whose sizes the tasks send."""
        sizes: set[int] = set()
        for algorithm, task in asked:
            sizes |= self._sizes(algorithm, task)
        return self._space(sorted({segment_of(self.fit, size) for size in sizes}))

    def _space(self, used: Sequence[int]) -> Space:
        symbols = tuple(
            (segment, symbol) for segment in used for symbol in self._ranges[segment].free
        )

        def seconds(algorithm: Algorithm, task: Task, fractions: Array, whole: bool) -> Seconds:
            times = algorithm.seconds(task, self._network(used, fractions, whole))
            return by_points(times, len(fractions), whole)

        unlimited = frozenset(range(len(symbols)))
        return Space(self.fit, symbols, tuple(used), unlimited, seconds)

    def _network(self, used: Sequence[int], fractions: Array, whole: bool) -> _Network:
        """Messages of the protocols `used` at some points of their set; the same ones are asked for again and again."""
        key = (tuple(used), fractions.tobytes(), whole)
        if key not in self._networks:
            if len(self._networks) >= MOST_KEPT:
                self._networks.clear()
            vectors, first = {}, 0
            for segment in used:
                free = len(self._ranges[segment].free)
                segment_fractions = fractions[:, first : first + free]
                vectors[segment] = self._ranges[segment].at(segment_fractions, whole=whole)
                first += free
            self._networks[key] = _Network(self, vectors)
        return self._networks[key]

    def _middle(self, *, whole: bool) -> _Network:
        free = sum(len(ranges.free) for ranges in self._ranges)
        return self._network(range(len(self._ranges)), np.full((1, free), 0.5), whole)

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """The algorithm's closed form in the middle of the set."""
        return algorithm.seconds(task, self._middle(whole=True))

    def lower_bound(self, operation: str, task: Task) -> tuple[Space, Evaluate]:
        """The operation's bound, on the fastest protocol."""
        used = range(len(self._ranges))

        def evaluate(fractions: Array, whole: bool) -> Seconds:
            # Which protocol is the fastest differs from point to point.
            return np.concatenate(
                [
                    lower_bounds(operation, task, self._network(used, point[np.newaxis], whole), 1)
                    for point in fractions
                ]
            )

        return self._space(used), evaluate

    def least_round(self, task: Task, peers: int) -> float:
        """Not known without the answer."""
        return 0.0

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """Sizes, more ranks of a node than pairs were measured, and more ranks or nodes."""
        reasons = [beyond_sizes(self.fit, self._sizes(algorithm, task))]
        if self.per_node > self.most_pairs and self._knows_pairs():
            reasons.append(f"{self.per_node} ranks a node, up to {self.most_pairs} were measured")
        return beyond_all(self.fit, task, self.per_node, reasons)

    def _knows_pairs(self) -> bool:
        return any(curve.pairs is not None for curve in self.fit.curves)

    def _sizes(self, algorithm: Algorithm, task: Task) -> set[int]:
        recorder = Recorder(self._middle(whole=False))
        algorithm.seconds(task, recorder)
        return recorder.sizes or {1}


class _Network:
    """Messages under max-rate for parameter vectors of each protocol."""

    def __init__(self, speaker: MaxRateSpeaker, vectors: dict[int, Vectors]) -> None:
        self._fit, self._per_node = speaker.fit, speaker.per_node
        self._model = load_model(speaker.fit.model)
        self._rows = {
            segment: list(rows_of(segment_vectors)) for segment, segment_vectors in vectors.items()
        }
        self._known: dict[tuple[int, int], Message] = {}

    def message(self, message_bytes: int) -> Message:
        """The costs under the protocol of that size."""
        if message_bytes == ANY_SIZE:
            return self._message(next(iter(self._rows)), 1)
        return self._message(segment_of(self._fit, message_bytes), message_bytes)

    def fastest(self, message_bytes: int) -> Message:
        """The costs under the protocol that is fastest by the first vector."""
        messages = [self._message(segment, message_bytes) for segment in self._rows]
        return min(messages, key=lambda message: float(message.one_way[0]))

    def _message(self, segment: int, message_bytes: int) -> Message:
        if (segment, message_bytes) not in self._known:
            start, whole = self._one_way(segment, message_bytes)
            sending = np.maximum(whole - start, 0.0)
            self._known[segment, message_bytes] = Message(
                0.0 * start, gap=sending, way=start + sending, receive_busy=0.0 * start
            )
        return self._known[segment, message_bytes]

    def _one_way(self, segment: int, message_bytes: int) -> Seconds:
        """Of a message without a byte, and of this one, shape (2, vectors)."""
        asked = points("pairs", [0, message_bytes], pairs=self._per_node)
        times = [self._model.seconds(asked, row) / 2.0 for row in self._rows[segment]]
        return np.array(times).reshape(-1, 2).T
