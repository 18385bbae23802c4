"""Traces of `chiplog trace`: a folder with a packed file for each rank."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chiplog.counts import counted
from chiplog.errors import CorruptFile
from chiplog.tracing.importer import TraceImporter, TraceOptions
from chiplog.tracing.recorded_rank import (
    UNKNOWN_COMMUNICATOR,
    CommunicatorMembers,
    RecordedRank,
    read_ranks,
)
from chiplog.tracing.trace import NOBODY, PARTS, RankTrace, Trace, are_of_kinds
from chiplog.tracing.trace_file import is_trace_file, read_header

NAME = re.compile(r"rank-(\d{1,9})\.trace")


def _files(place: Path) -> dict[int, Path]:
    """The files of a folder, or of the folder that a file of a trace is in, by their ranks."""
    folder = place if place.is_dir() else place.parent
    matches = ((NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in matches if match is not None}


def _recognises(place: Path) -> bool:
    if not place.is_dir():
        return is_trace_file(place)
    return any(is_trace_file(path) for path in sorted(_files(place).values())[:8])


def _read(place: Path, options: TraceOptions) -> Trace:
    files = _files(place) or {0: place}
    count = _count_ranks(files, place)
    recorded = read_ranks([files[rank] for rank in sorted(files)], options.progress)
    notes = _correct_clocks(recorded) + _notes_on_threads(recorded)
    beginnings = [record.calls["begin_ns"].min() for record in recorded if record.calls.size]
    origin_ns = int(min(beginnings, default=0))
    groups = _Communicators(count)
    ranks = tuple(_rank_trace(record, groups, origin_ns) for record in recorded)
    lost = sum(int(record.header["lost_calls"]) for record in recorded)
    if lost:
        notes.append(f"{lost} calls are missing: the disk was full")
    return Trace(
        ranks=ranks,
        communicators=tuple(groups.members),
        hosts=tuple(record.host for record in recorded),
        source=f"chiplog trace, {recorded[0].mpi}",
        mpi=recorded[0].mpi,
        unmodelled=(*_turns(recorded), *_replay_of_threads(recorded)),
        notes=tuple(notes),
    )


def _count_ranks(files: dict[int, Path], place: Path) -> int:
    """How many ranks there are; CorruptFile where a file is missing, or is of another rank or another program."""
    count = 0
    for rank in sorted(files):
        header = read_header(files[rank])
        count = count or int(header["ranks"])
        if int(header["rank"]) != rank or int(header["ranks"]) != count:
            raise CorruptFile(
                f"{files[rank]}: is of rank {header['rank']} of {header['ranks']}, not of rank {rank} of {count}."
            )
    missing = next((rank for rank in range(count) if rank not in files), None)
    if missing is not None:
        raise CorruptFile(f"{place}: the file of rank {missing} of {count} is missing.")
    return count


def _correct_clocks(recorded: Sequence[RecordedRank]) -> list[str]:
    """Takes the offset from rank 0's clock from all times; the notes say whose clocks are only known roughly."""
    rough = []
    for record in recorded:
        leader_rank = int(record.header["clock_leader"])
        if leader_rank == 0:
            continue
        if leader_rank >= len(recorded):
            raise CorruptFile(f"{record.path}: its clock is said to be that of rank {leader_rank}.")
        leader = recorded[leader_rank].header
        offsets = [leader["offset_at_init"], leader["offset_at_finalize"]]
        known = [offset for offset in offsets if offset["round_trip_ns"] > 0]
        for column in ("begin_ns", "end_ns"):
            times = record.calls[column]
            if known:
                at = [float(offset["monotonic_ns"]) for offset in known]
                ahead = [float(offset["ahead_ns"]) for offset in known]
                times -= np.rint(np.interp(times, at, ahead)).astype(np.int64)
            else:
                times += _real_minus_monotonic(record) - _real_minus_monotonic(recorded[0])
        if not known:
            rough.append(record.host)
    hosts = ", ".join(sorted(set(rough)))
    return [f"the clocks of {hosts} are only known by the time of day"] if rough else []


def _notes_on_threads(recorded: Sequence[RecordedRank]) -> list[str]:
    ranks = _ranks_with_threads(recorded)
    if not ranks:
        return []
    return [
        f"several threads call MPI on {ranks} of {len(recorded)} ranks: time in MPI is that of all of them"
    ]


def _replay_of_threads(recorded: Sequence[RecordedRank]) -> list[str]:
    if not _ranks_with_threads(recorded):
        return []
    return [
        "threads of a rank may wait for each other outside of MPI, which a replay takes for computing"
    ]


def _ranks_with_threads(recorded: Sequence[RecordedRank]) -> int:
    """How many there are; calls stand thread after thread."""
    return sum(bool(np.any(np.diff(record.calls["begin_ns"]) < 0)) for record in recorded)


