"""The calls of a rank from the file that `chiplog trace` wrote for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chiplog.tracing import trace_file as file_of
from chiplog.tracing.trace import (
    CALL,
    ENDS,
    KIND_OF,
    KINDS,
    NOBODY,
    OTHER,
    SENDRECV_RECEIVE,
    STARTALL_START,
    are_of_kinds,
)
from chiplog.tracing.trace_file import TraceFile, read_trace_file

Result = TypeVar("Result")
UNKNOWN_COMMUNICATOR = 0xFFFF
"""Given: of the format."""
RUN_WORDS = 3
"""Given: words of a run of members: the first, the step and how many."""
MOST_COMPLETIONS = 8
"""Given: how often the calls of a sound file name a request at most, on average; a damaged one could name any
number."""
MOST_NS_PER_TICK = 1000.0
"""Given: a slower clock is none."""
IS_PREPARING = np.array([name.endswith("_init") and name != "Session_init" for name in KINDS])
"""Whether a kind of calls makes requests that are started later."""


@dataclass(frozen=True)
class CommunicatorMembers:
    """The members of a communicator as world ranks, -1 for those of other worlds."""

    local: tuple[int, ...]
    remote: tuple[int, ...] = ()
    """Of an intercommunicator: the other group, whose ranks its calls name."""


@dataclass(frozen=True)
class RecordedRank:
    """What one file says. Peers are ranks of communicators, which have the rank's own numbers; times its clock's."""

    path: Path
    header: Any
    calls: NDArray[Any]
    requests: NDArray[np.int64]
    communicators: dict[int, CommunicatorMembers]
    thread: NDArray[np.int64]
    """A number for the thread of each call, shape (calls,)."""

    @property
    def rank(self) -> int:
        """Its rank in the world."""
        return int(self.header["rank"])

    @property
    def host(self) -> str:
        """The name of its host."""
        return _text(self.header["host"])

    @property
    def mpi(self) -> str:
        """The MPI, as it calls itself."""
        return _text(self.header["mpi"])


def read_ranks(
    paths: Sequence[Path], progress: Callable[[float], None] | None = None
) -> list[RecordedRank]:
    """The calls of all ranks, on all cores; CorruptFile where a file can't be understood.

    Ranks of one host count the same ticks, and their times are only comparable to the ns where all are converted alike:
    by the clock of the first of them. `progress` is called with the share that is done.
    """
    steps = 2 * len(paths)
    done = 0

    def counted(result: Result) -> Result:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / steps)
        return result

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        files = [counted(file) for file in threads.map(read_trace_file, paths)]
        _name_leaders(files)
        clocks: dict[int, ClockRate] = {}
        for file in files:
            clocks.setdefault(int(file.header["clock_leader"]), ClockRate(file))
        return [counted(rank) for rank in threads.map(partial(_recorded, clocks), files)]


def _name_leaders(files: Sequence[TraceFile]) -> None:
    """Who shares a clock, where MPI_Init, in which ranks tell each other, was not called."""
    first: dict[int, int] = {}
    for file in files:
        leader = first.setdefault(int(file.header["kernel"]), int(file.header["rank"]))
        if file.header["clock_leader"] == file_of.UNKNOWN_LEADER:
            file.header["clock_leader"] = leader


def _recorded(clocks: dict[int, ClockRate], file: TraceFile) -> RecordedRank:
    clock = clocks[int(file.header["clock_leader"])]
    entries = file.entries
    is_row = (entries["kind"] < file_of.STATUS) | (entries["kind"] >= file_of.RECEIVING)
    is_row &= entries["kind"] != file_of.NEW_THREAD
    rows = np.flatnonzero(is_row)
    calls = np.zeros(rows.size, CALL)
    calls["kind"] = _kinds(file)[entries["kind"][rows]]
    if file.header["is_finalized"] and not are_of_kinds(calls["kind"], *ENDS).any():
        raise file.corrupt("is cut: its last calls are missing")
    calls["begin_ns"], calls["end_ns"] = (column[rows] for column in _times_ns(file, clock))
    cursor = _Words(file)
    peer, tag = cursor.peers()
    calls["peer"], calls["tag"] = peer[rows], tag[rows]
    sent, received = cursor.bytes()
    calls["sent_bytes"], calls["received_bytes"] = sent[rows], received[rows]
    calls["communicator"] = entries["communicator"][rows]
    _join_parts(file, calls, rows)
    requests = _Requests(file, rows, cursor.at)
    requests.fill(calls)
    return RecordedRank(
        file.path,
        file.header,
        calls,
        requests.numbers,
        _communicators(file),
        _threads(file)[rows],
    )


def _threads(file: TraceFile) -> NDArray[np.int64]:
    """A number for the thread of each entry: a stream is of one thread, or of several that follow each other."""
    stream = file.blocks["stream"][file.block]
    begins = file.entries["kind"] == file_of.NEW_THREAD
    begins[1:] |= stream[1:] != stream[:-1]
    return np.cumsum(begins)


def _text(raw: bytes) -> str:
    return "".join(letter for letter in raw.decode("ascii", "replace") if letter.isprintable())


def _kinds(file: TraceFile) -> NDArray[np.uint16]:
    """For each kind of the file, that of KINDS."""
    table = np.full(file_of.BYTE_VALUES, KIND_OF[OTHER], np.uint16)
    names = [_text(name) for name in file.header["names"][: int(file.header["kinds"])]]
    table[1 : len(names) + 1] = [KIND_OF.get(name, KIND_OF[OTHER]) for name in names]
    table[file_of.RECEIVING] = KIND_OF[SENDRECV_RECEIVE]
    table[file_of.STARTED] = KIND_OF[STARTALL_START]
    return table


class _Words:
    """The words of all entries, taken flag by flag in their order."""

    def __init__(self, file: TraceFile) -> None:
        self.at = file.word_at[:-1].copy()
        self._file = file
        self._flags = file.entries["flags"]

    def take(self, flag: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The entries that have a flag, and their words; shape (entries, words)."""
        which = np.flatnonzero(self._flags & flag)
        count = file_of.WORDS[flag]
        words = self._file.words[self.at[which][:, np.newaxis] + np.arange(count)]
        self.at[which] += count
        return which, words

    def peers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Peer and tag of each entry."""
        peer = np.full(self._flags.size, NOBODY, np.int64)
        tag = np.zeros(self._flags.size, np.int64)
        which, words = self.take(file_of.SHORT_PEER)
        peer[which], tag[which] = np.ascontiguousarray(words).view(np.int16).T
        which, words = self.take(file_of.LONG_PEER)
        peer[which], tag[which] = np.ascontiguousarray(words).view(np.int32).T
        self.take(file_of.LONG_TIMES)
        return peer, tag

    def bytes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes sent and received."""
        has_requests = (self._flags & (file_of.LISTS | file_of.RANGE)) != 0
        sent = np.where(has_requests, 0, self._file.entries["bytes"]).astype(np.int64)
        received = np.zeros(sent.size, np.int64)
        which, words = self.take(file_of.RECEIVED)
        received[which] = words[:, 0]
        which, words = self.take(file_of.LONG_BYTES)
        high = words.astype(np.int64) << 32
        sent[which] += high[:, 0]
        received[which] += high[:, 1]
        if sent.size and min(sent.min(), received.min()) < 0:
            raise self._file.corrupt("a call is said to have moved more than 2^63 B")
        return sent, received


