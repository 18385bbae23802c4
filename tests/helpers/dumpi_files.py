"""Traces as DUMPI's library writes them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from chiplog.tracing.dumpi_records import END, FORMS, FUNCTIONS

EPOCH_SECONDS = 1_300_000_000
MAGIC = b"\xff\xaa\xdd\x44UMPI"
TYPE_BYTES = (0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8)
INT, DOUBLE, WORLD = 9, 14, 2
Value = int | tuple[int, ...]


def record(kind: str, begin_us: int, end_us: int, *values: Value) -> bytes:
    """A record with its arguments in the order of the file; statuses are the ranks that sent."""
    made = struct.pack(">hBh", FUNCTIONS.index(kind), 0x4F, 0)
    made += struct.pack(">HIHI", 0, begin_us * 1000, 0, end_us * 1000) * 2
    forms = [word.partition(":")[2] for word in FORMS[kind].split()]
    for form, value in zip(forms, values, strict=False):
        made += _packed(form.rstrip("?"), value)
    return made


def _packed(form: str, value: Value) -> bytes:
    if isinstance(value, int):
        return struct.pack({"i": ">i", "h": ">h", "b": ">B"}[form], value)
    made = struct.pack(">i", len(value))
    for item in value:
        made += struct.pack(">iibbi", 8, item, 0, 0, 0) if form == "S" else struct.pack(">i", item)
    return made


def dumpi_file(records: Iterable[bytes], host: str = "node0") -> bytes:
    """A whole file: magic, times, records, header, sizes of datatypes and index."""
    content = MAGIC + struct.pack(">ii", 0, EPOCH_SECONDS) + b"".join(records)
    content += struct.pack(">h", END)
    header = len(content)
    content += b"\1\0\0" + struct.pack(">Qh", EPOCH_SECONDS, len(host)) + host.encode()
    content += struct.pack(">hii", 0, 0, 0)
    sizes = len(content)
    content += struct.pack(f">{1 + len(TYPE_BYTES)}i", len(TYPE_BYTES), *TYPE_BYTES)
    return content + MAGIC + struct.pack(">7Q", sizes, 0, 0, header, 8, 0, 0)


def write_dumpi(folder: Path, ranks: int = 2) -> Path:
    """A message to the next rank without blocking, one by Sendrecv, half of the ranks reduce, and all gather."""
    folder.mkdir(exist_ok=True)
    for rank in range(ranks):
        after, before, half = (rank + 1) % ranks, (rank - 1) % ranks, 4
        ones, zeros = (1,) * ranks, (0,) * ranks
        records = [
            record("Init", 0, 1, ()),
            record("Irecv", 10, 11, 100, DOUBLE, before, 7, WORLD, 2),
            record("Isend", 12, 13, 100, DOUBLE, after, 7, WORLD, 3),
            record("Waitall", 20, 30, 2, (2, 3), (before, after)),
            record("Sendrecv", 40, 50, 1, INT, after, 1, 1, INT, before, 1, WORLD, (before,)),
            record("Comm_split", 60, 70, WORLD, rank % 2, -rank, half),
            record("Allreduce", 80, 90, 1, INT, 3, half),
            record("Gather", 100, 110, rank, 5, INT, 0, WORLD, *((5, INT) if rank == 0 else ())),
            record("Alltoallv", 120, 130, ranks, ones, zeros, INT, ones, zeros, INT, WORLD),
            record("Finalize", 140, 150),
        ]  # fmt: skip
        (folder / f"trace-{rank:04}.bin").write_bytes(dumpi_file(records))
    (folder / "trace.meta").write_text(f"numprocs={ranks}\nfileprefix=trace\n")
    return folder
