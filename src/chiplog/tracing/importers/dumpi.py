"""DUMPI's binary traces, of SST's tools: a file a rank, big-endian records of calls with their arguments.

A record has no length, so that a call whose arguments are not in `FORMS` ends the reading; it is named then.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chiplog.errors import CorruptFile
from chiplog.input_file import MOST_DATA_BYTES, open_input
from chiplog.tracing.builder import LARGEST_BYTES, ImportedCall, RankBuilder
from chiplog.tracing.dumpi_records import DumpiStream, Record
from chiplog.tracing.importer import TraceImporter, TraceOptions
from chiplog.tracing.text_files import all_ranks_there, files_of_ranks
from chiplog.tracing.trace import (
    ANYBODY,
    COLLECTIVES,
    NOBODY,
    SENDRECV_RECEIVE,
    SENDRECVS,
    Trace,
)

FILES = re.compile(r".*-(?P<rank>\d{4,7})\.bin")
MAGIC = b"\xff\xaa\xdd\x44UMPI"
INDEX = struct.Struct(">8s7Q")
"""The magic, and where the sizes of datatypes, addresses, counters, header, body, footer and keys begin."""
ANY_SOURCE, WORLD, SELF, NULLS = -1, 2, 3, (-2, -3)
"""Given: the numbers of constants of MPI in these files."""
ROOTED = ("Bcast", "Reduce", "Gather", "Gatherv", "Scatter", "Scatterv")


def _files(place: Path) -> dict[int, Path]:
    """The files of a run: of a folder, or of the `.meta` or a file that is named, those that begin alike."""
    files = files_of_ranks(place, FILES)
    if place.is_dir():
        return files
    prefix = place.stem if place.suffix == ".meta" else place.name.rpartition("-")[0]
    return {rank: path for rank, path in files.items() if path.name.startswith(f"{prefix}-")}


def _recognises(place: Path) -> bool:
    if place.is_file() and place.suffix not in (".meta", ".bin"):
        return False
    files = _files(place)
    return any(_begins_right(path) for path in list(files.values())[:3])


def _begins_right(path: Path) -> bool:
    with open(path, "rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


@dataclass
class DumpiRank:
    """What a file holds."""

    rank: int
    path: Path
    records: list[Record]
    type_bytes: Sequence[int]
    host: str = ""
    communicators: dict[int, int] = field(default_factory=lambda: {WORLD: 0})
    """Places of communicators, by the numbers that this rank has for them."""


def _read(place: Path, _: TraceOptions) -> Trace:
    """The trace of all ranks whose files stand in one folder."""
    ranks = [
        _read_rank(rank, path) for rank, path in enumerate(all_ranks_there(_files(place), place))
    ]
    members = _communicators(ranks)
    start_ns = min((record.begin_ns for rank in ranks for record in rank.records), default=0)
    built = []
    for rank in ranks:
        builder = RankBuilder(rank.rank)
        for record in rank.records:
            for call in _rows(rank, record, members):
                builder.add(call)
        is_complete = any(record.kind == "Finalize" for record in rank.records)
        built.append(builder.build(shift_ns=-start_ns, is_complete=is_complete))
    return Trace(tuple(built), tuple(members), tuple(rank.host for rank in ranks), "DUMPI")


def _read_rank(rank: int, path: Path) -> DumpiRank:
    with open_input(path, MOST_DATA_BYTES) as stream:
        content = stream.read()
    if len(content) < 2 * INDEX.size or not content.startswith(MAGIC):
        raise CorruptFile(f"{path}: is no whole file of DUMPI: it is too short.")
    magic, sizes, _, _, header, body, *_ = INDEX.unpack_from(content, len(content) - INDEX.size)
    if magic != MAGIC:
        raise CorruptFile(
            f"{path}: has no index at its end: it was cut, or is of DUMPI before 0.6.6."
        )
    reader = DumpiStream(content, str(path))
    if body < len(MAGIC) or max(sizes, header, body) > len(content):
        raise CorruptFile(f"{path}: its index points behind its end.")
    type_bytes = reader.integers_at(sizes) if sizes else []
    host = reader.host_at(header) if header else ""
    return DumpiRank(rank, path, reader.records(body), type_bytes, host)


def _communicators(ranks: Sequence[DumpiRank]) -> list[tuple[int, ...]]:
    """The members of all communicators: of the world, and of those that were duplicated or split off from others."""
    members: list[tuple[int, ...]] = [tuple(range(len(ranks)))]
    for rank in ranks:
        rank.communicators[SELF] = len(members)
        members.append((rank.rank,))
    made = [
        [record for record in rank.records if record.kind in ("Comm_dup", "Comm_split")]
        for rank in ranks
    ]
    places = [0] * len(ranks)
    groups: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    turns: dict[tuple[int, int], int] = {}
    while any(place < len(records) for place, records in zip(places, made, strict=True)):
        groups.clear()
        for rank, records in zip(ranks, made, strict=True):
            if places[rank.rank] < len(records):
                record = records[places[rank.rank]]
                old = rank.communicators.get(record.number("oldcomm"), -1)
                turn = turns.get((rank.rank, old), 0)
                key = (old, turn, record.numbers.get("color", 0))
                groups.setdefault(key, []).append(
                    (record.numbers.get("key", 0), rank.rank, record.number("newcomm"))
                )
        if not _make(ranks, members, groups, turns, places):
            raise CorruptFile(
                f"{ranks[0].path.parent}: the ranks do not make communicators alike: is a file missing?"
            )
    return members


def _make(
    ranks: Sequence[DumpiRank],
    members: list[tuple[int, ...]],
    groups: dict[tuple[int, int, int], list[tuple[int, int, int]]],
    turns: dict[tuple[int, int], int],
    places: list[int],
) -> bool:
    """Makes the communicators whose parents' members are all there; were there any?"""
    made = False
    by_call: dict[tuple[int, int], int] = {}
    for (old, turn, _), group in groups.items():
        by_call[old, turn] = by_call.get((old, turn), 0) + len(group)
    for (old, turn, _), group in groups.items():
        if old < 0 or by_call[old, turn] != len(members[old]):
            continue
        made = True
        members.append(tuple(rank for _, rank, _ in sorted(group)))
        for _, rank, number in group:
            ranks[rank].communicators[number] = len(members) - 1
            turns[rank, old] = turn + 1
            places[rank] += 1
    return made


