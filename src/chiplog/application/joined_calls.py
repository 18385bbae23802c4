"""The calls of all ranks in one array, with what completes each, and which of them are one collective operation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.tracing.trace import (
    CALL,
    COLLECTIVES,
    COMPLETIONS,
    ICOLLECTIVES,
    IRECEIVES,
    ISENDRECVS,
    ISENDS,
    RECEIVES,
    SENDRECV_RECEIVE,
    SENDRECVS,
    SENDS,
    STARTS,
    RankTrace,
    Trace,
    are_of_kinds,
    kinds,
)

NEVER = -1
"""Given: in place of the call that completes a request."""
Rows = NDArray[np.int64]
"""Indices of rows of `JoinedCalls.calls`."""


@dataclass(frozen=True)
class JoinedCalls:
    """Rows of the type CALL, those of a rank in its order, rank after rank; all arrays have the shape (rows,)."""

    trace: Trace
    calls: NDArray[Any]
    rank: NDArray[np.int32]
    completed_by: Rows
    """The row in which the call's message or collective is complete: the call itself where it blocks."""

    @cached_property
    def durations_ns(self) -> NDArray[np.int64]:
        """How long each call took."""
        return np.asarray(self.calls["end_ns"] - self.calls["begin_ns"])

    def of_kinds(self, *names: str) -> NDArray[np.bool_]:
        """Which rows are of these kinds."""
        return are_of_kinds(self.kind, *names)

    @cached_property
    def kind(self) -> NDArray[np.uint16]:
        """The kind of each row."""
        return np.ascontiguousarray(self.calls["kind"])

    def sends_and_receives(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows send a message, and which receive one; a persistent request does what its bytes say."""
        starts = self.of_kinds(*STARTS)
        sends = self.of_kinds(*SENDS, *ISENDS, *SENDRECVS, *ISENDRECVS)
        receives = self.of_kinds(*RECEIVES, *IRECEIVES, SENDRECV_RECEIVE)
        sends |= starts & (self.calls["sent_bytes"] > 0)
        return sends, receives | (starts & (self.calls["received_bytes"] > 0))


def join(trace: Trace) -> JoinedCalls:
    """All calls of a trace."""
    sizes = [rank.calls.size for rank in trace.ranks]
    firsts = np.cumsum([0, *sizes])[:-1]
    calls = np.concatenate([rank.calls for rank in trace.ranks]) if sizes else np.empty(0, CALL)
    return JoinedCalls(
        trace,
        calls,
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        np.concatenate(
            [
                _shifted(_completed_by(rank), first)
                for first, rank in zip(firsts.tolist(), trace.ranks, strict=True)
            ]
        ),
    )


def _shifted(rows: Rows, first: int) -> Rows:
    return np.where(rows == NEVER, NEVER, rows + first)


def _completed_by(rank: RankTrace) -> Rows:
    """For each call of a rank the call that completes it."""
    calls = rank.calls
    completed_by = np.arange(calls.size)
    has_requests = calls["requests"] > 0
    is_completion = are_of_kinds(calls["kind"], *COMPLETIONS)
    completes, starts = is_completion & has_requests, ~is_completion & has_requests
    completers = np.flatnonzero(completes)
    by_request = np.full(int(rank.requests.max(initial=-1)) + 1, NEVER)
    counts = calls["requests"][completers].astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(calls["first_request"][completers].astype(np.int64), counts) + within
    by_request[rank.requests[places]] = np.repeat(completers, counts)
    completed_by[starts] = by_request[rank.requests[calls["first_request"][starts]]]
    halves = np.flatnonzero(calls["kind"] == kinds(SENDRECV_RECEIVE)[0])
    completed_by[halves] = completed_by[halves - 1]
    return completed_by


BLOCKING = dict(zip((*COLLECTIVES, *ICOLLECTIVES), (*COLLECTIVES, *COLLECTIVES), strict=True))
"""The collective operation that a call begins, blocking or not."""


@dataclass(frozen=True)
class CollectiveCalls:
    """Rows of collective calls, by operation, shape (rows,)."""

    rows: Rows
    starts: Rows
    """Where each operation begins in `rows`, and their number at the end, shape (operations + 1,)."""
    unlike: int
    """Operations that are left out: not all members call them, or they call different ones."""


def collective_calls(joined: JoinedCalls) -> CollectiveCalls:
    """The collective operations in which all members of their communicator take part."""
    rows = np.flatnonzero(
        joined.of_kinds(*COLLECTIVES, *ICOLLECTIVES) & (joined.calls["communicator"] >= 0)
    )
    communicator, rank = joined.calls["communicator"][rows], joined.rank[rows]
    turns = _turns(communicator, rank)
    order = np.lexsort((rank, turns, communicator))
    rows, turns, communicator = rows[order], turns[order], communicator[order]
    begins = np.ones(rows.size, bool)
    begins[1:] = (turns[1:] != turns[:-1]) | (communicator[1:] != communicator[:-1])
    operation = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    sizes = np.diff(np.append(first, rows.size))
    members = np.array([len(group) for group in joined.trace.communicators] or [0])
    kind = joined.calls["kind"][rows]
    same_kind = np.ones(first.size, bool)
    np.logical_and.at(same_kind, operation, kind == kind[first][operation])
    like = same_kind & (sizes == members[communicator[first]])
    kept_sizes = sizes[like]
    return CollectiveCalls(
        rows[like[operation]],
        np.concatenate([[0], np.cumsum(kept_sizes)]).astype(np.int64),
        int((~like).sum()),
    )


def _turns(communicator: NDArray[np.int32], rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many collective calls a rank made on the communicator before each, shape (rows,)."""
    order = np.lexsort((rank, communicator))
    places = np.arange(rank.size)
    is_first = np.ones(rank.size, bool)
    ordered_rank, ordered_communicator = rank[order], communicator[order]
    is_first[1:] = (ordered_rank[1:] != ordered_rank[:-1]) | (
        ordered_communicator[1:] != ordered_communicator[:-1]
    )
    turns = np.empty(rank.size, np.int64)
    turns[order] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return turns
