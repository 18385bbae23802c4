"""Schedules in steps: what a rank sends or receives in one step waits for what it did in earlier ones."""

from __future__ import annotations

from numpy.typing import ArrayLike

from chiplog.collectives.shapes import Ranks
from chiplog.schedule import Schedule, ScheduleBuilder


class Steps:
    """Messages between many pairs of ranks at a time, one step after the other."""

    def __init__(self, ranks: int, messages: int = 0) -> None:
        """`messages` is how many there will be at most, where they are more than a few a rank."""
        self._builder = ScheduleBuilder(ranks, 2 * max(messages, ranks))
        self._received = self._builder.nothing_yet()
        self._sent = self._builder.nothing_yet()

    def messages(self, sources: Ranks, targets: Ranks, message_bytes: ArrayLike) -> None:
        """One step: a message from each source to its target; a rank may stand once among each.

        Sends and receives of a rank in one step do not wait for each other, as in MPI_Sendrecv.
        """
        sent = self._builder.send(
            sources,
            to=targets,
            message_bytes=message_bytes,
            after=[self._received[sources], self._sent[sources]],
        )
        received = self._builder.receive(
            targets,
            source=sources,
            message_bytes=message_bytes,
            after=[self._received[targets], self._sent[targets]],
        )
        self._sent[sources] = sent
        self._received[targets] = received

    def build(self) -> Schedule:
        """The schedule of all steps."""
        return self._builder.build()