def _rows(
    rank: DumpiRank, record: Record, members: Sequence[tuple[int, ...]]
) -> list[ImportedCall]:
    """The call of a record; a Sendrecv is two rows."""
    numbers = record.numbers
    place = rank.communicators.get(numbers.get("comm", WORLD))
    if place is None:
        raise CorruptFile(
            f"{rank.path}: MPI_{record.kind} uses a communicator that was made neither by MPI_Comm_dup nor by "
            "MPI_Comm_split; others are not read in DUMPI's traces."
        )
    group = members[place]
    sent, received = _bytes(rank, record, len(group))
    call = ImportedCall(record.kind, record.begin_ns, record.end_ns, communicator=place)
    if record.kind in COLLECTIVES:
        peer = _peer(rank, record, numbers["root"], group) if record.kind in ROOTED else NOBODY
        return [replace(call, peer=peer, sent_bytes=sent, received_bytes=received)]
    if "request" in numbers or "requests" in numbers:
        call = _with_requests(call, record)
    rows = [call]
    if "dest" in numbers:
        peer = _peer(rank, record, numbers["dest"], group)
        sent = sent if peer != NOBODY else 0
        rows = [replace(call, peer=peer, tag=numbers["tag"], sent_bytes=sent)]
    if "source" in numbers:
        named = numbers["source"]
        if named == ANY_SOURCE and len(record.sources) == 1:
            named = record.sources[0]
        peer = ANYBODY if named == ANY_SOURCE else _peer(rank, record, named, group)
        received = received if peer != NOBODY else 0
        source = replace(call, peer=peer, tag=numbers.get("tag2", numbers["tag"]))
        source = replace(source, received_bytes=received)
        if record.kind not in SENDRECVS:
            return [source]
        rows.append(replace(source, kind=SENDRECV_RECEIVE, begin_ns=record.end_ns))
    return rows


def _with_requests(call: ImportedCall, record: Record) -> ImportedCall:
    """The call with the request that it starts, or those that it completes."""
    if call.kind in ("Wait", "Waitall", "Waitsome"):
        named = record.arrays.get("requests", (record.number("request"),))
        if call.kind == "Waitsome":
            done = (at for at in record.arrays["indices"] if 0 <= at < len(named))
            return replace(call, completes=tuple(named[at] for at in done))
        return replace(call, completes=named)
    return replace(call, starts=record.numbers["request"])


def _peer(rank: DumpiRank, record: Record, local: int, group: tuple[int, ...]) -> int:
    """The world rank of a rank of a communicator; MPI_PROC_NULL is nobody."""
    if local in NULLS or local == ANY_SOURCE:
        return NOBODY
    if not 0 <= local < len(group):
        raise CorruptFile(
            f"{rank.path}: MPI_{record.kind} names rank {local} of a communicator of {len(group)}."
        )
    return group[local]


def _bytes(rank: DumpiRank, record: Record, ranks: int) -> tuple[int, int]:
    """Bytes of the two buffers; where there is one, it is both. User's datatypes have no size in older traces."""
    numbers = record.numbers
    if "count" not in numbers and "count2" not in numbers:
        return 0, 0
    moved = []
    for which in ("", "2"):
        number = numbers.get(f"type{which}", 0)
        size = rank.type_bytes[number] if 0 <= number < len(rank.type_bytes) else 0
        moved.append(numbers.get(f"count{which}", 0) * size)
    if "type2" not in numbers and "count2" not in numbers:
        moved[1] = moved[0]
    if record.kind in ("Alltoall", "Scatter"):
        moved[0] *= ranks
    if record.kind in ("Alltoall", "Allgather", "Gather"):
        moved[1] *= ranks
    if not all(0 <= size <= LARGEST_BYTES for size in moved):
        raise CorruptFile(f"{rank.path}: MPI_{record.kind} moves {max(moved)} B.")
    is_root = numbers.get("rank", numbers.get("root")) == numbers.get("root")
    if record.kind in ("Gather", "Gatherv") and not is_root:
        moved[1] = 0
    if record.kind in ("Scatter", "Scatterv") and not is_root:
        moved[0] = 0
    return moved[0], moved[1]


DUMPI = TraceImporter(
    name="dumpi",
    summary="DUMPI's binary traces, of SST",
    recognises=_recognises,
    read=_read,
)
