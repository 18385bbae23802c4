"""What a message is made of on the wire, and how it is handed over: the names that run files and options use."""

from __future__ import annotations

from collections.abc import Mapping

SEND = "send"
OPERATIONS: Mapping[str, str] = {
    SEND: "a message, sent and received",
    "rdma-write": "a write into the peer's memory, noticed there by its last byte",
    "rdma-write-immediate": "a write that also completes at the peer, with immediate data",
    "rdma-read": "a read of the peer's memory",
    "atomic": "a fetch-and-add of 8 bytes in the peer's memory",
}
ONE_SIDED = frozenset({"rdma-write", "rdma-read", "atomic"})
"""Operations in which the CPU of the peer has no part: o_r is 0."""
PASSIVE = frozenset({"rdma-read", "atomic"})
"""Operations of which the peer learns nothing: they can't carry a message."""
ATOMIC = "atomic"
ATOMIC_BYTES = 8
"""Given: a fetch-and-add is of one 64-bit word."""

NORMAL, INLINE, LIST = "normal", "inline", "list"
POSTINGS: Mapping[str, str] = {
    NORMAL: "a call for each",
    INLINE: "the payload goes with the request, so that its buffer is free at once",
    LIST: "one call for several",
}
UNKNOWN_WAYS = frozenset({("rdma-read", INLINE), (ATOMIC, INLINE)})
"""What no network has: these carry no payload that could go with the request."""


def operation_text(operation: str, posting: str = NORMAL) -> str:
    """An operation and, where it is not the normal one, its posting.

    >>> operation_text("rdma-write", "inline")
    'rdma-write, inline'
    """
    return operation if posting == NORMAL else f"{operation}, {posting}"