def _times_ns(file: TraceFile, to_ns: ClockRate) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Begin and end of each entry by the host's monotonic clock; what is no call has those of the call before."""
    entries = file.entries
    is_call = entries["kind"] < file_of.STATUS
    gap = np.where(is_call, entries["gap"], 0).astype(np.int64)
    duration = np.where(is_call, entries["duration"], 0).astype(np.int64)
    words = _Words(file)
    words.take(file_of.SHORT_PEER)
    words.take(file_of.LONG_PEER)
    which, high = words.take(file_of.LONG_TIMES)
    high = np.where(is_call[which][:, np.newaxis], high, 0).astype(np.int64)
    if np.any(high >= file_of.LARGEST // (1 << 32)):
        raise file.corrupt("a call is said to have taken centuries")
    gap[which] += high[:, 0] << 32
    duration[which] += high[:, 1] << 32
    ticks = np.cumsum(gap + duration)
    first = np.searchsorted(file.block, np.arange(file.blocks.size))
    before = np.concatenate(([0], ticks))[first]
    base = file.blocks["base_ticks"].astype(np.int64)
    end = (base - before)[file.block] + ticks
    return to_ns(end - duration), to_ns(end)


class ClockRate:
    """From ticks to the monotonic clock, by the first and the last reading of both."""

    def __init__(self, file: TraceFile) -> None:
        header = file.header
        readings = np.concatenate((np.array([header["last"]]), file.blocks["clock"]))
        last = readings[np.argmax(readings["ticks"])]
        self._ticks = int(header["first"]["ticks"])
        self._ns = int(header["first"]["monotonic_ns"])
        passed = int(last["ticks"]) - self._ticks, int(last["monotonic_ns"]) - self._ns
        if not file.blocks.size:
            self._rate = 1.0
            return
        self._rate = passed[1] / passed[0] if passed[0] > 0 else 0.0
        if not 0.0 < self._rate < MOST_NS_PER_TICK or max(passed) > file_of.LARGEST:
            raise file.corrupt("its readings of the clocks contradict each other")

    def __call__(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Times of the monotonic clock, in ns."""
        passed_ns: NDArray[np.int64] = np.rint((ticks - self._ticks) * self._rate).astype(np.int64)
        return self._ns + passed_ns


def _join_parts(file: TraceFile, calls: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Gives the receiving half of a Sendrecv the communicator of its call, and what a Startall starts its begin."""
    kind = file.entries["kind"][rows]
    is_part = np.isin(kind, (file_of.RECEIVING, file_of.STARTED))
    if is_part.size and is_part[0]:
        raise file.corrupt("it begins in the middle of a call")
    whole = np.maximum.accumulate(np.where(is_part, 0, np.arange(kind.size)))
    halves = kind == file_of.RECEIVING
    calls["communicator"][halves] = calls["communicator"][whole[halves]]
    started = kind == file_of.STARTED
    for time in ("begin_ns", "end_ns"):
        calls[time][started] = calls["begin_ns"][whole[started]]


class _Requests:
    """The requests that calls start and complete."""

    def __init__(self, file: TraceFile, rows: NDArray[np.int64], at: NDArray[np.int64]) -> None:
        self._file, self._rows = file, rows
        entries = file.entries
        starts = (entries["flags"] & file_of.STARTS) != 0
        begun = np.cumsum(starts) - 1
        first = np.searchsorted(file.block, np.arange(file.blocks.size))
        before = np.concatenate(([0], np.cumsum(starts)))[first]
        numbers = file.block_numbers * file.starts_in_a_block - before
        self._made = np.flatnonzero(starts)
        self._number = (numbers[file.block] + begun)[self._made]
        self._at = at
        self.numbers = np.empty(0, np.int64)

    def fill(self, calls: NDArray[Any]) -> None:
        """Sets the requests of the calls, and what starts and statuses say of messages."""
        entries, rows = self._file.entries, self._rows
        is_row = np.zeros(entries.size, np.bool_)
        is_row[rows] = True
        row_of = np.cumsum(is_row) - 1
        names = _kinds(self._file)[entries["kind"]]
        is_start = np.isin(names, (KIND_OF["Start"], KIND_OF[STARTALL_START]))
        order = np.argsort(self._number, kind="stable")
        made, number = self._made[order], self._number[order]
        self._join_starts(calls, np.flatnonzero(is_start), row_of, (made, number))
        self._join_statuses(calls, row_of, (made, number))
        completes = (entries["kind"] < file_of.STATUS) | (entries["kind"] == file_of.MORE)
        owners, listed = self._listed(np.flatnonzero(completes & ~is_start))
        is_known = _entry_of(listed, made, number) >= 0
        owners, listed = owners[is_known], listed[is_known]
        is_preparing = IS_PREPARING[names]
        starting = made[~is_preparing[made]]
        owners = np.concatenate((owners, starting))
        self.numbers = np.concatenate((listed, number[~is_preparing[made]]))
        if owners.size and row_of[owners].min() < 0:
            raise self._file.corrupt("it begins in the middle of a call")
        place = np.argsort(owners, kind="stable")
        self.numbers = self.numbers[place]
        counts = np.bincount(row_of[owners], minlength=rows.size)
        calls["requests"] = counts
        calls["first_request"] = np.cumsum(counts) - counts

    def _listed(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The requests that entries name, and which entry each stands in."""
        flags, amount = (
            self._file.entries[name][entries].astype(np.int64) for name in ("flags", "bytes")
        )
        is_range = (flags & file_of.RANGE) != 0
        named = np.where(is_range | ((flags & file_of.LISTS) != 0), amount, 0)
        known = self._number.size
        if named.size and named.max(initial=0) > known:
            raise self._file.corrupt("a call completes more requests than there are")
        if int(named.sum()) > MOST_COMPLETIONS * known:
            raise self._file.corrupt("its calls complete more requests than there are")
        within = np.arange(int(named.sum())) - np.repeat(np.cumsum(named) - named, named)
        at = np.repeat(self._at[entries], named)
        ranged = np.repeat(is_range, named)
        word = self._file.words[at + np.where(ranged, 0, within)].astype(np.int64)
        return np.repeat(entries, named), word + np.where(ranged, within, 0)

    def _join_starts(
        self,
        calls: NDArray[Any],
        starts: NDArray[np.int64],
        row_of: NDArray[np.int64],
        made: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        """A Start has the peer, tag and bytes of what made its request."""
        flags = self._file.entries["flags"][starts]
        starts = starts[(flags & (file_of.RANGE | file_of.STARTS)) > file_of.RANGE]
        prepared = self._file.words[self._at[starts]].astype(np.int64)
        source = row_of[_entry_of(prepared, *made)]
        for name in ("peer", "tag", "sent_bytes", "received_bytes", "communicator"):
            calls[name][row_of[starts]] = np.where(source >= 0, calls[name][source], 0)

    def _join_statuses(
        self,
        calls: NDArray[Any],
        row_of: NDArray[np.int64],
        made: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        """What a request has received, where that is not what was asked for."""
        entries = self._file.entries
        which = np.flatnonzero(entries["kind"] == file_of.STATUS)
        which = which[entries["flags"][which] == file_of.LONG_TIMES]
        target = _entry_of(entries["gap"][which].astype(np.int64), *made)
        which, target = which[target >= 0], target[target >= 0]
        words = self._file.words[self._file.word_at[which][:, np.newaxis] + np.arange(2)]
        rows = row_of[target]
        calls["peer"][rows] = entries["duration"][which].view(np.int32)
        calls["tag"][rows] = entries["bytes"][which].view(np.int32)
        low, high = words.astype(np.int64).T
        calls["received_bytes"][rows] = low | (high & 0x7FFFFFFF) << 32


def _entry_of(
    numbers: NDArray[np.int64], made: NDArray[np.int64], known: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The entries that made requests of these numbers; -1 where none did."""
    if not known.size:
        return np.full(numbers.size, -1)
    place = np.minimum(np.searchsorted(known, numbers), known.size - 1)
    found: NDArray[np.int64] = np.where(known[place] == numbers, made[place], -1)
    return found


def _communicators(file: TraceFile) -> dict[int, CommunicatorMembers]:
    """The members of each communicator, by its number in this file."""
    groups: dict[tuple[int, bool], list[int]] = {}
    ranks = int(file.header["ranks"])
    for at in np.flatnonzero(file.entries["kind"] == file_of.COMMUNICATOR).tolist():
        entry = file.entries[at]
        if entry["flags"] != file_of.LISTS or entry["bytes"] % RUN_WORDS:
            raise file.corrupt("a communicator's members are cut")
        members = groups.setdefault((int(entry["gap"]), bool(entry["duration"])), [])
        runs = (
            file.words[file.word_at[at] : file.word_at[at + 1]]
            .view(np.int32)
            .reshape(-1, RUN_WORDS)
        )
        for first, step, count in runs.tolist():
            if not 0 < count <= ranks - len(members) or not (-1 <= first < ranks):
                raise file.corrupt("a communicator has more members than there are ranks")
            members += range(first, first + step * count, step) if step else [first] * count
        if members and not -1 <= min(members) <= max(members) < ranks:
            raise file.corrupt(f"a communicator has members beyond rank {ranks - 1}")
    return {
        number: CommunicatorMembers(tuple(members), tuple(groups.get((number, True), ())))
        for (number, is_remote), members in groups.items()
        if not is_remote
    }
