"""liballprof's text, of LogGOPSim's tool chain: `MPI_NAME:start:arguments:end`, times in microseconds, a file a rank.

The arguments are those of MPI's C functions, in their order; a datatype is `id,size,extent`, a communicator
`id,rank,size`, and what is passed by address is an address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from chiplog.errors import CorruptFile
from chiplog.outside import as_float
from chiplog.tracing.builder import LARGEST_NS, Fields, ImportedCall, RankBuilder, fields_of
from chiplog.tracing.importer import TraceImporter, TraceOptions
from chiplog.tracing.liballprof_arguments import (
    DESTINATION_KINDS,
    SOURCE_KINDS,
    WILDCARDS,
    WORLD,
    AllprofCall,
    AllprofRank,
    Arguments,
    Key,
    any_source,
    arguments_of,
    members,
)
from chiplog.tracing.text_files import all_ranks_there, files_of_ranks, head_of, lines_and_ends
from chiplog.tracing.trace import (
    ANYBODY,
    COLLECTIVES,
    ICOLLECTIVES,
    NOBODY,
    SENDRECV_RECEIVE,
    SENDRECVS,
    RankTrace,
    Trace,
)

FILES = re.compile(r".*?(?P<rank>\d{1,7})\.txt(?:\.gz)?")
SIGN = re.compile(r"(?:#.*\r?\n|\s*\n)*MPI_\w+:(?:-|\d+(?:\.\d+)?):")
TIME = re.compile(r"(\d{1,16})(?:\.(\d{1,9}))?")
LAST_LINE = re.compile(r"MPI_Finalize:[\d.]+:.*-")
"""Of a program that has ended by itself; another line without an end was being written when it was killed."""
CLOCK = re.compile(r"# Init clockdiff: (\S+)")
HOST = re.compile(r"# host: (\S+)")
MAKES_COMMUNICATORS = ("Comm_dup", "Comm_split", "Comm_create", "Cart_create", "Cart_sub")
INT_BYTES, POINTER_BYTES = 4, 8
"""Given: what a request is in MPIs."""
NS_DIGITS = 3
"""Derived: digits of nanoseconds behind the point of a time in us."""
MOST_KNOWN = 100_000
"""Given: different arguments that are kept."""
CLOCK_NOTE = "clocks are corrected by their differences as measured in MPI_Init"


class PointedRequests:
    """Requests by their addresses: in an array they lie 4 B apart with MPICH, 8 B with Open MPI."""

    def __init__(self) -> None:
        self._open: dict[int, None] = {}
        self._step_bytes = POINTER_BYTES

    def start(self, address: int) -> int:
        """Notes a request that is started."""
        self._open[address] = None
        return address

    def complete(self, first: int, count: int) -> tuple[int, ...]:
        """The open ones of an array of `count` requests, which are completed."""
        if count > 1 and first + INT_BYTES in self._open:
            self._step_bytes = INT_BYTES
        end = first + count * self._step_bytes
        completed = tuple(address for address in self._open if first <= address < end)
        for address in completed:
            del self._open[address]
        return completed


def _recognises(place: Path) -> bool:
    """Does the file, or one of the first in the folder, begin as liballprof's?"""
    paths = [place]
    if place.is_dir():
        paths = [path for path in sorted(place.iterdir()) if FILES.fullmatch(path.name)][:3]
    return any(SIGN.match(head_of(path)) for path in paths)


def _read(place: Path, options: TraceOptions) -> Trace:
    """The trace of all ranks whose files stand in one folder."""
    files = files_of_ranks(place, FILES)
    if not files:
        raise CorruptFile(
            f"{place}: its name does not end with its rank, as in pmpi-trace-rank-0.txt."
        )
    ranks = [_read_rank(rank, path) for rank, path in enumerate(all_ranks_there(files, place))]
    groups = members(ranks, place)
    wildcard = any_source(ranks, place) if options.any_source is None else options.any_source
    start_ns = min(call.times_ns[0] + rank.clock_ns for rank in ranks for call in rank.calls)
    return Trace(
        tuple(_build(rank, groups, wildcard, start_ns) for rank in ranks),
        tuple(groups.values()),
        tuple(rank.host for rank in ranks),
        "liballprof",
        (CLOCK_NOTE,) if any(rank.clock_ns for rank in ranks) else (),
    )


