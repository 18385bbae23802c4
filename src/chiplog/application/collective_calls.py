"""Which calls of a trace are one collective operation: the k-th on a communicator, of each member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import JoinedCalls, Rows
from chiplog.tracing.trace import COLLECTIVES, ICOLLECTIVES

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
