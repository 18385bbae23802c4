"""What each rank has heard of, from a schedule alone: a message carries what its send has waited for, and no more.

A set of ranks is a whole number in which rank r has bit r.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

from chiplog.schedule.arrays import ANY, RECEIVE, SEND, Schedule


@dataclass(frozen=True)
class Message:
    source: int
    target: int
    bytes: int
    carries: int  # ranks whose data may be in it
    known_before: int  # by the operations that the receive has waited for, and the target's own


@dataclass(frozen=True)
class Flow:
    known: tuple[int, ...]  # by each rank in the end
    messages: tuple[Message, ...]

    def received_bytes(self, rank: int) -> int:
        return sum(one.bytes for one in self.messages if one.target == rank)

    @property
    def total_bytes(self) -> int:
        return sum(one.bytes for one in self.messages)


def partners(schedule: Schedule) -> dict[int, int]:
    """The send that each receive gets, in order; those of any source take whatever else is left."""
    sends: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    wild: dict[int, deque[int]] = defaultdict(deque)
    found: dict[int, int] = {}
    operations = schedule.operations.tolist()
    for index, (_, rank, peer, tag, kind, *_rest) in enumerate(operations):
        if kind == SEND:
            sends[rank, peer, tag].append(index)
    for index, (_, rank, peer, tag, kind, *_rest) in enumerate(operations):
        if kind == RECEIVE and peer == ANY:
            wild[rank].append(index)
        elif kind == RECEIVE:
            found[index] = sends[peer, rank, tag].popleft()
    for (_, target, _), left in sends.items():
        for send in left:
            found[wild[target].popleft()] = send
    assert not any(wild.values())
    return found


def flow_of(schedule: Schedule) -> Flow:
    """Goes through the operations as their requirements are met; AssertionError where they never are."""
    operations = schedule.operations.tolist()
    send_of = partners(schedule)
    needs: list[list[int]] = [[] for _ in operations]
    for operation, on in schedule.requires_end.tolist():
        needs[operation].append(on)
    waits_for = [
        [*required, send_of[index]] if index in send_of else required
        for index, required in enumerate(needs)
    ]
    waiting = defaultdict(list)
    for index, required in enumerate(waits_for):
        for one in required:
            waiting[one].append(index)
    missing = [len(required) for required in waits_for]
    ready = deque(index for index, count in enumerate(missing) if count == 0)
    known = [0] * len(operations)
    at_end = [1 << rank for rank in range(schedule.ranks)]
    messages, done = [], 0
    while ready:
        index = ready.popleft()
        done += 1
        amount, rank, _, _, kind, *_rest = operations[index]
        before = 1 << rank
        for one in needs[index]:
            before |= known[one]
        known[index] = before
        if kind == RECEIVE:
            carried = known[send_of[index]]
            source = operations[send_of[index]][1]
            assert operations[send_of[index]][0] == amount
            messages.append(Message(source, rank, amount, carried, before))
            known[index] = before | carried
        at_end[rank] |= known[index]
        for one in waiting[index]:
            missing[one] -= 1
            if missing[one] == 0:
                ready.append(one)
    assert done == len(operations)
    return Flow(tuple(at_end), tuple(messages))


def popcounts(ranks: int) -> np.ndarray:
    """How many bits are set in 0, 1, …, shape (ranks,)."""
    return np.array([rank.bit_count() for rank in range(ranks)])
