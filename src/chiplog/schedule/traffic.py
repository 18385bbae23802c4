"""Which messages of a schedule cross others: what a rank sends while it receives may take longer than alone."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chiplog.schedule.arrays import RECEIVE, SEND, Schedule

_ODD = 0x9E3779B97F4A7C15
"""Given: makes a hash of an index by multiplication (Knuth, The Art of Computer Programming 3, 6.4)."""


class Traffic(IntEnum):
    """What the sender of a message does besides."""

    ALONE = 0
    """It receives nothing at once with it."""
    EXCHANGE = 1
    """It sends this message and receives another, as in MPI_Sendrecv."""
    BURST = 2  # Given: its number
    """It sends and receives several messages at once."""
    ACKNOWLEDGEMENT = 3  # Given: its number
    """It tells the sender of another message that this one is there."""


def crossing(messages: int) -> Traffic:
    """The Traffic of a rank that sends and receives so many messages at once."""
    return Traffic.EXCHANGE if messages == 1 else Traffic.BURST


def traffic_of(schedule: Schedule) -> NDArray[np.uint8]:
    """The Traffic of each operation, shape (operations,); ALONE of those that are no sends.

    Operations of a rank that wait for the same others begin at once.
    """
    operations = schedule.operations
    beginning = _beginnings(schedule)
    _, group = np.unique(beginning, return_inverse=True)
    sends = np.bincount(group, operations["kind"] == SEND)[group]
    receives = np.bincount(group, operations["kind"] == RECEIVE)[group]
    traffic = np.where((sends == 1) & (receives == 1), Traffic.EXCHANGE, Traffic.BURST)
    crosses = (operations["kind"] == SEND) & (receives > 0)
    return np.where(crosses, traffic, Traffic.ALONE).astype(np.uint8)


def _beginnings(schedule: Schedule) -> NDArray[np.uint64]:
    """A hash of the rank of each operation and of all that it waits for, shape (operations,)."""
    hashes = _hashed(schedule.operations["rank"])
    for kind, required in enumerate((schedule.requires_end, schedule.requires_start)):
        np.add.at(
            hashes, required["operation"], _hashed(2 * required["on"].astype(np.uint64) + kind)
        )
    return hashes


def _hashed(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(_ODD)
    mixed ^= mixed >> np.uint64(29)  # Given: halves of the hash are mixed
    return mixed * np.uint64(_ODD)
