"""What stands for each call of a trace in its replay: a message, or the steps of a collective algorithm."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog.application.collective_templates import Moved, Template, message_bytes_of, template
from chiplog.application.joined_calls import BLOCKING, CollectiveCalls, JoinedCalls
from chiplog.application.messages import Messages
from chiplog.collectives.mpis.choice import OPERATIONS, AlgorithmChoice, Chooser, CollectiveCall
from chiplog.counts import counted
from chiplog.schedule import ANY
from chiplog.tracing.trace import ICOLLECTIVES, KINDS, STARTS_AND_ENDS

ROOTED = ("bcast", "reduce", "gather", "scatter")
MOST_NAMED = 4
"""Given: algorithms that a note names."""
KEEP_TIME = ("Win_", "Put", "Get", "Neighbor", "Ineighbor", "Accumulate", "Comm_")
"""How calls begin that are not replayed, but take as long as they did."""
NONE = -1
"""Given: the number of no way to replay a call."""
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PlannedCollective:
    """What stands for collective operations of one function, size and root on a communicator."""

    call: CollectiveCall
    choice: AlgorithmChoice
    template: Template
    members: tuple[int, ...]
    """World ranks."""
    root: int
    """The place of the root among them."""

    def place_of(self, rank: int) -> int:
        """The rank of the algorithm that a world rank is."""
        return (self.members.index(rank) - self.root) % len(self.members)

    def world_rank(self, rank: int) -> int:
        """The world rank of a rank of the algorithm; any rank stays any."""
        return rank if rank == ANY else self.members[(rank + self.root) % len(self.members)]


@dataclass(frozen=True)
class ReplayPlan:
    """By rows of the calls, each array of the shape (rows,)."""

    tag: Integers
    """Of those that send or receive: the tag of the message, which no other message has; else NONE."""
    peer: Integers
    """Of those: the world rank at the other end."""
    message_bytes: Integers
    is_send: NDArray[np.bool_]
    planned: tuple[PlannedCollective, ...]
    way: Integers
    """Of collective calls: which of `planned` stands for it; else NONE. Its tags begin with `tag`."""
    algorithms: dict[str, str]
    """By MPI's function, what stands for it."""
    notes: tuple[str, ...]


def plan_replay(
    joined: JoinedCalls, messages: Messages, collectives: CollectiveCalls, choose: Chooser
) -> ReplayPlan:
    """What stands for the calls of a trace, with the algorithms that `choose` says."""
    rows = joined.calls.size
    tag, way = (np.full(rows, NONE, np.int64) for _ in range(2))
    peer, message_bytes = (np.zeros(rows, np.int64) for _ in range(2))
    is_send = np.zeros(rows, bool)
    sends, receives = messages.sends, messages.receives
    tag[sends] = tag[receives] = np.arange(sends.size)
    peer[sends], peer[receives] = joined.rank[receives], joined.rank[sends]
    message_bytes[sends] = message_bytes[receives] = joined.calls["sent_bytes"][sends]
    is_send[sends] = True
    planned, way_of_operation = _planned(joined, collectives, choose)
    tags = np.array([each.template.tags for each in planned] or [0])[way_of_operation]
    tags[way_of_operation == NONE] = 0
    counts = np.diff(collectives.starts)
    way[collectives.rows] = np.repeat(way_of_operation, counts)
    first_tag = sends.size + np.cumsum(tags) - tags
    is_planned = way[collectives.rows] != NONE
    tag[collectives.rows[is_planned]] = np.repeat(first_tag, counts)[is_planned]
    named = planned, np.bincount(way[way != NONE], minlength=len(planned)).tolist()
    notes = (*_notes(joined, messages), *_nearest(joined, planned, way))
    return ReplayPlan(tag, peer, message_bytes, is_send, planned, way, _algorithms(*named), notes)


