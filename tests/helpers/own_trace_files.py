"""Trace files as `chiplog trace` writes them, made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from chiplog.tracing.trace_file import (
    BLOCK,
    BLOCK_MAGIC,
    COMMUNICATOR,
    ENTRY,
    HEADER,
    LISTS,
    MAGIC,
    RANGE,
    SHORT_PEER,
    STARTS,
    STATUS,
    VERSION,
)

HEADER_BYTES = 65536
BLOCK_BYTES = 4096
PROCESSOR_BYTES = 128
NAMES = ("Init", "Isend", "Irecv", "Waitall", "Finalize")
Entry = tuple[int, int, int, int, int, int]
"""Gap, duration, kind, flags, communicator, bytes."""


def write_rank(
    folder: Path,
    rank: int,
    ranks: int,
    *blocks: tuple[list[Entry], list[int]],
    processors: int = 0,
    clock_leader: int = 0,
    kernel: int = 0,
) -> Path:
    """A file of blocks, each of one thread: its entries and their words. `processors` has a bit for each."""
    header = np.zeros(1, HEADER)
    header["magic"], header["version"] = MAGIC, VERSION
    header["header_bytes"], header["block_bytes"] = HEADER_BYTES, BLOCK_BYTES
    header["rank"], header["ranks"], header["is_finalized"] = rank, ranks, 1
    header["clock_leader"], header["kernel"] = clock_leader, kernel
    header["processors"] = processors.to_bytes(PROCESSOR_BYTES, "little")
    header["first"], header["last"] = (1000, 5000), (10_001_000, 5_005_000)
    header["kinds"], header["host"], header["mpi"] = len(NAMES), b"node", b"Some MPI 1.0"
    header["names"][0, : len(NAMES)] = [name.encode() for name in NAMES]
    content = header.tobytes().ljust(HEADER_BYTES, b"\0")
    for thread, (entries, words) in enumerate(blocks):
        head = np.zeros(1, BLOCK)
        head["magic"], head["stream"], head["base_ticks"] = BLOCK_MAGIC, thread, 2000
        head["clock"] = (2000, 5500)
        body = head.tobytes() + np.array(entries, ENTRY).tobytes()
        tail = np.array(words[::-1], "<u4").tobytes()
        content += body + b"\0" * (BLOCK_BYTES - len(body) - len(tail)) + tail
    path = folder / f"rank-{rank}.trace"
    path.write_bytes(content)
    return path


def peer(rank: int, tag: int) -> int:
    return (rank & 0xFFFF) | (tag & 0xFFFF) << 16


def sound_entries() -> tuple[list[Entry], list[int]]:
    """Init, an Isend of 8 B, an Irecv of a wildcard, a Waitall of both, Finalize; two ticks are a ns."""
    entries = [
        (0, 0, COMMUNICATOR, LISTS, 0, 3),
        (0, 200, 1, 0, 0xFFFF, 0),
        (100, 20, 2, SHORT_PEER | STARTS, 0, 8),
        (100, 20, 3, SHORT_PEER | STARTS, 0, 0),
        (100, 1000, 4, RANGE, 0xFFFF, 2),
        (1, 1, STATUS, 4, 0, 7),
        (100, 200, 5, 0, 0xFFFF, 0),
    ]
    return entries, [0, 1, 2, peer(1, 5), peer(-2, -1), 0, 16, 0]


def sound_trace(folder: Path) -> Path:
    for rank in range(2):
        write_rank(folder, rank, 2, sound_entries())
    return folder
