"""Which messages of a schedule cross others, or meet others at their receiver: they may take longer than alone."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chiplog.schedule.arrays import ANY, CALC, RECEIVE, SEND, Schedule

_ODD = 0x9E3779B97F4A7C15
"""Given: makes a hash of an index by multiplication (Knuth, The Art of Computer Programming 3, 6.4)."""


class Traffic(IntEnum):
    """What a message meets on its way."""

    ALONE = 0
    """Its sender receives nothing at once with it."""
    EXCHANGE = 1
    """Its sender sends this message and receives another, as in MPI_Sendrecv."""
    BURST = 2  # Given: its number
    """Its sender sends and receives several messages at once."""
    INCAST = 3  # Given: its number
    """Its sender sends nothing else and receives nothing; its receiver receives from others at once."""
    ACKNOWLEDGEMENT = 4  # Given: its number
    """It tells the sender of another message that this one is there."""
    CONFIRMATION = 5  # Given: its number
    """It ends a send whose receiver's library has said that it has the message, which is ALONE.

    Those of messages of other MEASURED_TRAFFIC have the numbers behind it, in the same order.
    """


MEASURED_TRAFFIC = (Traffic.ALONE, Traffic.EXCHANGE, Traffic.BURST, Traffic.INCAST)
"""The kinds of traffic that patterns measure; no pattern measures acknowledgements."""


def are_confirmations(schedule: Schedule) -> NDArray[np.bool_]:
    """Which operations are the two ends of confirmations, shape (operations,)."""
    is_confirmation: NDArray[np.bool_] = schedule.operations["traffic"] >= Traffic.CONFIRMATION
    return is_confirmation


def crossing(messages: int) -> Traffic:
    """The Traffic of a rank that sends and receives so many messages at once."""
    return Traffic.EXCHANGE if messages == 1 else Traffic.BURST


def meeting(senders: int) -> Traffic:
    """The Traffic of messages of so many senders to one rank."""
    return Traffic.INCAST if senders > 1 else Traffic.ALONE


def traffic_of(schedule: Schedule) -> NDArray[np.uint8]:
    """The Traffic of each operation, shape (operations,); ALONE of those that are no sends, or that meet others only.

    Operations of a rank that wait for the same others begin at once.
    """
    operations = schedule.operations
    group = _groups(schedule)
    is_message = (operations["kind"] == SEND) & ~are_confirmations(schedule)
    sends = np.bincount(group, is_message)[group]
    receives = np.bincount(group, operations["kind"] == RECEIVE)[group]
    traffic = np.where((sends == 1) & (receives == 1), Traffic.EXCHANGE, Traffic.BURST)
    crosses = (operations["kind"] == SEND) & (receives > 0)
    return np.where(crosses, traffic, Traffic.ALONE).astype(np.uint8)


def incasts_of(schedule: Schedule) -> NDArray[np.bool_]:
    """Which operations are sends that are an INCAST, shape (operations,).

    None where receives take messages of any rank or tag: nothing tells which ones, before they run.
    """
    operations = schedule.operations
    incasts = np.zeros(operations.size, np.bool_)
    kinds = np.where(are_confirmations(schedule), CALC, operations["kind"])
    sends, receives = (np.flatnonzero(kinds == kind) for kind in (SEND, RECEIVE))
    taken = operations[receives]
    if sends.size != receives.size or np.any((taken["peer"] == ANY) | (taken["tag"] == ANY)):
        return incasts
    group = _groups(schedule)
    pairs = np.unique(np.stack([group[receives], taken["peer"]]), axis=1)
    senders = np.bincount(pairs[0], minlength=operations.size)
    sent, received = (
        order[np.lexsort((order, operations["tag"][order], *ends))]
        for order, ends in (
            (sends, (operations["rank"][sends], operations["peer"][sends])),
            (receives, (operations["peer"][receives], operations["rank"][receives])),
        )
    )
    busy = np.bincount(group, kinds != CALC)
    incasts[sent] = (senders[group[received]] > 1) & (busy[group[sent]] == 1)
    return incasts


def _groups(schedule: Schedule) -> NDArray[np.intp]:
    """A number for each operation, the same of those that begin at once."""
    return np.unique(_beginnings(schedule), return_inverse=True)[1]


def _beginnings(schedule: Schedule) -> NDArray[np.uint64]:
    """A hash of the rank of each operation and of all that it waits for, shape (operations,)."""
    hashes = _hashed(_hashed(schedule.operations["rank"]))  # once more than an operation's number
    for kind, required in enumerate((schedule.requires_end, schedule.requires_start)):
        np.add.at(
            hashes, required["operation"], _hashed(2 * required["on"].astype(np.uint64) + kind)
        )
    return hashes


def _hashed(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(_ODD)
    mixed ^= mixed >> np.uint64(29)  # Given: halves of the hash are mixed
    return mixed * np.uint64(_ODD)
