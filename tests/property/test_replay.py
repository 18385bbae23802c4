"""The schedule of a trace is what it is when it is made call by call, whatever the calls."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_by_hand import ReplayByHand
from trace_files import trace_of

from chiplog.application.replay import schedule_of
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.trace import ANYBODY, SENDRECV_RECEIVE, STARTALL_START

KINDS = (
    *("Send", "Recv", "Isend", "Irecv", "Sendrecv", "Isendrecv", "Start", "Startall", "Wait"),
    *("Waitall", "Waitall", "Bcast", "Exscan", "Iallreduce", "Ibarrier", "Comm_dup"),
)


class DrawnRank:
    """Calls of a rank that need not fit those of others; requests are used again, or never made."""

    def __init__(self, dice: random.Random, rank: int, ranks: int) -> None:
        self.dice, self.rank, self.ranks = dice, rank, ranks
        self.calls: list[ImportedCall] = []
        self.now, self.made = 0, 0
        for _ in range(dice.randrange(20)):
            self._call(dice.choice(KINDS))

    def _request(self) -> int:
        self.made += 1
        return self.dice.randrange(self.made + 1)

    def _call(self, kind: str) -> None:
        dice = self.dice
        self.now += dice.choice((0, 0, 10, 1000))
        begin, self.now = self.now, self.now + dice.choice((0, 5))
        times = begin, self.now
        peer, tag = dice.randrange(self.ranks), dice.randrange(2)
        starts = self._request() if kind.startswith(("I", "Start")) else None
        communicator = dice.choice((0, 1)) if self.rank < 2 else 0
        sizes = dice.choice(((8, 0), (0, 8)))
        if kind in ("Sendrecv", "Isendrecv"):
            self.calls.append(ImportedCall(kind, *times, peer, tag, 8, 0, starts=starts))
            half = dice.randrange(self.ranks), dice.randrange(2)
            self.calls.append(ImportedCall(SENDRECV_RECEIVE, self.now, self.now, *half, 0, 8))
        elif kind == "Startall":
            self.calls.append(ImportedCall(kind, *times))
            self.calls.append(
                ImportedCall(STARTALL_START, begin, begin, peer, tag, *sizes, starts=starts)
            )
        elif kind == "Start":
            self.calls.append(ImportedCall(kind, *times, peer, tag, *sizes, starts=starts))
        elif kind.startswith("Wait"):
            several = 1 if kind == "Wait" else dice.randrange(5)
            awaited = tuple(dice.randrange(self.made + 1) for _ in range(several))
            self.calls.append(ImportedCall(kind, *times, completes=awaited))
        elif kind in ("Bcast", "Exscan", "Iallreduce", "Ibarrier", "Comm_dup"):
            root = dice.randrange(2)
            self.calls.append(
                ImportedCall(kind, *times, root, 0, 8, 8, communicator=communicator, starts=starts)
            )
        else:
            gives = kind.lower().endswith("send")
            other = peer if gives else dice.choice((peer, ANYBODY))
            self.calls.append(
                ImportedCall(kind, *times, other, tag, 8 * gives, 8 * (not gives), starts=starts)
            )


@settings(max_examples=500, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_schedule_made_at_once_is_the_one_made_call_by_call(seed: int) -> None:
    dice = random.Random(seed)
    ranks = dice.randrange(2, 6)
    drawn = [DrawnRank(dice, rank, ranks).calls for rank in range(ranks)]
    trace = trace_of(*drawn, communicators=[(1, 0)])
    by_hand, schedule = ReplayByHand(trace), schedule_of(trace).schedule
    columns = [schedule.operations[name] for name in ("amount", "rank", "peer", "tag", "kind")]
    assert np.stack(columns, axis=1).tolist() == [
        list(operation) for operation in by_hand.operations
    ]
    assert set(schedule.requires_end.tolist()) == by_hand.ends
    assert set(schedule.requires_start.tolist()) == by_hand.starts
