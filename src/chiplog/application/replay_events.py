"""Which calls of a trace do what in its replay: those that begin something, and those that wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import JoinedCalls
from chiplog.application.replay_plan import NONE, Integers, ReplayPlan
from chiplog.tracing.trace import ICOLLECTIVES, IRECEIVES, ISENDS, SENDRECV_RECEIVE, STARTS


class Pieces(NamedTuple):
    """Runs of numbers one after the other: the runs' places, and the numbers; both of shape (numbers,)."""

    run: Integers
    number: Integers


def ranges(firsts: Integers, counts: Integers) -> Pieces:
    """From each first number on so many.

    >>> ranges(np.array([5, 0]), np.array([2, 1])).number.tolist()
    [5, 6, 0]
    """
    run = np.repeat(np.arange(counts.size), counts)
    within = np.arange(run.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return Pieces(run, firsts[run] + within)


@dataclass(frozen=True)
class ReplayEvents:
    """What the rows of the calls do. A Sendrecv's two messages begin at the row of its receiving half."""

    begins: NDArray[np.bool_]
    """Rows that begin messages or a collective operation, shape (rows,)."""
    goes_on: NDArray[np.bool_]
    """Those of them after which the rank goes on while they are under way."""
    is_pair: NDArray[np.bool_]
    """Those that begin the message of the row before, too."""
    waits: Integers
    """Rows that wait for what was begun, shape (waits,); a row stands there once for each that it waits for."""
    awaited: Integers
    """The row that began it, shape (waits,)."""
    waits_itself: NDArray[np.bool_]
    """Rows that begin messages and also wait for them, as a Sendrecv with `overlap`."""


def events_of(joined: JoinedCalls, plan: ReplayPlan, *, overlap: bool = False) -> ReplayEvents:
    """The events of a trace; with `overlap`, a Sendrecv begins its messages and waits for them separately."""
    is_half = joined.of_kinds(SENDRECV_RECEIVE)
    is_halved = np.zeros(is_half.size, bool)
    is_halved[:-1] = is_half[1:]
    has_counterpart = plan.tag != NONE
    begins = is_half | (has_counterpart & ~is_halved)
    starts = joined.of_kinds(*ISENDS, *IRECEIVES, *ICOLLECTIVES, *STARTS)
    requests = joined.calls["requests"].astype(np.int64)
    before = np.concatenate(([0], requests))[: requests.size]
    goes_on = begins & np.where(is_half, before > 0, starts)
    does_something = has_counterpart | (
        is_half & np.concatenate(([False], has_counterpart))[: is_half.size]
    )
    opens = goes_on & does_something
    named = np.flatnonzero(requests > 0)
    pieces = ranges(_first_requests(joined)[named], requests[named])
    rows = named[pieces.run]
    numbers = np.concatenate([rank.requests for rank in joined.trace.ranks])[pieces.number]
    owner = rows + is_halved[rows]
    completes = ~begins[owner] & ~is_halved[rows]
    waits, awaited = _matched(joined.rank[rows], numbers, owner, opens[owner], completes)
    waits_itself = is_half & ~goes_on & does_something & overlap
    itself = np.flatnonzero(waits_itself)
    return ReplayEvents(
        begins,
        goes_on | waits_itself,
        is_half,
        np.concatenate((waits, itself)),
        np.concatenate((awaited, itself)),
        waits_itself,
    )


def _first_requests(joined: JoinedCalls) -> Integers:
    """Where each row's requests begin among those of all ranks."""
    sizes = np.array([rank.requests.size for rank in joined.trace.ranks])
    before = np.cumsum(sizes) - sizes
    first: Integers = joined.calls["first_request"].astype(np.int64) + before[joined.rank]
    return first


def _matched(
    rank: NDArray[np.int32],
    number: Integers,
    row: Integers,
    opens: NDArray[np.bool_],
    completes: NDArray[np.bool_],
) -> tuple[Integers, Integers]:
    """Of each request that a row completes, the row that has begun it last, if no other has completed it since."""
    counts = opens | completes
    rank, number, row, opens = rank[counts], number[counts], row[counts], opens[counts]
    order = np.lexsort((row, number, rank))
    rank, number, row, opens = rank[order], number[order], row[order], opens[order]
    fits = np.zeros(row.size, bool)
    fits[1:] = (rank[1:] == rank[:-1]) & (number[1:] == number[:-1]) & opens[:-1] & ~opens[1:]
    at = np.flatnonzero(fits)
    in_order = np.argsort(row[at], kind="stable")
    return row[at][in_order], row[at - 1][in_order]
