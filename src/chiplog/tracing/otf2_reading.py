"""Reads an OTF2 archive and writes its trace to standard output: `python -m chiplog.tracing.otf2_reading ARCHIVE`.

It is started by `chiplog.tracing.importers.otf2`.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chiplog.errors import CorruptFile
from chiplog.tracing.builder import LARGEST_BYTES, LARGEST_NS, ImportedCall, RankBuilder
from chiplog.tracing.trace import (
    ICOLLECTIVES,
    IRECEIVES,
    NO_COMMUNICATOR,
    NOBODY,
    SENDRECV_RECEIVE,
    SENDRECVS,
    Trace,
)

PREFIX = "MPI_"
SENT_TO_EACH = ("Bcast", "Allreduce", "Allgather", "Allgatherv")
RECEIVED_FROM_EACH = ("Reduce", "Allreduce")
"""Score-P counts what a rank sends or receives here once for each rank of the communicator."""


@dataclass
class Otf2World:
    """What the definitions say of communicators."""

    rank_of: Mapping[int, int]
    """The rank of a process's location, by its number."""
    communicators: tuple[tuple[int, ...], ...]
    place_of: Mapping[int, int]
    """The place of a communicator in these, by its number."""

    def peer(self, communicator: Any, local: int) -> int:
        """The world rank of a rank of a communicator; CorruptFile where there is none."""
        members = self.communicators[self.place(communicator)]
        if not 0 <= local < len(members):
            raise CorruptFile(f"an event names rank {local} of a communicator of {len(members)}.")
        return members[local]

    def place(self, communicator: Any) -> int:
        """The place of a communicator."""
        return self.place_of.get(communicator._ref, 0)


class LocationCalls:
    """The calls of one location, from its events in their order."""

    def __init__(self, world: Otf2World, rank: int) -> None:
        self._world, self._rank = world, rank
        self._calls: list[ImportedCall] = []
        self._open: list[ImportedCall] = []
        """Rows of the call that the location is in; the first is the call itself."""
        self._depth = 0
        self._receives: dict[int, int] = {}
        """The rows of receives that are under way, by their requests."""
        self.is_complete = False

    def enter(self, name: str, time_ns: int) -> None:
        """A region begins; calls within calls are their parts."""
        if name.startswith(PREFIX):
            if not self._depth:
                kind = name[len(PREFIX) :]
                place = NO_COMMUNICATOR if kind in ICOLLECTIVES else 0
                self._open = [ImportedCall(kind, time_ns, communicator=place)]
            self._depth += 1

    def leave(self, name: str, time_ns: int) -> None:
        """A region ends."""
        if not name.startswith(PREFIX) or not self._depth:
            return
        self._depth -= 1
        if self._depth:
            return
        kind = self._open[0].kind
        self.is_complete |= kind == "Finalize"
        for at, row in enumerate(self._open):
            begin_ns = time_ns if at else row.begin_ns
            if row.kind in IRECEIVES and isinstance(row.starts, int):
                self._receives[row.starts] = len(self._calls)
            self._calls.append(replace(row, begin_ns=begin_ns, end_ns=time_ns))
        self._open = []

    def event(self, event: Any) -> None:
        """What happens within a call."""
        if not self._depth:
            return
        name = type(event).__name__
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(event)

    def _first(self, **changes: Any) -> None:
        self._open[0] = replace(self._open[0], **changes)

    def _sent(self, event: Any) -> dict[str, Any]:
        return {
            "peer": self._world.peer(event.communicator, event.receiver),
            "tag": _tag(event.msg_tag),
            "sent_bytes": _size(event.msg_length),
            "communicator": self._world.place(event.communicator),
        }

    def _received(self, event: Any) -> dict[str, Any]:
        return {
            "peer": self._world.peer(event.communicator, event.sender),
            "tag": _tag(event.msg_tag),
            "received_bytes": _size(event.msg_length),
            "communicator": self._world.place(event.communicator),
        }

    def _MpiSend(self, event: Any) -> None:
        self._first(**self._sent(event))

    def _MpiIsend(self, event: Any) -> None:
        self._first(**self._sent(event), starts=event.request_id)

    def _MpiRecv(self, event: Any) -> None:
        if self._open[0].kind in SENDRECVS:
            self._open.append(ImportedCall(SENDRECV_RECEIVE, **self._received(event)))
        else:
            self._first(**self._received(event))

    def _MpiIrecvRequest(self, event: Any) -> None:
        self._first(starts=event.request_id)

    def _MpiIrecv(self, event: Any) -> None:
        row = self._receives.pop(event.request_id, None)
        if row is not None:
            self._calls[row] = replace(self._calls[row], **self._received(event))
        elif self._open[0].starts == event.request_id:
            self._first(**self._received(event))
        self._completes(event)

    def _MpiIsendComplete(self, event: Any) -> None:
        self._completes(event)

    def _NonBlockingCollectiveRequest(self, event: Any) -> None:
        self._first(starts=event.request_id)

    def _NonBlockingCollectiveComplete(self, event: Any) -> None:
        self._completes(event)

    def _completes(self, event: Any) -> None:
        self._first(completes=(*self._open[0].completes, event.request_id))

    def _MpiCollectiveEnd(self, event: Any) -> None:
        members = self._world.communicators[self._world.place(event.communicator)]
        root = members[event.root] if 0 <= event.root < len(members) else NOBODY
        kind = self._open[0].kind
        sent, received = _size(event.size_sent), _size(event.size_received)
        self._first(
            peer=root,
            sent_bytes=sent // len(members) if kind in SENT_TO_EACH else sent,
            received_bytes=received // len(members) if kind in RECEIVED_FROM_EACH else received,
            communicator=self._world.place(event.communicator),
        )

    def build(self, start_ns: int) -> Any:
        """The trace of the rank."""
        builder = RankBuilder(self._rank)
        for call in self._calls:
            builder.add(call)
        return builder.build(shift_ns=-start_ns, is_complete=self.is_complete)

    @property
    def begin_ns(self) -> int | None:
        """The begin of its first call."""
        return self._calls[0].begin_ns if self._calls else None


