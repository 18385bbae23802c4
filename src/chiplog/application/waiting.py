"""Waiting apart from transfer: how long each call waited for another rank that was late.

The wait states are those of Scalasca. Source: M. Geimer, F. Wolf, B. J. N. Wylie, E. Abraham, D. Becker, B. Mohr, "The
Scalasca performance toolset architecture", Concurrency and Computation: Practice and Experience 22 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import BLOCKING, NEVER, CollectiveCalls, JoinedCalls, Rows
from chiplog.application.messages import Messages
from chiplog.tracing.trace import KINDS, are_of_kinds

Nanoseconds = NDArray[np.int64]

FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
TO_ROOT = ("Reduce", "Gather", "Gatherv")
FROM_LOWER = ("Scan", "Exscan")
NOT_ALL_WAIT = tuple(kind for kind in KINDS if kind.startswith("Neighbor"))
"""Operations in which no rank need wait for all others."""


@dataclass(frozen=True)
class Waiting:
    """Of each row of the calls, in nanoseconds, shape (rows,); at most as long as the call."""

    late_sender: Nanoseconds
    """A receive, or what completes it, began before the message was sent."""
    late_receiver: Nanoseconds
    """A send, or what completes it, began before the receive was posted, and ended after that."""
    collective: Nanoseconds
    """Others were late in a collective operation."""

    @property
    def all(self) -> Nanoseconds:
        """All of it."""
        return self.late_sender + self.late_receiver + self.collective


def waiting_of(joined: JoinedCalls, messages: Messages, collectives: CollectiveCalls) -> Waiting:
    """How long each call waited for others."""
    begin, end = joined.calls["begin_ns"], joined.calls["end_ns"]
    late_sender = _longest(joined, messages.receives, begin[messages.sends])
    posted = begin[messages.receives]
    completion = joined.completed_by[messages.sends]
    blocked = (completion != NEVER) & (posted < end[completion])
    late_receiver = _longest(joined, messages.sends[blocked], posted[blocked])
    both = (late_sender > 0) & (late_receiver > 0)
    late_sender[both & (late_sender < late_receiver)] = 0
    late_receiver[both & (late_sender > 0)] = 0
    awaited = _awaited(joined, collectives)
    return Waiting(late_sender, late_receiver, _longest(joined, collectives.rows, awaited))


def _longest(joined: JoinedCalls, rows: Rows, until_ns: Nanoseconds) -> Nanoseconds:
    """How long the calls that complete `rows` waited until then; the longest of those that complete several."""
    completion = joined.completed_by[rows]
    there = completion != NEVER
    completion = completion[there]
    waited = until_ns[there] - joined.calls["begin_ns"][completion]
    waited = np.clip(waited, 0, joined.durations_ns[completion])
    longest = np.zeros(joined.calls.size, np.int64)
    np.maximum.at(longest, completion, waited)
    return longest


def _awaited(joined: JoinedCalls, collectives: CollectiveCalls) -> Nanoseconds:
    """When each collective call has all the ranks it waits for; where it waits for none, when it began."""
    begin = joined.calls["begin_ns"][collectives.rows]
    awaited = begin.copy()
    ranks, peers = joined.rank[collectives.rows], joined.calls["peer"][collectives.rows]
    kind = joined.kind[collectives.rows]
    firsts = collectives.starts[:-1]
    if not firsts.size:
        return awaited
    operation = np.repeat(np.arange(firsts.size), np.diff(collectives.starts))
    last = np.maximum.reduceat(begin, firsts)[operation]
    is_root = ranks == peers
    root_begin = np.maximum.reduceat(np.where(is_root, begin, np.iinfo(np.int64).min), firsts)
    from_root = _does(kind, FROM_ROOT) & ~is_root
    awaited[from_root] = np.maximum(begin, root_begin[operation])[from_root]
    to_root = _does(kind, TO_ROOT) & is_root
    awaited[to_root] = last[to_root]
    some = (*FROM_ROOT, *TO_ROOT, *FROM_LOWER, *NOT_ALL_WAIT)
    all_wait = ~_does(kind, some)
    awaited[all_wait] = last[all_wait]
    for at in np.flatnonzero(_does(kind[firsts], FROM_LOWER)).tolist():
        place = slice(collectives.starts[at], collectives.starts[at + 1])
        awaited[place] = np.maximum.accumulate(begin[place])
    return awaited


def _does(kind: NDArray[np.uint16], operations: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which calls begin one of these operations, blocking or not."""
    names = (name for name, operation in BLOCKING.items() if operation in operations)
    return are_of_kinds(kind, *names)