def _planned(
    joined: JoinedCalls, collectives: CollectiveCalls, choose: Chooser
) -> tuple[tuple[PlannedCollective, ...], Integers]:
    """What stands for collective operations, and for each which of these; NONE for those without counterpart here."""
    firsts = collectives.rows[collectives.starts[:-1]]
    if not firsts.size:
        return (), np.empty(0, np.int64)
    calls, sums = joined.calls, Moved.of(joined.calls[collectives.rows], collectives.starts[:-1])
    columns = (joined.kind[firsts], calls["communicator"][firsts], calls["peer"][firsts], *sums)
    alike, which = np.unique(np.stack(columns).astype(np.int64), axis=1, return_inverse=True)
    planned: list[PlannedCollective] = []
    known: dict[tuple[object, ...], int] = {}
    places = []
    for kind, communicator, root, *moved in alike.T.tolist():
        each = _plan_of(joined, KINDS[kind], communicator, root, Moved(*moved), choose)
        if each is None:
            places.append(NONE)
            continue
        place = known.setdefault((communicator, each.call, each.choice, each.root), len(planned))
        planned += [each] * (place == len(planned))
        places.append(place)
    return tuple(planned), np.array(places)[which.ravel()]


def _plan_of(
    joined: JoinedCalls, name: str, communicator: int, root: int, moved: Moved, choose: Chooser
) -> PlannedCollective | None:
    function = BLOCKING[name].lower()
    if function not in OPERATIONS:
        return None
    members = joined.trace.communicators[communicator]
    size = message_bytes_of(function, len(members), moved)
    call = CollectiveCall(function, len(members), size, _nodes(joined.trace.hosts, members))
    choice = _own_nonblocking(choose(call)) if name in ICOLLECTIVES else choose(call)
    first = root if call.operation in ROOTED else members[0]
    place = members.index(first) if first in members else 0
    return PlannedCollective(call, choice, template(call, choice), members, place)


def _nodes(hosts: tuple[str, ...], members: tuple[int, ...]) -> int:
    """On how many nodes they are; 0 where that is not known."""
    if not hosts or not all(hosts):
        return 0
    return len({hosts[rank] for rank in members if rank >= 0})


def _own_nonblocking(choice: AlgorithmChoice) -> AlgorithmChoice:
    """MPIs have algorithms of their own for non-blocking calls, whose choice is not known here."""
    return replace(choice, native="non-blocking one", is_nearest=True) if choice.native else choice


def _mpi_name(function: str) -> str:
    return f"MPI_{function.capitalize()}"


def _algorithms(planned: tuple[PlannedCollective, ...], counts: list[int]) -> dict[str, str]:
    """By MPI's function, the operation and its algorithms, the most frequent first."""
    ways: dict[str, Counter[str]] = {}
    operations: dict[str, str] = {}
    for collective, count in zip(planned, counts, strict=True):
        name = _mpi_name(collective.call.function)
        operations[name] = collective.call.operation
        ways.setdefault(name, Counter())[collective.template.algorithm] += count
    return {
        name: f"{operations[name]}, {' or '.join(way for way, _ in ways[name].most_common())}"
        for name in sorted(ways)
    }


def _nearest(
    joined: JoinedCalls, planned: tuple[PlannedCollective, ...], way: Integers
) -> list[str]:
    """Which algorithms of the MPI have no schedule, with their share of the traced time in MPI."""
    durations = joined.durations_ns
    is_planned = way != NONE
    spent = np.bincount(way[is_planned], durations[is_planned], len(planned)).tolist()
    ways: dict[str, float] = {}
    for collective, ns in zip(planned, spent, strict=True):
        if collective.choice.is_nearest and collective.call.ranks > 1:
            name = _mpi_name(collective.call.function)
            text = f"{name}'s {collective.choice.native} as {collective.template.algorithm}"
            ways[text] = ways.get(text, 0.0) + ns
    if not ways:
        return []
    total = int(durations[~joined.of_kinds(*STARTS_AND_ENDS)].sum())
    share = f" ({100 * sum(ways.values()) / total:.2g} % of the time in MPI)" if total else ""
    named = sorted(ways, key=lambda text: (-ways[text], text))
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