def _size(number: int) -> int:
    if not 0 <= number <= LARGEST_BYTES:
        raise CorruptFile("an event moves more than 2^50 B.")
    return number


def _tag(number: int) -> int:
    """Tags are unsigned in OTF2."""
    return number - (1 << 32) if number >= 1 << 31 else number


def _world(definitions: Any, otf2: Any) -> Otf2World:
    """Ranks and communicators, from the groups of MPI's."""
    mpi = [group for group in definitions.groups if group.paradigm == otf2.Paradigm.MPI]
    all_locations = [group for group in mpi if group.group_type == otf2.GroupType.COMM_LOCATIONS]
    if not all_locations or not len(all_locations[0].members):
        raise CorruptFile("the archive names no ranks of MPI.")
    rank_of = {location._ref: rank for rank, location in enumerate(all_locations[0].members)}
    communicators = [tuple(range(len(rank_of)))]
    place_of: dict[int, int] = {}
    for communicator in definitions.comms:
        group = communicator.group
        if group.paradigm != otf2.Paradigm.MPI or group.group_type != otf2.GroupType.COMM_GROUP:
            continue
        members = tuple(rank_of[location._ref] for location in group.members)
        is_world = members == communicators[0] and 0 not in place_of.values()
        place_of[communicator._ref] = 0 if is_world else len(communicators)
        communicators += [] if is_world else [members]
    return Otf2World(rank_of, tuple(communicators), place_of)


def read_archive(path: str) -> Trace:
    """The trace of an archive; CorruptFile, and what OTF2's reader raises, where it can't be understood."""
    otf2 = importlib.import_module("otf2")
    with otf2.reader.open(path) as archive:
        world = _world(archive.definitions, otf2)
        clock = archive.definitions.clock_properties
        calls = {ref: LocationCalls(world, rank) for ref, rank in world.rank_of.items()}
        for location, event in archive.events:
            state = calls.get(location._ref)
            if state is None:
                continue
            if isinstance(event, otf2.events.Enter | otf2.events.Leave):
                time_ns = (
                    (event.time - clock.global_offset) * 1_000_000_000 // clock.timer_resolution
                )
                if abs(time_ns) > LARGEST_NS:
                    raise CorruptFile("an event is more than 36 years after the begin.")
                change = state.enter if isinstance(event, otf2.events.Enter) else state.leave
                change(event.region.name, time_ns)
            else:
                state.event(event)
        hosts = tuple(_host(archive.definitions.locations[ref]) for ref in world.rank_of)
    begins = [state.begin_ns for state in calls.values() if state.begin_ns is not None]
    start_ns = min(begins, default=0)
    ranks = tuple(state.build(start_ns) for state in calls.values())
    return Trace(ranks, world.communicators, hosts, "OTF2")


def _host(location: Any) -> str:
    node = location.group.system_tree_parent
    return str(node.name) if node is not None else ""


def main() -> int:
    """Writes the trace, or the sentence why there is none."""
    try:
        trace = read_archive(sys.argv[1])
    except CorruptFile as error:
        print(error, file=sys.stderr)
        return error.exit_code
    sys.stdout.buffer.write(pickle.dumps(trace))
    return 0


if __name__ == "__main__":
    sys.exit(main())
