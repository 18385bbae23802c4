"""Makes schedules, one operation on many ranks at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.counts import refuse_more
from chiplog.schedule.arrays import CALC, DEPENDENCY, OPERATION, RECEIVE, SEND, Schedule

MOST_OPERATIONS = 10**8
"""As many as are simulated in the memory of one computer: 4 GB, with what they wait for."""
NONE = 2**32 - 1
"""In place of an operation: there is none to wait for."""

Operations = NDArray[np.uint32]
"""Indices of operations, one a rank."""


class ScheduleBuilder:
    """Collects operations; each call adds one on each of the ranks given and returns their indices.

    `after` lists operations that must have ended before, as arrays of the shape of `ranks`; NONE stands for none.

    >>> import numpy as np
    >>> builder = ScheduleBuilder(3)
    >>> ranks = np.arange(3)
    >>> received = builder.receive(ranks, source=(ranks - 1) % 3, message_bytes=8)
    >>> sent = builder.send(ranks, to=(ranks + 1) % 3, message_bytes=8, after=[received])
    >>> len(builder.build().operations)
    6
    """

    def __init__(self, ranks: int, operations: int = 0) -> None:
        """Raises UsageError where there would be more operations than can be simulated.

        `operations` is how many there will be at most, where that is known before; each rank has one at least.
        """
        _refuse_more(max(ranks, operations))
        self.ranks = ranks
        self._size = 0
        self._operations: list[NDArray[Any]] = []
        self._dependencies: list[NDArray[Any]] = []

    def send(
        self,
        ranks: ArrayLike,
        *,
        to: ArrayLike,
        message_bytes: ArrayLike,
        tag: ArrayLike = 0,
        after: Sequence[Operations] = (),
    ) -> Operations:
        """A send of `message_bytes` to the rank `to` from each of `ranks`."""
        return self._add(SEND, ranks, to, message_bytes, tag, after)

    def receive(
        self,
        ranks: ArrayLike,
        *,
        source: ArrayLike,
        message_bytes: ArrayLike,
        tag: ArrayLike = 0,
        after: Sequence[Operations] = (),
    ) -> Operations:
        """A receive of `message_bytes` from the rank `source` (or ANY) on each of `ranks`."""
        return self._add(RECEIVE, ranks, source, message_bytes, tag, after)

    def calc(
        self, ranks: ArrayLike, *, duration_ns: ArrayLike, after: Sequence[Operations] = ()
    ) -> Operations:
        """A computation of `duration_ns` on each of `ranks`."""
        return self._add(CALC, ranks, 0, duration_ns, 0, after)

    def require(self, operations: Operations, ended: Operations) -> None:
        """Each of `operations` waits for that of `ended` in the same place; one of them may stand for all."""
        waiting, awaited = np.broadcast_arrays(operations, ended)
        made = np.empty(waiting.size, DEPENDENCY)
        made["operation"], made["on"] = waiting, awaited
        if np.any(ended == NONE):
            made = made[made["on"] != NONE]
        self._dependencies.append(made)

    def nothing_yet(self) -> Operations:
        """NONE for every rank, shape (ranks,): where an algorithm keeps what a rank did last."""
        return np.full(self.ranks, NONE, np.uint32)

    def build(self) -> Schedule:
        """The schedule of all that was added; the builder is empty afterwards, which spares memory."""
        operations = _joined(self._operations, OPERATION)
        dependencies = _joined(self._dependencies, DEPENDENCY)
        self._size = 0
        return Schedule(self.ranks, operations, dependencies)

    def _add(
        self,
        kind: int,
        ranks: ArrayLike,
        peers: ArrayLike,
        amount: ArrayLike,
        tag: ArrayLike,
        after: Sequence[Operations],
    ) -> Operations:
        rank_array = np.asarray(ranks)
        _refuse_more(self._size + rank_array.size)
        made = np.zeros(rank_array.size, OPERATION)
        made["amount"], made["rank"], made["peer"] = amount, rank_array, peers
        made["tag"], made["kind"] = tag, kind
        indices = np.arange(self._size, self._size + made.size, dtype=np.uint32)
        self._size += made.size
        self._operations.append(made)
        for required in after:
            self.require(indices, required)
        return indices


def _refuse_more(operations: int) -> None:
    refuse_more(
        "--ranks: operations of the schedule",
        operations,
        MOST_OPERATIONS,
        "take fewer ranks, or longer segments",
    )


def _joined(pieces: list[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """All pieces in one array; each is freed as soon as it is copied."""
    joined = np.empty(sum(piece.size for piece in pieces), dtype)
    end = joined.size
    while pieces:
        piece = pieces.pop()
        joined[end - piece.size : end] = piece
        end -= piece.size
    return joined
