"""The file that `chiplog trace` writes for each rank, as columns; docs/reference/trace-format.md describes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import CorruptFile, UsageError

MAGIC = b"CHIPLOGT"
VERSION, BLOCK_MAGIC, BYTE_VALUES, WORD_BYTES = 1, 0x4B4C4243, 256, 4
"""Given: of the format."""
UNKNOWN_LEADER = 0xFFFFFFFF
"""Given: of the format, in place of the rank that leads a clock."""
MOST_RANKS = 1 << 24
LARGEST = 1 << 61
"""Given: longer times are none of a program's."""

CLOCK = np.dtype([("ticks", "<u8"), ("monotonic_ns", "<i8")])
OFFSET = np.dtype([("monotonic_ns", "<i8"), ("ahead_ns", "<i8"), ("round_trip_ns", "<i8")])
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("block_bytes", "<u4"),
        ("kinds", "<u4"),
        ("rank", "<i4"),
        ("ranks", "<i4"),
        ("is_finalized", "<u4"),
        ("clock_leader", "<u4"),
        ("realtime_ns", "<i8"),
        ("first", CLOCK),
        ("last", CLOCK),
        ("offset_at_init", OFFSET),
        ("offset_at_finalize", OFFSET),
        ("lost_calls", "<u8"),
        ("host", "S128"),
        ("mpi", "S128"),
        ("names", "S32", (240,)),
        ("processors", "S128"),
        ("kernel", "<u8"),
    ]
)
"""Given: the format. Files of before have zeros in place of the kernel."""
BLOCK = np.dtype(
    [
        ("magic", "<u4"),
        ("stream", "<u4"),
        ("sequence", "<u4"),
        ("unused", "<u4"),
        ("base_ticks", "<u8"),
        ("clock", CLOCK),
    ]
)
ENTRY = np.dtype(
    [
        ("gap", "<u4"),
        ("duration", "<u4"),
        ("kind", "u1"),
        ("flags", "u1"),
        ("communicator", "<u2"),
        ("bytes", "<u4"),
    ]
)
SHORT_PEER, LONG_PEER, LONG_TIMES, RECEIVED, LONG_BYTES, STARTS, LISTS, RANGE = (
    1 << bit for bit in range(8)
)
"""Given: the flags of an entry."""
WORDS = {SHORT_PEER: 1, LONG_PEER: 2, LONG_TIMES: 2, RECEIVED: 1, LONG_BYTES: 2}
"""Given: how many words each flag stands for, in their order; those of requests come last."""
STATUS, COMMUNICATOR, MORE, RECEIVING, STARTED, NEW_THREAD = 250, 251, 252, 253, 254, 255
"""Given: kinds of entries that are no calls."""
WORDS_OF_FLAGS = np.array(
    [sum(count for flag, count in WORDS.items() if flags & flag) for flags in range(BYTE_VALUES)],
    np.int64,
)


@dataclass(frozen=True)
class TraceFile:
    """A file's header and its entries, thread after thread in the order in which each wrote them."""

    path: Path
    header: Any
    entries: NDArray[Any]
    """Type ENTRY, shape (entries,)."""
    words: NDArray[np.uint32]
    word_at: NDArray[np.int64]
    """Where the words of each entry begin in `words`; shape (entries + 1,)."""
    block: NDArray[np.int64]
    """Which block of `blocks` each entry is in."""
    blocks: NDArray[Any]
    """The headers of the blocks; type BLOCK."""
    block_numbers: NDArray[np.int64]
    """Their places in the file."""
    starts_in_a_block: int

    def corrupt(self, what: str) -> CorruptFile:
        """The error for a file that holds what none can."""
        return CorruptFile(f"{self.path}: {what}.")


def is_trace_file(path: Path) -> bool:
    """Does the file begin as those of `chiplog trace` do?"""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_header(path: Path) -> Any:
    """The header of a rank's file, of the type HEADER; errors as of `read_trace_file`."""
    return _header(path, _bytes_of(path, HEADER.itemsize))


def _bytes_of(path: Path, count: int = -1) -> NDArray[np.uint8]:
    try:
        return np.fromfile(path, np.uint8, count)
    except OSError as error:
        raise UsageError(f"{path} can't be opened: {error.strerror}.") from error


