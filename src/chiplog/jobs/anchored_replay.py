"""Collective operations of a replay as measured ones correct them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chiplog.collectives.algorithm import MOST_BYTES, Task
from chiplog.collectives.mpis.choice import (
    AlgorithmChoice,
    Chooser,
    CollectiveCall,
    algorithm_of,
)
from chiplog.errors import UsageError
from chiplog.fitting.result import Fit
from chiplog.prediction.anchors import OPTION, Anchor
from chiplog.prediction.predict import predict

NS_PER_SECOND = 1e9
"""Given: a unit."""


@dataclass
class AnchoredChooser:
    """The choices of `choose`, whose calls take as long as `predict --anchor` says of them.

    An operation that was measured to take longer than the model says begins later by the difference on each of its
    ranks; one that takes less time has the smaller messages that the model gives that time. Anchors that name no
    algorithm are of whichever is chosen.
    """

    choose: Chooser
    fit: Fit
    anchors: Sequence[Anchor]
    _known: dict[CollectiveCall, AlgorithmChoice] = field(default_factory=dict)
    _too_fast: set[str] = field(default_factory=set)

    def __call__(self, call: CollectiveCall) -> AlgorithmChoice:
        """The corrected choice; UsageError where anchors can't be of the algorithm."""
        if call not in self._known:
            self._known[call] = self._corrected(call, self.choose(call))
        return self._known[call]

    @property
    def notes(self) -> tuple[str, ...]:
        """What no anchor was of, and what none could correct, once the calls of a trace have been chosen."""
        others = [name for name in sorted(self.operations) if not self.anchors_of(name)]
        notes = []
        if others:
            notes.append(f"no measured time corrects {', '.join(others)}")
        if self._too_fast:
            notes.append(
                f"{', '.join(sorted(self._too_fast))} took less time than the model gives the shortest messages, which "
                "stand for it"
            )
        return tuple(notes)

    @property
    def operations(self) -> set[str]:
        """The operations that were asked for."""
        return {call.operation for call in self._known}

    def anchors_of(self, operation: str) -> list[Anchor]:
        """Those that measured an operation."""
        return [anchor for anchor in self.anchors if anchor.operation == operation]

    def _corrected(self, call: CollectiveCall, choice: AlgorithmChoice) -> AlgorithmChoice:
        size = min(call.message_bytes, MOST_BYTES)
        task = Task(call.ranks, size, segment_bytes=choice.segment_bytes or max(size, 1))
        name = algorithm_of(call.operation, choice, task).name
        fitting = [
            anchor for anchor in self.anchors_of(call.operation) if anchor.algorithm in (None, name)
        ]
        if call.ranks < 2 or not fitting:
            return choice
        by_model = self._seconds(task, call.operation, name)
        corrected = self._seconds(task, call.operation, name, fitting)
        if corrected >= by_model:
            return replace(choice, delay_ns=round((corrected - by_model) * NS_PER_SECOND))
        smaller = self._size_of(corrected, task, call.operation, name)
        if smaller == 0:
            self._too_fast.add(call.operation)
        return replace(choice, message_bytes=smaller)

    def _seconds(
        self, task: Task, operation: str, name: str, anchors: Sequence[Anchor] = ()
    ) -> float:
        rows = predict([self.fit], operation, task, algorithm=name, anchors=anchors, anyway=True)
        return rows[0].seconds

    def _size_of(self, seconds: float, task: Task, operation: str, name: str) -> int:
        """The largest size that takes no longer, by the model; 0 where even that does."""
        low, high = 0, task.message_bytes
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._seconds(replace(task, message_bytes=middle), operation, name) <= seconds
            low, high = (middle, high) if fits else (low, middle)
        return low


def refuse_unused(chooser: AnchoredChooser) -> None:
    """UsageError where no anchor is of any operation that was asked for."""
    if not any(chooser.anchors_of(operation) for operation in chooser.operations):
        measured = ", ".join(sorted({anchor.operation for anchor in chooser.anchors})[:3])
        raise UsageError(f"{OPTION}: {measured} was measured, which the trace does not call.")
