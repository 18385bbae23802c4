"""How long trains are at one message size."""

from __future__ import annotations

LONG_TRAIN = 10
SHORT_TRAIN = 2
SECOND_TRAIN = 3
"""Of a delayed train that is taken beside one of more than twice that length: what the last message of a train does is
in both, and not in their difference. A train of 2 may end like a lone message, or not."""
RECEIVE_TRAIN = 4
"""Messages that a delayed server finds waiting: the wait for the first, two round trips, is the time of four messages
on the wire even where they share its bandwidth."""
TRAIN_BYTES = 128 * 1024
"""Trains get shorter where a whole one would be longer than this, so that bytes stay bounded."""
FEW_SENDS = 4
FLOOD_TRAIN = 32
FLOOD_BYTES = 1024 * 1024
WINDOW = 16
"""Messages of one-way pairs before an answer. The same at all sizes: where it changes, so does the time of a message,
which would look like a change of protocol."""


def train_length(message_bytes: int) -> int:
    """Messages in one train of `message_bytes` each: 10, and fewer (at least 2) for large ones."""
    return max(SHORT_TRAIN, min(LONG_TRAIN, TRAIN_BYTES // max(message_bytes, 1)))


def receive_train_length(message_bytes: int) -> int:
    """Messages that a delayed server receives in one round: 4, and 1 where they are large."""
    return RECEIVE_TRAIN if message_bytes <= TRAIN_BYTES else 1


def flood_length(message_bytes: int) -> int:
    """Messages in one flood of `message_bytes` each: 32, and fewer (at least 4) for large ones."""
    return max(FEW_SENDS, min(FLOOD_TRAIN, FLOOD_BYTES // max(message_bytes, 1)))