def read_trace_file(path: Path) -> TraceFile:
    """One rank's file; CorruptFile where it is none, or cut within its header, or can't be."""
    raw = _bytes_of(path)
    header = _header(path, raw)
    block_bytes = int(header["block_bytes"])
    body = raw[int(header["header_bytes"]) :]
    count = body.size // block_bytes
    if header["is_finalized"] and body.size % block_bytes:
        raise CorruptFile(f"{path}: is cut within block {count}.")
    body = body[: count * block_bytes].reshape(count, block_bytes)
    heads = np.ascontiguousarray(body[:, : BLOCK.itemsize]).view(BLOCK)[:, 0]
    if np.any((heads["magic"] != BLOCK_MAGIC) & (heads["magic"] != 0)):
        place = int(np.flatnonzero((heads["magic"] != BLOCK_MAGIC) & (heads["magic"] != 0))[0])
        raise CorruptFile(f"{path}, block {place}: is no block of a trace.")
    used = np.flatnonzero(heads["magic"])
    order = used[np.lexsort((heads["sequence"][used], heads["stream"][used]))]
    _check_sequence(path, heads[order])
    parts = [_block(path, int(number), body[number]) for number in order]
    entries = np.concatenate([entries for entries, _ in parts] or [np.empty(0, ENTRY)])
    words = np.concatenate([words for _, words in parts] or [np.empty(0, np.uint32)])
    lengths = [entries.size for entries, _ in parts]
    return TraceFile(
        path=path,
        header=header,
        entries=entries,
        words=words,
        word_at=np.concatenate(([0], np.cumsum(_word_counts(entries)))),
        block=np.repeat(np.arange(len(parts)), lengths),
        blocks=heads[order],
        block_numbers=order.astype(np.int64),
        starts_in_a_block=(block_bytes - BLOCK.itemsize) // ENTRY.itemsize + 1,
    )


def _header(path: Path, raw: NDArray[np.uint8]) -> Any:
    if raw[:8].tobytes() != MAGIC:
        raise CorruptFile(f"{path}: is no file of chiplog trace.")
    if raw.size < HEADER.itemsize:
        raise CorruptFile(f"{path}: ends within its header, after {raw.size} B.")
    header = raw[: HEADER.itemsize].view(HEADER)[0]
    if header["version"] != VERSION:
        raise CorruptFile(
            f"{path}: has version {header['version']} of the format, and this chiplog reads {VERSION}."
        )
    sizes = int(header["header_bytes"]), int(header["block_bytes"])
    # Given: what the tracer writes.
    if not (HEADER.itemsize <= sizes[0] <= 1 << 24 and 4096 <= sizes[1] <= 1 << 28) or sizes[1] % 8:
        raise CorruptFile(f"{path}: its header and blocks can't be of {sizes[0]} and {sizes[1]} B.")
    if not 0 <= header["rank"] < header["ranks"] <= MOST_RANKS:
        raise CorruptFile(f"{path}: is of rank {header['rank']} of {header['ranks']} ranks.")
    if header["kinds"] > len(header["names"]):
        raise CorruptFile(f"{path}: names {header['kinds']} kinds of calls.")
    return header


def _check_sequence(path: Path, heads: NDArray[Any]) -> None:
    """Each stream's blocks are numbered from 0 on, without a gap."""
    first = np.concatenate(([True], heads["stream"][1:] != heads["stream"][:-1]))[: heads.size]
    expected = np.where(first, 0, np.concatenate(([0], heads["sequence"][:-1] + 1))[: heads.size])
    wrong = np.flatnonzero(heads["sequence"] != expected)
    if wrong.size:
        head = heads[wrong[0]]
        raise CorruptFile(
            f"{path}: block {expected[wrong[0]]} of thread {head['stream']} is missing or there twice."
        )


def _word_counts(entries: NDArray[Any]) -> NDArray[np.int64]:
    flags = entries["flags"]
    counts: NDArray[np.int64] = WORDS_OF_FLAGS[flags] + ((flags & RANGE) != 0)
    listed = (flags & LISTS) != 0
    counts[listed] += entries["bytes"][listed]
    return counts


def _block(
    path: Path, number: int, block: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """The entries of a block and their words, in the order in which they were written."""
    room = (block.size - BLOCK.itemsize) // ENTRY.itemsize
    entries = block[BLOCK.itemsize : BLOCK.itemsize + room * ENTRY.itemsize].view(ENTRY)
    unused = np.flatnonzero(entries["kind"] == 0)
    entries = entries[: unused[0] if unused.size else room]
    word_count = int(_word_counts(entries).sum())
    if BLOCK.itemsize + entries.size * ENTRY.itemsize + word_count * WORD_BYTES > block.size:
        raise CorruptFile(f"{path}, block {number}: its calls name more than the block holds.")
    words = block.view(np.uint32)
    return entries, words[words.size - word_count :][::-1]
