"""What stands for each call of a trace in its replay: a message, or the steps of a collective algorithm."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from chiplog.application.collective_calls import BLOCKING, CollectiveCalls
from chiplog.application.collective_templates import Step, Template, message_bytes_of, template
from chiplog.application.joined_calls import JoinedCalls
from chiplog.application.messages import Messages
from chiplog.collectives.mpis.choice import OPERATIONS, AlgorithmChoice, Chooser, CollectiveCall
from chiplog.counts import counted
from chiplog.tracing.trace import ICOLLECTIVES, KINDS, STARTS_AND_ENDS

ROOTED = ("bcast", "reduce", "gather", "scatter")
MOST_NAMED = 4
"""Algorithms that a note names."""
KEEP_TIME = ("Win_", "Put", "Get", "Neighbor", "Ineighbor", "Accumulate", "Comm_")
"""How calls begin that are not replayed, but take as long as they did."""


@dataclass(frozen=True)
class PlannedCollective:
    """A collective operation of a trace, and what stands for it."""

    call: CollectiveCall
    choice: AlgorithmChoice
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
    joined: JoinedCalls, messages: Messages, collectives: CollectiveCalls, choose: Chooser
) -> ReplayPlan:
    """What stands for the calls of a trace, with the algorithms that `choose` says."""
    sends, receives = messages.sends.tolist(), messages.receives.tolist()
    ranks = joined.rank.tolist()
    sizes = joined.calls["sent_bytes"][messages.sends].tolist()
    tags, peers, message_bytes = {}, {}, {}
    for tag, (send, receive, size) in enumerate(zip(sends, receives, sizes, strict=True)):
        tags[send] = tags[receive] = tag
        peers[send], peers[receive] = ranks[receive], ranks[send]
        message_bytes[send] = message_bytes[receive] = size
    planned = _planned(joined, collectives, len(sends), choose)
    return ReplayPlan(
        tags,
        peers,
        message_bytes,
        frozenset(sends),
        planned,
        _algorithms(planned),
        (*_notes(joined, messages), *_nearest(joined, planned)),
    )


def _planned(
    joined: JoinedCalls, collectives: CollectiveCalls, tag: int, choose: Chooser
) -> dict[int, PlannedCollective]:
    """By the rows of their calls; those that have no counterpart here are left out."""
    calls, starts = joined.calls, collectives.starts.tolist()
    hosts = joined.trace.hosts
    nodes = [
        len({hosts[rank] for rank in group if rank >= 0}) if hosts and all(hosts) else 0
        for group in joined.trace.communicators
    ]
    planned: dict[int, PlannedCollective] = {}
    for start, end in pairwise(starts):
        rows = collectives.rows[start:end]
        first = calls[rows[0]]
        name = KINDS[first["kind"]]
        function = BLOCKING[name].lower()
        if function not in OPERATIONS:
            continue
        members = joined.trace.communicators[first["communicator"]]
        size = message_bytes_of(function, calls["sent_bytes"][rows], calls["received_bytes"][rows])
        call = CollectiveCall(function, len(members), size, nodes[first["communicator"]])
        choice = _own_nonblocking(choose(call)) if name in ICOLLECTIVES else choose(call)
        chosen = template(call, choice)
        root = int(first["peer"]) if call.operation in ROOTED else members[0]
        place = members.index(root) if root in members else 0
        collective = PlannedCollective(call, choice, chosen, members, place, tag)
        planned.update(dict.fromkeys(rows.tolist(), collective))
        tag += chosen.tags
    return planned


def _own_nonblocking(choice: AlgorithmChoice) -> AlgorithmChoice:
    """MPIs have algorithms of their own for non-blocking calls, whose choice is not known here."""
    return replace(choice, native="non-blocking one", is_nearest=True) if choice.native else choice


def _mpi_name(function: str) -> str:
    return f"MPI_{function.capitalize()}"


def _algorithms(planned: dict[int, PlannedCollective]) -> dict[str, str]:
    """By MPI's function, the operation and its algorithms, the most frequent first."""
    counts: dict[str, Counter[str]] = {}
    operations: dict[str, str] = {}
    for collective in planned.values():
        name = _mpi_name(collective.call.function)
        operations[name] = collective.call.operation
        counts.setdefault(name, Counter())[collective.template.algorithm] += 1
    return {
        name: f"{operations[name]}, {' or '.join(way for way, _ in counts[name].most_common())}"
        for name in sorted(counts)
    }


def _nearest(joined: JoinedCalls, planned: dict[int, PlannedCollective]) -> list[str]:
    """Which algorithms of the MPI have no schedule, with their share of the traced time in MPI."""
    near = {row: it for row, it in planned.items() if it.choice.is_nearest and it.call.ranks > 1}
    if not near:
        return []
    durations = joined.durations_ns
    ways: dict[str, int] = {}
    for row, collective in near.items():
        way = f"{_mpi_name(collective.call.function)}'s {collective.choice.native} as {collective.template.algorithm}"
        ways[way] = ways.get(way, 0) + int(durations[row])
    is_local = joined.of_kinds(*STARTS_AND_ENDS)
    total = int(durations[~is_local].sum())
    share = f" ({100 * sum(ways.values()) / total:.2g} % of the time in MPI)" if total else ""
    named = sorted(ways, key=lambda way: (-ways[way], way))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    listed = ", ".join(named[:MOST_NAMED])
    return [f"the nearest algorithm stands for those without a schedule{share}: {listed}{more}"]


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
