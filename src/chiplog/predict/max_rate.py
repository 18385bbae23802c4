"""Predictions of postal and max-rate: all k ranks of a node send to other nodes at the same time.

A message of n bytes takes T(n, k); m of them posted at once take T(0, k) + m (T(n, k) - T(0, k)), one start-up and the
bytes of all. So these models speak about algorithms in which every rank sends in every step.

Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire the
ping pong test", EuroMPI 2016.
"""

from __future__ import annotations

import re

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Message, Seconds
from chiplog.fit.result import Fit
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.predict.bounds import lower_bound
from chiplog.predict.draws import Theta, drawn, not_identified, segment_of
from chiplog.predict.network import Recorder, beyond_sizes

MODELS = ("max-rate", "max-rate-4", "max-rate-modified", "postal")
_PAIRS = re.compile(r"half_round_trip\(k=(\d+)\)")


class MaxRateSpeaker:
    """Speaks about algorithms in which everybody sends; a network, too."""

    def __init__(self, fit: Fit, per_node: int) -> None:
        self.fit = fit
        self.per_node = per_node
        self._model = load_model(fit.model)
        self._known: dict[tuple[int, int], Message] = {}
        self._thetas = [drawn(fit, segment) for segment in range(len(fit.segments))]
        for segment, theta in enumerate(self._thetas):
            if not theta.keys() & {"R_C", "R_Cb", "R_N"}:
                raise not_identified(fit, segment, "R_C" if fit.model != "max-rate-4" else "R_Cb")

    def message(self, message_bytes: int) -> Message:
        """The costs under the protocol of that size."""
        return self._message(segment_of(self.fit, message_bytes), message_bytes)

    def fastest(self, message_bytes: int) -> Message:
        """The costs under the protocol that is fastest by the fit's own values."""
        found = [self._message(segment, message_bytes) for segment in range(len(self._thetas))]
        return min(found, key=lambda message: float(message.one_way[0]))

    def speaks_about(self, algorithm: Algorithm) -> bool:
        """Where everybody sends in every step."""
        return algorithm.everybody_sends

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """The algorithm's closed form."""
        return algorithm.seconds(task, self)

    def lower_bound(self, operation: str, task: Task) -> Seconds:
        """The operation's bound, on the fastest protocol."""
        return lower_bound(operation, task, self)

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """Sizes, and more ranks of a node than pairs were measured."""
        recorder = Recorder(self)
        algorithm.seconds(task, recorder)
        pairs = [int(m[1]) for one in self.fit.curves if (m := _PAIRS.fullmatch(one.quantity))]
        reasons = [beyond_sizes(self.fit, recorder.sizes)]
        if pairs and self.per_node > max(pairs):
            reasons.append(f"{self.per_node} ranks a node, up to {max(pairs)} were measured")
        return "; ".join(reason for reason in reasons if reason) or None

    def _message(self, segment: int, message_bytes: int) -> Message:
        if (segment, message_bytes) not in self._known:
            start = self._one_way(self._thetas[segment], 0)
            sending = np.maximum(self._one_way(self._thetas[segment], message_bytes) - start, 0.0)
            self._known[segment, message_bytes] = Message(
                0.0 * start, gap=sending, way=start + sending, receive_busy=0.0 * start
            )
        return self._known[segment, message_bytes]

    def _one_way(self, theta: Theta, message_bytes: int) -> Seconds:
        asked = points("pairs", message_bytes, pairs=self.per_node)
        rows = (
            dict(zip(theta, values, strict=True)) for values in zip(*theta.values(), strict=True)
        )
        return np.array([self._model.seconds(asked, row)[0] / 2.0 for row in rows])
