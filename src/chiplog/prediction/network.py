"""What predictions ask a fitted model for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import ANY_SIZE, Message, Network, Seconds
from chiplog.errors import UsageError
from chiplog.fitting.origin import beyond_measured
from chiplog.fitting.predictions.known import Array, refusal
from chiplog.fitting.predictions.settings import REFUSED
from chiplog.fitting.predictions.span import AnswerSpan, Evaluate, span
from chiplog.fitting.result import Fit
from chiplog.schedule.traffic import Traffic

Asked = tuple[Algorithm, Task]


@dataclass(frozen=True)
class Space:
    """The parameter vectors that the data leave, of those regimes that some tasks need."""

    fit: Fit
    symbols: tuple[tuple[int, str], ...]
    """What is free: the segment and the symbol; fractions have these columns."""
    used: tuple[int, ...]
    """The segments whose parameters fractions are for, in this order."""
    unlimited: frozenset[int]
    """Which of them nothing bounds above."""
    seconds: Callable[[Algorithm, Task, Array, bool], Seconds]
    """An algorithm's time by fractions of shape (points, free): shape (points, rows), see `Evaluate`."""

    def span(self, evaluate: Evaluate, *, refuse: bool = True) -> AnswerSpan:
        """The least and the largest of what `evaluate` says; UsageError where a parameter without bound decides it."""
        kinds = list(dict.fromkeys(symbol for _, symbol in self.symbols))
        answer = span(
            evaluate, len(self.symbols), [kinds.index(symbol) for _, symbol in self.symbols]
        )
        if refuse and not answer.high < REFUSED:
            raise self._refused(evaluate)
        return answer

    def _refused(self, evaluate: Evaluate) -> UsageError:
        """Names the parameter without bound that alone makes the answer endless."""
        for place in sorted(self.unlimited):
            fractions = np.full((1, len(self.symbols)), 0.5)
            fractions[0, sorted(self.unlimited)] = 0.0
            fractions[0, place] = 1.0
            if not evaluate(fractions, False)[0, 0] < REFUSED:
                return refusal(self.fit, *self.symbols[place])
        return (
            refusal(self.fit, *self.symbols[0])
            if self.symbols
            else UsageError(f"the fit of {self.fit.model} gives no finite time.")
        )


class Speaker(Protocol):
    """Predicts how long some algorithms take, from a fitted model; `Model.speaker` refers to it.

    `chiplog.prediction.loggp.LogGPSpeaker` serves every model with the parameters L, o_s, o_r, g (and G, O_s, O_r),
    `one_to_many.OneToManySpeaker` those of the pattern one_to_many, `max_rate.MaxRateSpeaker` those of k pairs with s0
    and R_C (or R_Cb).
    """

    knows_nodes: ClassVar[bool]
    """Does it know what the ranks of a node share? Then it comes first where several ranks are on each node."""

    def __init__(self, fit: Fit, task: Task, per_node: int) -> None:
        """Raises UsageError where the fit lacks a parameter; `task` is the first that will be asked about."""

    @property
    def fit(self) -> Fit:
        """The fit."""

    @staticmethod
    def speaks_about(algorithm: Algorithm) -> bool:
        """Can it say how long the algorithm takes, whatever the fit?"""

    def space(self, asked: Sequence[Asked]) -> Space:
        """The parameter vectors that the data leave for these tasks, all the same for each of them."""

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """How long it takes in the middle of the set, in seconds: the fit's own first, shape (1 + draws,)."""

    def lower_bound(self, operation: str, task: Task) -> tuple[Space, Evaluate]:
        """No algorithm of the operation takes less, in seconds, over the set."""

    def least_round(self, task: Task, peers: int) -> float:
        """No round in which a rank tells `peers` others takes less in the middle of the set, in seconds; may be 0."""

    def beyond(self, algorithm: Algorithm, task: Task) -> str | None:
        """What of the task was not measured, in words; None where all was."""


class BoundedNetwork(Network, Protocol):
    """A network that also knows the least that any of its protocols asks."""

    def fastest(self, message_bytes: int) -> Message:
        """The least of each cost over all protocols, whatever sizes they are for."""


@dataclass
class Recorder:
    """A network that keeps the sizes it is asked for."""

    network: Network
    sizes: set[int] = field(default_factory=set)

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """The network's message."""
        if message_bytes != ANY_SIZE:
            self.sizes.add(message_bytes)
        return self.network.message(message_bytes, traffic)


def segment_of(fit: Fit, message_bytes: int) -> int:
    """The segment that holds a size; the nearest one where none does."""
    return max(0, bisect_right(fit.segments, message_bytes, key=_first_bytes) - 1)


_first_bytes = attrgetter("first_bytes")


def is_beyond_sizes(fit: Fit, message_bytes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which sizes lie outside of those that were measured; 0 and 1 B count as the smallest."""
    first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    return np.asarray((message_bytes > last) | ((message_bytes > 1) & (message_bytes < first)))


def beyond_sizes(fit: Fit, sizes: set[int]) -> str | None:
    """In words, which of the sizes lie outside of those that were measured."""
    first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    listed = np.array(sorted(sizes), dtype=np.int64)
    outside = listed[is_beyond_sizes(fit, listed)].tolist()
    if not outside:
        return None
    return f"messages of {max(outside):,} B, {first:,} to {last:,} B were measured"


def beyond_all(fit: Fit, task: Task, per_node: int, reasons: Sequence[str | None]) -> str | None:
    """The reasons, and how far the number of ranks or nodes lies beyond what was measured."""
    nodes = -(-task.ranks // per_node) if per_node > 1 else None
    all_reasons = [beyond_measured(fit, task.ranks, nodes), *reasons]
    return "; ".join(reason for reason in all_reasons if reason) or None
