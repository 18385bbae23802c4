"""Adds up what communication costs an application."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import CollectiveCalls, JoinedCalls, collective_calls, join
from chiplog.application.messages import Messages, match
from chiplog.application.result import AppResult, CallCosts, PairRow, RankCosts, SizeRow
from chiplog.application.waiting import Waiting, waiting_of
from chiplog.counts import counted
from chiplog.tracing.trace import (
    KINDS,
    NO_COMMUNICATOR,
    PARTS,
    Trace,
    full_name,
)

NS = 1e9
"""Given: nanoseconds of a second."""


def costs_of(trace: Trace) -> AppResult:
    """What communication costs the application of a trace."""
    joined = join(trace)
    messages, collectives = match(joined), collective_calls(joined)
    waiting = waiting_of(joined, messages, collectives)
    begin, end = joined.calls["begin_ns"], joined.calls["end_ns"]
    sent_bytes = joined.calls["sent_bytes"][messages.sends]
    pairs = _pairs(joined, messages, sent_bytes)
    return AppResult(
        trace.source,
        len(trace.ranks),
        float(end.max() - begin.min()) / NS if begin.size else 0.0,
        trace.has_times,
        _ranks(joined, messages, waiting),
        _calls(joined, waiting),
        _sizes(sent_bytes),
        pairs,
        (*trace.notes, *_notes(joined, messages, collectives)),
    )


def _ranks(joined: JoinedCalls, messages: Messages, waiting: Waiting) -> tuple[RankCosts, ...]:
    ranks = joined.trace.ranks
    received = joined.calls["received_bytes"].copy()
    received[messages.receives] = joined.calls["sent_bytes"][messages.sends]
    sends, receives = joined.sends_and_receives()

    def by_rank(values: NDArray[np.int64], rows: NDArray[np.bool_] | slice) -> list[int]:
        sums = np.zeros(len(ranks), np.int64)
        np.add.at(sums, joined.rank[rows], values[rows])
        return [int(value) for value in sums]

    kinds = (waiting.late_sender, waiting.late_receiver, waiting.collective)
    waits = zip(*(by_rank(kind, slice(None)) for kind in kinds), strict=True)
    bytes_sent = by_rank(joined.calls["sent_bytes"], sends)
    bytes_received = by_rank(received, receives)
    return tuple(
        RankCosts(
            rank.rank,
            rank.seconds,
            rank.mpi_seconds,
            rank.start_and_end_seconds,
            late_sender / NS,
            late_receiver / NS,
            collective / NS,
            sent,
            taken_in,
            rank.call_counts,
            rank.call_seconds,
            rank.is_complete,
        )
        for rank, (late_sender, late_receiver, collective), sent, taken_in in zip(
            ranks, waits, bytes_sent, bytes_received, strict=True
        )
    )


def _calls(joined: JoinedCalls, waiting: Waiting) -> tuple[CallCosts, ...]:
    """Rows that are no calls themselves belong to the call before them."""
    is_part = joined.of_kinds(*PARTS)
    counted = (~is_part).astype(np.int64)
    places = np.arange(is_part.size)
    kind = joined.calls["kind"][np.maximum.accumulate(np.where(is_part, 0, places))]
    both_bytes = joined.calls["sent_bytes"] + joined.calls["received_bytes"]
    columns = (counted, joined.durations_ns, waiting.all, both_bytes)
    sums = np.zeros((len(columns), len(KINDS)), np.int64)
    for values_of_kind, values in zip(sums, columns, strict=True):
        np.add.at(values_of_kind, kind, values)
    rows = [
        CallCosts(full_name(name), int(count), ns / NS, waited / NS, int(moved))
        for name, count, ns, waited, moved in zip(KINDS, *sums.tolist(), strict=True)
        if count
    ]
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.call)))


def _sizes(sent_bytes: NDArray[np.int64]) -> tuple[SizeRow, ...]:
    """By powers of two: 0 B, 1 B, 2 to 3 B, 4 to 7 B and so on."""
    powers = np.frexp(sent_bytes.astype(float))[1]
    rows = []
    for power in np.unique(powers).tolist():
        inside = sent_bytes[powers == power]
        rows.append(
            SizeRow(int(inside.min()), int(inside.max()), int(inside.size), int(inside.sum()))
        )
    return tuple(rows)


def _pairs(
    joined: JoinedCalls, messages: Messages, sent_bytes: NDArray[np.int64]
) -> tuple[PairRow, ...]:
    ranks = len(joined.trace.ranks)
    codes = joined.rank[messages.sends].astype(np.int64) * ranks + joined.rank[messages.receives]
    pairs, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    moved = np.zeros(pairs.size, np.int64)
    np.add.at(moved, place, sent_bytes)
    rows = [
        PairRow(pair // ranks, pair % ranks, count, total)
        for pair, count, total in zip(pairs.tolist(), counts.tolist(), moved.tolist(), strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.bytes, row.source, row.destination)))


def _notes(joined: JoinedCalls, messages: Messages, collectives: CollectiveCalls) -> list[str]:
    """What makes the numbers less sure than they look."""
    notes = list(joined.trace.unmodelled)
    cut = [str(rank.rank) for rank in joined.trace.ranks if not rank.is_complete]
    if cut:
        whose = f"rank {cut[0]}" if len(cut) == 1 else counted(len(cut), "rank")
        notes.append(f"the trace of {whose} ends before MPI_Finalize")
    lost = messages.lost_sends.size, messages.lost_receives.size
    if any(lost):
        notes.append(
            f"{counted(lost[0], 'send')} and {counted(lost[1], 'receive')} have no counterpart in the trace; no "
            "waiting is counted for them"
        )
    if collectives.unlike:
        notes.append(
            f"{counted(collectives.unlike, 'collective operation')} not called alike by all members; no waiting is "
            "counted there"
        )
    unknown = int(np.count_nonzero(joined.calls["communicator"] == NO_COMMUNICATOR))
    if unknown:
        notes.append(
            f"{counted(unknown, 'collective call')} traced without communicator; no waiting is counted there"
        )
    begin, end = joined.calls["begin_ns"], joined.calls["end_ns"]
    completion = joined.completed_by[messages.receives]
    there = completion >= 0
    early = begin[messages.sends[there]] - end[completion[there]]
    if np.any(early > 0):
        notes.append(
            f"{np.count_nonzero(early > 0)} of {early.size} messages are received before they are sent, by up to "
            f"{early.max() / 1e3:.3g} us: the ranks' clocks differ by as much"
        )
    return notes