def _read_rank(rank: int, path: Path) -> AllprofRank:
    found = AllprofRank(rank, path)
    reader = CallReader(found)
    for number, line, has_end in lines_and_ends(path):
        if not has_end and not LAST_LINE.fullmatch(line):
            break
        if line.startswith("#"):
            _read_comment(found, line, f"{path}, line {number}")
        elif line and not line.isspace():
            reader.read(line, number)
    if not found.calls:
        raise CorruptFile(f"{path}: holds no call.")
    return found


def _read_comment(found: AllprofRank, line: str, where: str) -> None:
    if match := HOST.match(line):
        found.host = match[1]
    elif match := CLOCK.match(line):
        difference_us = as_float(match[1])
        if difference_us is None or abs(difference_us) > LARGEST_NS / 1e6:
            raise CorruptFile(f"{where}: the difference of clocks '{match[1][:40]}' is no time.")
        found.clock_ns = round(difference_us * 1e3)


class CallReader:
    """Reads the calls of a rank. Those with the same arguments share what these say."""

    def __init__(self, found: AllprofRank) -> None:
        self._found = found
        self._requests = PointedRequests()
        self._last_begin_ns = 0
        self._known: dict[tuple[str, str], tuple[tuple[ImportedCall, ...], Arguments]] = {}

    def read(self, line: str, number: int) -> None:
        """Adds the call of a line."""
        name, _, rest = line.strip().partition(":")
        start, _, rest = rest.partition(":")
        arguments, _, end = rest.rpartition(":")
        where = f"{self._found.path}, line {number}"
        if not name.startswith("MPI_") or not end:
            raise CorruptFile(f"{where}: '{line[:40]}' is no call: MPI_NAME:start:arguments:end.")
        times_ns = _times_ns(name, start, end, where)
        if times_ns[0] < self._last_begin_ns:
            raise CorruptFile(
                f"{where}: {name} begins before the call above it: lines are out of order, or the clock went back."
            )
        self._last_begin_ns = times_ns[0]
        known = self._known.get((name, arguments))
        if known is None:
            known = self._rows(name[4:], arguments, where)
            if len(self._known) < MOST_KNOWN:
                self._known[name, arguments] = known
        rows, given = known
        kind, numbers = rows[0].kind, given.numbers
        starts: int | None = None
        completes: tuple[int, ...] = ()
        if kind in ("Wait", "Waitall"):
            count = max(0, numbers.get("count", 1))
            completes = self._requests.complete(numbers["request"], count)
        elif "request" in numbers:
            starts = self._requests.start(numbers["request"])
        elif kind in MAKES_COMMUNICATORS:
            self._found.colours.append(numbers.get("color"))
        self._found.is_complete |= kind == "Finalize"
        self._found.calls.append(AllprofCall(rows, times_ns, starts, completes))

    def _rows(self, kind: str, text: str, where: str) -> tuple[tuple[ImportedCall, ...], Arguments]:
        """The rows of a call with these arguments."""
        given = arguments_of(kind, text.split(":") if text else [], where)
        if given.communicator is not None:
            number, local, size = given.communicator
            known = self._found.communicators.setdefault(number, (local, size))
            if known != (local, size):
                raise CorruptFile(
                    f"{where}: communicator {number} has another size or rank than before."
                )
        call = ImportedCall(kind, communicator=given.numbers.get("comm", WORLD))
        return _rows(call, given), given


