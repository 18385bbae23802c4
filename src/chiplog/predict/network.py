"""What predictions ask a fitted model for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Message, Network, Seconds
from chiplog.fit.result import Fit


class Speaker(Protocol):
    """A fitted model that speaks about some algorithms; times have the shape (1 + draws,), the fit's own first."""

    @property
    def fit(self) -> Fit:
        """The fit."""

    def speaks_about(self, algorithm: Algorithm) -> bool:
        """Can it say how long the algorithm takes?"""

    def seconds(self, algorithm: Algorithm, task: Task) -> Seconds:
        """How long it takes, in seconds."""

    def lower_bound(self, operation: str, task: Task) -> Seconds:
        """No algorithm of the operation takes less, in seconds."""

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

    def message(self, message_bytes: int) -> Message:
        """The network's message."""
        self.sizes.add(message_bytes)
        return self.network.message(message_bytes)


def beyond_sizes(fit: Fit, sizes: set[int]) -> str | None:
    """Which of the sizes lie outside of those that were measured; 0 and 1 B count as the smallest."""
    first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    outside = [size for size in sizes if size > last or 1 < size < first]
    if not outside:
        return None
    return f"messages of {max(outside)} B, {first} to {last} B were measured"
