"""A schedule's arrays, laid out as the simulator reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ANY = 2**32 - 1
"""A receive's peer or tag that matches every message's."""

SEND, RECEIVE, CALC = 0, 1, 2

OPERATION = np.dtype(
    [
        ("amount", "<u8"),  # bytes of a message, nanoseconds of a calc
        ("rank", "<u4"),
        ("peer", "<u4"),  # of a message; 0 for a calc
        ("tag", "<u4"),  # of a message; 0 for a calc
        ("kind", "u1"),  # SEND, RECEIVE or CALC
        ("cpu", "u1"),
        ("nic", "u1"),
        ("traffic", "u1"),  # of a send: a Traffic, where it is told
    ]
)
DEPENDENCY = np.dtype([("operation", "<u4"), ("on", "<u4")])
"""Indices of two operations of one rank."""


def _no_dependencies() -> NDArray[Any]:
    return np.empty(0, DEPENDENCY)


@dataclass(frozen=True)
class Schedule:
    """The operations of all ranks. Those of one rank stand in its order; ranks may stand in any order, and mixed.

    `operations` has the type OPERATION and the shape (operations,); `requires_end` and `requires_start` have the type
    DEPENDENCY and the shape (dependencies,): an operation may start when the other one has ended, or started.
    `lines` holds the line of each operation in the file it was read from, shape (operations,), if there is one.
    """

    ranks: int
    operations: NDArray[Any]
    requires_end: NDArray[Any] = field(default_factory=_no_dependencies)
    requires_start: NDArray[Any] = field(default_factory=_no_dependencies)
    lines: NDArray[np.uint32] | None = None

    def describe(self, operation: int) -> str:
        """An operation in the words of GOAL, with its rank and, where there is one, its line.

        >>> from chiplog.schedule import ScheduleBuilder
        >>> builder = ScheduleBuilder(2)
        >>> _ = builder.send([0], to=[1], message_bytes=8)
        >>> builder.build().describe(0)
        'rank 0: send 8b to 1 tag 0'
        """
        record = self.operations[operation]
        line = "" if self.lines is None else f", line {self.lines[operation]}"
        if record["kind"] == CALC:
            return f"rank {record['rank']}{line}: calc {record['amount']}"
        verb, preposition = ("send", "to") if record["kind"] == SEND else ("recv", "from")
        peer, tag = (
            -1 if value == ANY else int(value) for value in (record["peer"], record["tag"])
        )
        return f"rank {record['rank']}{line}: {verb} {record['amount']}b {preposition} {peer} tag {tag}"


def as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of a structured array as the native module takes it."""
    return np.ascontiguousarray(array).view(np.uint8)