def _turns(recorded: Sequence[RecordedRank]) -> list[str]:
    """Ranks, or their threads, of one machine of which there are more than processors that any of them may run on."""
    crowds: list[tuple[int, int, int]] = []
    at_once = [_threads_at_once(record) for record in recorded]
    for record, threads in zip(recorded, at_once, strict=True):
        machine, ranks = int(record.header["clock_leader"]), threads
        processors = int.from_bytes(record.header["processors"], "little")
        for crowd in [each for each in crowds if each[0] == machine and each[1] & processors]:
            crowds.remove(crowd)
            processors, ranks = processors | crowd[1], ranks + crowd[2]
        crowds.append((machine, processors, ranks))
    shared = [
        (ranks, processors.bit_count())
        for _, processors, ranks in crowds
        if ranks > processors.bit_count() > 0
    ]
    if not shared:
        return []
    ranks, processors = (sum(counts) for counts in zip(*shared, strict=True))
    what = "rank" if max(at_once) == 1 else "thread"
    turns = f"{counted(ranks, what)} take turns on {counted(processors, 'processor')}"
    return [f"{turns}, which no model of messages knows"]


def _threads_at_once(record: RecordedRank) -> int:
    """How many threads of a rank call MPI at once at most; the first counts among them if it calls meanwhile."""
    begin, end = record.calls["begin_ns"], record.calls["end_ns"]
    numbers, which = np.unique(record.thread, return_inverse=True)
    if numbers.size < 2:
        return 1
    starts, stops = np.full(numbers.size, begin.max()), np.full(numbers.size, end.min())
    np.minimum.at(starts, which, begin)
    np.maximum.at(stops, which, end)
    first = int(np.argmin(starts))
    starts, stops = np.sort(np.delete(starts, first)), np.sort(np.delete(stops, first))
    together = np.arange(1, starts.size + 1) - np.searchsorted(stops, starts, side="right")
    at = begin[which == first]
    lasting = np.searchsorted(starts, at) - np.searchsorted(stops, at, side="right")
    return max(int(together.max()), 1) + bool(np.any(lasting > 0))


def _real_minus_monotonic(record: RecordedRank) -> int:
    return int(record.header["realtime_ns"]) - int(record.header["first"]["monotonic_ns"])


class _Communicators:
    """One number for what each rank has a number of its own for.

    Communicators of the same members are told apart by the order in which their ranks came to know them.
    """

    def __init__(self, ranks: int) -> None:
        self.members: list[tuple[int, ...]] = [tuple(range(ranks))]
        self._known: dict[tuple[frozenset[tuple[int, ...]], int], int] = {
            (frozenset((self.members[0], ())), 0): 0
        }

    def numbers(self, own: dict[int, CommunicatorMembers]) -> dict[int, int]:
        """For each number of a rank's, the common one."""
        seen: Counter[frozenset[tuple[int, ...]]] = Counter()
        common = {}
        for number in sorted(own):
            group = frozenset((own[number].local, own[number].remote))
            key = (group, seen[group])
            seen[group] += 1
            if key not in self._known:
                self._known[key] = len(self.members)
                self.members.append(tuple(rank for part in sorted(group) for rank in part))
            common[number] = self._known[key]
        return common


def _rank_trace(record: RecordedRank, groups: _Communicators, origin_ns: int) -> RankTrace:
    calls = record.calls
    calls["begin_ns"] -= origin_ns
    calls["end_ns"] -= origin_ns
    numbers = groups.numbers(record.communicators)
    own = calls["communicator"].copy()
    calls["communicator"] = 0
    for number in np.unique(own[own != UNKNOWN_COMMUNICATOR]).tolist():
        if number not in numbers:
            raise CorruptFile(
                f"{record.path}: communicator {number} is used, but nowhere described."
            )
        rows = own == number
        calls["communicator"][rows] = numbers[number]
        _to_world(calls["peer"], rows, record.communicators[number], record.path)
    unknown = (own == UNKNOWN_COMMUNICATOR) & (calls["peer"] >= 0)
    calls["peer"][unknown] = NOBODY
    order = _in_order(calls)
    return RankTrace(
        record.rank,
        calls[order],
        record.requests,
        bool(record.header["is_finalized"]),
        thread=_by_first_calls(record.thread[order]),
    )


def _by_first_calls(thread: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Numbers from 0 on in the order in which the threads occur; None for one thread."""
    numbers, first, which = np.unique(thread, return_index=True, return_inverse=True)
    if numbers.size < 2:
        return None
    place = np.empty(numbers.size, np.int64)
    place[np.argsort(first)] = np.arange(numbers.size)
    return place[which]


def _in_order(calls: NDArray[np.void]) -> slice | NDArray[np.int64]:
    """By begin, where calls of several threads stand thread after thread; parts of calls stay behind them."""
    is_part = are_of_kinds(calls["kind"], *PARTS)
    owner = np.maximum.accumulate(np.where(is_part, 0, np.arange(calls.size)))
    begins = calls["begin_ns"][owner]
    if not np.any(begins[1:] < begins[:-1]):
        return slice(None)
    return np.argsort(begins, kind="stable")


def _to_world(
    peers: NDArray[np.int32], rows: NDArray[np.bool_], members: CommunicatorMembers, path: Path
) -> None:
    world = np.array(members.remote or members.local, np.int32)
    named = rows & (peers >= 0)
    if named.any() and peers[named].max() >= world.size:
        raise CorruptFile(
            f"{path}: a call names rank {peers[named].max()} of a communicator of {world.size}."
        )
    peers[named] = world[peers[named]]


CHIPLOG_TRACE = TraceImporter(
    name="chiplog-trace",
    summary="folders of chiplog trace",
    recognises=_recognises,
    read=_read,
)