def _times_ns(name: str, start: str, end: str, where: str) -> tuple[int, int]:
    """Begin and end; MPI_Init has the end only, MPI_Finalize the start only."""
    times = []
    for text in (start, end):
        match = TIME.fullmatch(text)
        if match:
            times.append(
                int(match[1]) * 1000 + int((match[2] or "0").ljust(NS_DIGITS, "0")[:NS_DIGITS])
            )
        elif text != "-":
            raise CorruptFile(f"{where}: '{text[:40]}' is no time in us.")
    if not times or times[-1] < times[0]:
        raise CorruptFile(f"{where}: {name} {'ends before it begins' if times else 'has no time'}.")
    return times[0], times[-1]


def _rows(call: ImportedCall, given: Arguments) -> tuple[ImportedCall, ...]:
    """The call with what its arguments say; a Sendrecv is two rows.

    Of Waitany, Test and the like the trace does not say what they completed.
    """
    kind, numbers = call.kind, given.numbers
    if kind in COLLECTIVES or kind in ICOLLECTIVES:
        sent, received = given.collective_bytes(kind)
        root = numbers.get("root", NOBODY)
        return (replace(call, peer=root, sent_bytes=sent, received_bytes=received),)
    rows: tuple[ImportedCall, ...] = (call,)
    if "dest" in numbers:
        sent = given.bytes()
        rows = (replace(call, peer=numbers["dest"], tag=numbers["tag"], sent_bytes=sent),)
    if "source" in numbers:
        received = given.bytes("2") if "count2" in numbers else given.bytes()
        source = replace(call, peer=numbers["source"], tag=numbers.get("tag2", numbers["tag"]))
        source = replace(source, received_bytes=received)
        if kind not in SENDRECVS:
            return (source,)
        rows = (*rows, replace(source, kind=SENDRECV_RECEIVE))
    return rows


def _build(
    found: AllprofRank, groups: Mapping[Key, tuple[int, ...]], wildcard: int | None, start_ns: int
) -> RankTrace:
    """The rank's trace, with world ranks in place of ranks in communicators."""
    index = {key: place for place, key in enumerate(groups)}
    builder = RankBuilder(found.rank)
    known: dict[int, tuple[Fields, ...]] = {}
    for call in found.calls:
        fields = known.get(id(call.rows))
        if fields is None:
            fields = tuple(
                fields_of(_in_world(row, found, groups, index, wildcard)) for row in call.rows
            )
            known[id(call.rows)] = fields
        builder.add_fields(fields[0], call.times_ns, call.starts, call.completes)
        for part in fields[1:]:
            builder.add_fields(part, (call.times_ns[1], call.times_ns[1]))
    return builder.build(shift_ns=found.clock_ns - start_ns, is_complete=found.is_complete)


def _in_world(
    row: ImportedCall,
    found: AllprofRank,
    groups: Mapping[Key, tuple[int, ...]],
    index: Mapping[Key, int],
    wildcard: int | None,
) -> ImportedCall:
    """A row with world ranks in place of ranks in its communicator."""
    key = found.key(row.communicator)
    peer = _peer(row, groups[key], wildcard, found.path)
    row = replace(row, communicator=index[key], peer=peer)
    if peer == NOBODY and row.kind in (*SOURCE_KINDS, *DESTINATION_KINDS):
        return replace(row, sent_bytes=0, received_bytes=0)
    return row


def _peer(call: ImportedCall, group: tuple[int, ...], wildcard: int | None, path: Path) -> int:
    """The world rank of a peer; MPI_PROC_NULL is nobody, and gets nothing."""
    if call.peer >= 0:
        if call.peer >= len(group):
            raise CorruptFile(
                f"{path}: MPI_{call.kind} names rank {call.peer} of a communicator of {len(group)}."
            )
        return group[call.peer]
    if call.kind in SOURCE_KINDS and call.peer == wildcard:
        return ANYBODY
    if call.peer not in WILDCARDS:
        raise CorruptFile(f"{path}: MPI_{call.kind} names rank {call.peer}.")
    return NOBODY


LIBALLPROF = TraceImporter(
    name="liballprof",
    summary="text of liballprof",
    recognises=_recognises,
    read=_read,
)
