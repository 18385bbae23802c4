"""Which receive gets which message: by communicator, source, destination and tag, in order, as MPI has it."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import JoinedCalls, Rows
from chiplog.tracing.trace import ANY_TAG, ANYBODY, NOBODY


@dataclass(frozen=True)
class Messages:
    """The messages that were sent and received, by the rows of their sends and receives, each of shape (messages,).

    `lost_sends` and `lost_receives` have no counterpart, as at the end of a trace that was cut.
    """

    sends: Rows
    receives: Rows
    lost_sends: Rows
    lost_receives: Rows


def match(joined: JoinedCalls) -> Messages:
    """The messages of a trace.

    Receives of any source or tag, whose message the trace does not name, get the one that was sent first.
    """
    calls = joined.calls
    is_send, is_receive = joined.sends_and_receives()
    sends = np.flatnonzero(is_send & (calls["peer"] != NOBODY))
    receives = np.flatnonzero(is_receive & (calls["peer"] != NOBODY))
    ranks = len(joined.trace.ranks)
    wild = (calls["peer"][receives] == ANYBODY) | (calls["tag"][receives] == ANY_TAG)
    places = calls["communicator"].astype(np.int64) * ranks
    places_of_receives = places[receives] + joined.rank[receives]
    places_of_sends = places[sends] + calls["peer"][sends]
    wild_places = np.unique(places_of_receives[wild])
    by_hand = np.isin(places_of_sends, wild_places), np.isin(places_of_receives, wild_places)
    exact = _in_order(joined, sends[~by_hand[0]], receives[~by_hand[1]])
    greedy = _first_sent(joined, sends[by_hand[0]], receives[by_hand[1]])
    matched = np.concatenate([exact, greedy], axis=1)
    matched = matched[:, np.argsort(matched[0], kind="stable")]
    return Messages(
        matched[0],
        matched[1],
        np.setdiff1d(sends, matched[0], assume_unique=True),
        np.setdiff1d(receives, matched[1], assume_unique=True),
    )


def _in_order(joined: JoinedCalls, sends: Rows, receives: Rows) -> NDArray[np.int64]:
    """The k-th send of a key with its k-th receive: rows of both, shape (2, messages)."""
    calls, rank = joined.calls, joined.rank
    columns = [
        np.concatenate([calls["communicator"][sends], calls["communicator"][receives]]),
        np.concatenate([rank[sends], calls["peer"][receives]]),
        np.concatenate([calls["peer"][sends], rank[receives]]),
        np.concatenate([calls["tag"][sends], calls["tag"][receives]]),
    ]
    return _kth_with_kth(columns, sends, receives)


def _kth_with_kth(columns: list[NDArray[Any]], sends: Rows, receives: Rows) -> NDArray[np.int64]:
    """Pairs those that agree in all columns, which are of the sends and then of the receives.

    In a stable order by the columns, the sends of a group stand before its receives, each in their own order.
    """
    order = _stable_order(columns)
    if not order.size:
        return np.empty((2, 0), np.int64)
    is_first = np.zeros(order.size, bool)
    is_first[0] = True
    for column in columns:
        ordered = column[order]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, order.size))
    is_send = order < sends.size
    sent = np.add.reduceat(is_send.astype(np.int64), starts)
    pairs = np.minimum(sent, sizes - sent)
    within = np.arange(int(pairs.sum())) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    at = np.repeat(starts, pairs) + within
    of_receives = order[at + np.repeat(sent, pairs)] - sends.size
    return np.stack([sends[order[at]], receives[of_receives]])


def _stable_order(columns: list[NDArray[Any]]) -> NDArray[np.int64]:
    """As np.lexsort, by one number for all columns where they have room in it."""
    key = np.zeros(columns[0].size, np.int64)
    room = 1
    for column in columns:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        room *= high - low + 1
        if room > np.iinfo(np.int64).max:
            return np.lexsort(columns)
        key = key * (high - low + 1) + (column.astype(np.int64) - low)
    return np.argsort(key, kind="stable")


def _first_sent(joined: JoinedCalls, sends: Rows, receives: Rows) -> NDArray[np.int64]:
    """As `_in_order`, where some receives take a message of any source or tag, in the order of posting."""
    calls, rank = joined.calls, joined.rank.tolist()
    queues: dict[tuple[int, int], dict[tuple[int, int], deque[int]]] = defaultdict(dict)
    for row in sends.tolist():
        call = calls[row]
        place = int(call["communicator"]), int(call["peer"])
        queues[place].setdefault((rank[row], int(call["tag"])), deque()).append(row)
    matched: list[tuple[int, int]] = []
    for row in receives.tolist():
        call = calls[row]
        source, tag = int(call["peer"]), int(call["tag"])
        waiting = queues[int(call["communicator"]), rank[row]]
        if source != ANYBODY and tag != ANY_TAG:
            fitting = [waiting[source, tag]] if waiting.get((source, tag)) else []
        else:
            fitting = [
                queue
                for (sender, sent_tag), queue in waiting.items()
                if queue and source in (sender, ANYBODY) and tag in (sent_tag, ANY_TAG)
            ]
        if fitting:
            first = min(fitting, key=lambda queue: int(calls["begin_ns"][queue[0]]))
            matched.append((first.popleft(), row))
    return np.array(matched, np.int64).reshape(-1, 2).T
