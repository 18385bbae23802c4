"""What MPICH takes for a call from a tree of its, told step by step as csel.c does: tests of the communicator first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OF_THE_COMMUNICATOR = ("comm_type", "comm_size", "comm_hierarchy")
Call = Mapping[str, Any]
"""comm_size, avg_msg_size, ...: numbers; is_sendbuf_inplace, comm_hierarchy, ...: words; node_comm_size: a number."""


def taken(tree: Mapping[str, Any], call: Call) -> str:
    """The leaf."""
    at, is_searched = tree, False
    while True:
        (first, *_) = at
        if first.startswith(("algorithm=", "composition=")):
            return str(first)
        for key, below in at.items():
            if not key.startswith(OF_THE_COMMUNICATOR):
                is_searched = True  # and so is all below
            if _passes(key, call, is_searched):
                at = below
                break
        else:
            raise AssertionError(f"MPICH aborts: no branch of {list(at)} fits {dict(call)}")


def _passes(key: str, call: Call, is_searched: bool) -> bool:
    name, equals, word = key.partition("<=")
    if equals:
        return bool(call[name] <= int(word))
    name, less, word = key.partition("<")
    if less and word == "pow2":
        return bool(call[name] < 1 << (call["comm_size"].bit_length() - 1))
    if less:
        reaches = name == "comm_size" and is_searched  # csel.c compares with <= there
        return bool(call[name] <= int(word) if reaches else call[name] < int(word))
    name, _, word = key.partition("=")
    if word == "any":
        return True
    if word == "pow2":
        return call[name] & (call[name] - 1) == 0
    if word == "node_comm_size":
        return bool(call[name] == call["node_comm_size"])
    return bool(call[name] == word)
