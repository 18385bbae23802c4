"""What stands for each call of a trace in its replay: a message, or the steps of a collective algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chiplog.application.collective_calls import BLOCKING, CollectiveCalls
from chiplog.application.collective_templates import (
    OPERATION_OF,
    Step,
    Template,
    message_bytes_of,
    template,
)
from chiplog.application.joined_calls import JoinedCalls
from chiplog.application.messages import Messages
from chiplog.counts import counted
from chiplog.tracing.trace import KINDS

ROOTED = ("bcast", "reduce", "gather", "scatter")
KEEP_TIME = ("Win_", "Put", "Get", "Neighbor", "Ineighbor", "Accumulate", "Comm_")
"""How calls begin that are not replayed, but take as long as they did."""


@dataclass(frozen=True)
class PlannedCollective:
    """A collective operation of a trace, and what stands for it."""

    template: Template
    members: tuple[int, ...]
    """World ranks."""
    root: int
    """The place of the root among them."""
    first_tag: int

    def steps_of(self, rank: int) -> tuple[Step, ...]:
        """What a world rank does."""
        return self.template.steps[(self.members.index(rank) - self.root) % len(self.members)]

    def world_rank(self, rank: int) -> int:
        """The world rank of a rank of the algorithm."""
        return self.members[(rank + self.root) % len(self.members)]


@dataclass(frozen=True)
class ReplayPlan:
    """By rows of the calls."""

    tags: dict[int, int]
    """Of those that send or receive: the tag of the message, which no other message has."""
    peers: dict[int, int]
    """Of those: the world rank at the other end."""
    message_bytes: dict[int, int]
    sends: frozenset[int]
    """Those of them that send."""
    collectives: dict[int, PlannedCollective]
    algorithms: dict[str, str]
    """By MPI's function, what stands for it."""
    notes: tuple[str, ...]


def plan_replay(
    joined: JoinedCalls, messages: Messages, collectives: CollectiveCalls
) -> ReplayPlan:
    """What stands for the calls of a trace."""
    sends, receives = messages.sends.tolist(), messages.receives.tolist()
    ranks = joined.rank.tolist()
    sizes = joined.calls["sent_bytes"][messages.sends].tolist()
    tags, peers, message_bytes = {}, {}, {}
    for tag, (send, receive, size) in enumerate(zip(sends, receives, sizes, strict=True)):
        tags[send] = tags[receive] = tag
        peers[send], peers[receive] = ranks[receive], ranks[send]
        message_bytes[send] = message_bytes[receive] = size
    planned = _planned(joined, collectives, len(sends))
    names = {
        BLOCKING[KINDS[joined.calls["kind"][row]]]: collective
        for row, collective in planned.items()
    }
    return ReplayPlan(
        tags,
        peers,
        message_bytes,
        frozenset(sends),
        planned,
        {
            f"MPI_{name}": f"{OPERATION_OF[name]}, {collective.template.algorithm}"
            for name, collective in sorted(names.items())
        },
        _notes(joined, messages),
    )


def _planned(
    joined: JoinedCalls, collectives: CollectiveCalls, tag: int
) -> dict[int, PlannedCollective]:
    """By the rows of their calls; those that have no counterpart here are left out."""
    calls, starts = joined.calls, collectives.starts.tolist()
    planned: dict[int, PlannedCollective] = {}
    for start, end in pairwise(starts):
        rows = collectives.rows[start:end]
        call = calls[rows[0]]
        name = BLOCKING[KINDS[call["kind"]]]
        if name not in OPERATION_OF:
            continue
        members = joined.trace.communicators[call["communicator"]]
        size = message_bytes_of(name, calls["sent_bytes"][rows], calls["received_bytes"][rows])
        chosen = template(OPERATION_OF[name], len(members), size)
        root = int(call["peer"]) if OPERATION_OF[name] in ROOTED else members[0]
        place = members.index(root) if root in members else 0
        collective = PlannedCollective(chosen, members, place, tag)
        planned.update(dict.fromkeys(rows.tolist(), collective))
        tag += chosen.tags
    return planned


def _notes(joined: JoinedCalls, messages: Messages) -> tuple[str, ...]:
    """What is not replayed."""
    lost = messages.lost_sends.size + messages.lost_receives.size
    notes = [
        f"{counted(lost, 'send or receive', 'sends and receives')} without counterpart left out"
    ] * bool(lost)
    kept = [f"MPI_{name}" for name in KINDS if name.startswith(KEEP_TIME)]
    called = {f"MPI_{KINDS[kind]}" for kind in np.unique(joined.calls["kind"]).tolist()}
    local = ("MPI_Comm_rank", "MPI_Comm_size")
    named = [name for name in kept if name in called and name not in local]
    if named:
        notes.append(f"the times of {', '.join(named[:4])} are kept as traced")
    return tuple(notes)
