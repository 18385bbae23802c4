"""Predictions of lop and logfp: barriers in rounds of one process and its p peers.

    T = R RTT(p)/2

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC), for
n-way dissemination.
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.fit.result import Fit
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.predict.draws import drawn, not_identified, segment_of

MODELS = ("logfp", "lop")
NEEDED = {"logfp": ("L", "o_min", "o_max", "f", "g"), "lop": ("C",)}


class OneToManySpeaker:
    """Speaks about barriers, whose messages have whatever size was measured."""

    def __init__(self, fit: Fit, message_bytes: int) -> None:
        self.fit = fit
        self._segment = segment_of(fit, message_bytes)
        self._model = load_model(fit.model)
        theta = drawn(fit, self._segment)
        for symbol in NEEDED[fit.model]:
            if symbol not in theta:
                raise not_identified(fit, self._segment, symbol)
        self._known: dict[int, Seconds] = {}
        self._rows = [
            dict(zip(theta, values, strict=True)) for values in zip(*theta.values(), strict=True)
        ]

    def speaks_about(self, algorithm: Algorithm) -> bool:
        """Where an algorithm's rounds are known."""
        return algorithm.fan_out is not None

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """R RTT(p)/2."""
        assert algorithm.fan_out is not None
        fan_out = algorithm.fan_out(task)
        return fan_out.rounds * self._round_trip(max(1, fan_out.peers)) / 2.0

    def lower_bound(self, operation: str, task: Task) -> Seconds:
        """RTT(1)/2: one message's way."""
        return (self._round_trip(1) if task.ranks > 1 else 0.0 * self._round_trip(1)) / 2.0

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """More peers in a round, or more ranks, than were measured."""
        assert algorithm.fan_out is not None
        known = [int(one.peers.max()) for one in self.fit.curves if one.peers is not None]
        if not known:
            return None
        most, reasons = max(known), []
        if (peers := algorithm.fan_out(task).peers) > most:
            reasons.append(f"{peers} peers, up to {most} were measured")
        if task.ranks > most + 1:
            reasons.append(f"{task.ranks} ranks, up to {most + 1} were measured")
        return "; ".join(reasons) or None

    def _round_trip(self, peers: int) -> Seconds:
        if peers not in self._known:
            size = self.fit.segments[self._segment].first_bytes
            asked = points("one_to_many", size, peers=peers)
            times = [self._model.seconds(asked, row)[0] for row in self._rows]
            self._known[peers] = np.array(times)
        return self._known[peers]
