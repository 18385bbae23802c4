"""Predictions of logp, loggp and loggps, with the parameters that `chiplog simulate --model` takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Message, Seconds
from chiplog.export.loggops_values import largest_eager_bytes
from chiplog.export.protocol_lines import value
from chiplog.fit.result import Fit
from chiplog.predict.bounds import lower_bound
from chiplog.predict.draws import drawn, not_identified, segment_of
from chiplog.predict.loggops import LogGOPSNetwork, LogGOPSProtocol
from chiplog.predict.network import Recorder, beyond_sizes

MODELS = ("loggps", "loggp", "logp")


@dataclass(frozen=True)
class LogGPNetwork:
    """The protocols of a fit whose latency is known; a size that needs what is not identified is refused."""

    fit: Fit
    protocols: LogGOPSNetwork

    def message(self, message_bytes: int) -> Message:
        """The costs of a message; UsageError where they need what is not identified."""
        segment = segment_of(self.fit, message_bytes)
        if not has_latency(self.fit, segment):
            raise not_identified(self.fit, segment, "L")
        G = self.fit.segments[segment].parameters.get("G")
        if message_bytes > 1 and G is not None and G.value is None:
            raise not_identified(self.fit, segment, "G")
        return self.protocols.message(message_bytes)

    def fastest(self, message_bytes: int) -> Message:
        """The least of each cost over all protocols."""
        found = [protocol.message(message_bytes) for protocol in self.protocols.protocols]
        return reduce(_least, found)


def _least(one: Message, other: Message) -> Message:
    return Message(
        np.minimum(one.send_busy, other.send_busy),
        np.minimum(one.gap, other.gap),
        np.minimum(one.way, other.way),
        np.minimum(one.receive_busy, other.receive_busy),
    )


class LogGPSpeaker:
    """Speaks about every algorithm."""

    def __init__(self, fit: Fit) -> None:
        known = [segment for segment in range(len(fit.segments)) if has_latency(fit, segment)]
        if not known:
            raise not_identified(fit, 0, "L")
        protocols = tuple(_protocol(fit, segment) for segment in known)
        self.fit = fit
        self.network = LogGPNetwork(fit, LogGOPSNetwork(protocols))

    def speaks_about(self, algorithm: Algorithm) -> bool:
        """Always."""
        return True

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """The algorithm's closed form."""
        return algorithm.seconds(task, self.network)

    def lower_bound(self, operation: str, task: Task) -> Seconds:
        """The operation's bound on the least of all protocols' costs."""
        return lower_bound(operation, task, self.network)

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """Sizes only: the models assume that pairs of ranks do not disturb each other."""
        return beyond_sizes(self.fit, self.sizes(algorithm, task))

    def sizes(self, algorithm: Algorithm, task: Task) -> set[int]:
        """The sizes of the algorithm's messages."""
        recorder = Recorder(self.network)
        algorithm.seconds(task, recorder)
        return recorder.sizes

    @cached_property
    def largest_eager_bytes(self) -> int | None:
        """S of loggps: longer sends wait for their receive; None where none does."""
        if self.fit.model != "loggps":
            return None
        measured = value(self.fit.segments[0], "S")
        if measured > 0 or len(self.fit.segments) == 1:
            return int(measured) or None
        return largest_eager_bytes(self.fit)


def has_latency(fit: Fit, segment: int) -> bool:
    """Is L known, or L_half, from which it follows?"""
    parameters = fit.segments[segment].parameters
    return any(
        name in parameters and parameters[name].value is not None for name in ("L", "L_half")
    )


def _protocol(fit: Fit, segment: int) -> LogGOPSProtocol:
    """With o and L as in chiplog.export.loggops_values, for each draw."""
    theta = drawn(fit, segment)
    known = [theta[name] for name in ("o_s", "o_r") if name in theta and theta[name][0] > 0]
    zero = 0.0 * next(iter(theta.values()))
    o = sum(known, zero) / max(1, len(known))
    L = theta.get("L", zero)
    if L[0] <= 0:
        L_half = np.maximum(theta.get("L_half", zero), 0.0)
        o = np.minimum(o, L_half / 2)
        L = L_half - 2 * o
    return LogGOPSProtocol(
        first_bytes=fit.segments[segment].first_bytes,
        L=L,
        o=o,
        g=theta.get("g", zero),
        G=theta.get("G", zero),
        O=zero,
    )
