"""GPCNeT's network_test and network_load_test: tests of a whole machine's network, alone and beside congestors.

    NetworkLoad Tests v1.3
      Test with 640 MPI ranks (20 nodes)
    |                            Isolated Network Tests                            |
    |                            Name |          Avg |          99% |        Units |
    |          RR Two-sided Lat (8 B) |          1.9 |          4.0 |         usec |
    | RR Two-sided BW+Sync (131072 B) |        512.3 |        420.1 |   MiB/s/rank |

The pattern is the test's name (`random_ring_latency`, `multiple_allreduce`, `congestor_alltoall`, ...), the direction
"call", and the time the mean over all ranks and iterations: in us, or of a bandwidth the message by the rate of a rank.
Isolated tests and those beside congestors are two parts, `isolated` and `congested`. Ratios ("Congestion Impact
Factor") follow from the rows and are not read. The 99 % quantile, and what a verbose build prints, are kept in the tag,
as printed.

Source: GPCNeT 1.2 and 1.3. A latency in a ring is the time of an exchange with both neighbours, halved; a bandwidth
that of the two sends of each rank; of alltoall it is that of all its blocks, of allreduce twice the buffer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from chiplog.dataset.import_parts import parts_warning
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value
from chiplog.dataset.import_values import MEBIBYTE, MICROSECOND, number, time, too_long, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.errors import UsageError

CONVENTION = "means over ranks and iterations: us, or a message by the bandwidth of a rank (1 MiB/s = 2^20 B/s)"
NETWORK_TESTS = {
    "RR Two-sided Lat": ("random_ring_latency", "send"),
    "RR Get Lat": ("random_ring_latency", "rdma-read"),
    "RR Two-sided BW": ("random_ring_bandwidth", "send"),
    "RR Put BW": ("random_ring_bandwidth", "rdma-write"),
    "RR Two-sided BW+Sync": ("random_ring_bandwidth_with_barrier", "send"),
    "Nat Two-sided BW": ("natural_ring_bandwidth", "send"),
    "Multiple Allreduce": ("multiple_allreduce", "default"),
    "Multiple Alltoall": ("multiple_alltoall", "default"),
}
"""Pattern and operation of a network test by its name."""
CONGESTORS = {
    "Alltoall": ("congestor_alltoall", "default"),
    "Allreduce": ("congestor_allreduce", "default"),
    "Two-sided Incast": ("congestor_incast", "send"),
    "Put Incast": ("congestor_incast", "rdma-write"),
    "Two-sided Bcast": ("congestor_bcast", "send"),
    "Get Bcast": ("congestor_bcast", "rdma-read"),
}
"""Pattern and operation of a congestor by its name."""
_TESTS = NETWORK_TESTS | CONGESTORS
_TITLE = re.compile(r"Network(?:Load)? Tests v[\d.]+")
_RANKS = re.compile(r"Test with (\d+) MPI ranks \((\d+) nodes\)")
_SECTIONS = (
    (re.compile(r"Isolated (?:Network|Congestion) Tests"), "isolated"),
    (re.compile(r"Network Tests running with Congestion Tests - Key Results"), None),
    (re.compile(r"Network Tests running with Congestion Tests"), "congested"),
)
_PROSE = re.compile(
    r"\d+ nodes running|Legend$|\w[\w+]* = (?:random|natural|latency|bandwidth)|\(min \d+ nodes"
)
_NAME = re.compile(r"(.*\S)\s*\(\s*(\d+) B\)")


@dataclass
class _GpcnetFile:
    """What was read of a file so far."""

    skipped: Skipped = field(default_factory=Skipped)
    records: list[ImportedRecord] = field(default_factory=list)
    visits: Counter[tuple[int, str, str, str]] = field(default_factory=Counter)
    launch: int = -1  # Given: no run began
    ranks: int = 1  # Given: until a line says it
    part: str | None = None
    columns: list[str] = field(default_factory=list)


def read(source: Source, options: Options) -> Imported:
    """All rows of its tables; CorruptFile names line and column of what is wrong."""
    if options.direction is not None or options.pattern is not None:
        raise UsageError(
            "--direction and --pattern do not fit: GPCNeT names its tests and what they time; leave them out."
        )
    file = _GpcnetFile()
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    file.skipped.refuse_if_empty(file.records)
    return Imported(
        file.records,
        CONVENTION,
        ranks=file.ranks,
        warnings=(*parts_warning(file.records), *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=None,
    )


def _read_line(file: _GpcnetFile, line: str, where: Where) -> None:
    if _TITLE.search(line):
        file.launch += 1
        file.part, file.columns = None, []
    elif match := _RANKS.search(line):
        ranks = whole(match[1], "MPI ranks", where, minimum=1, maximum=1 << 24)
        if file.records and ranks != file.ranks:
            what = f"this run is of {ranks} ranks, the one before of {file.ranks}: put each into a file of its own"
            raise where.corrupt("MPI ranks", what)
        file.ranks = ranks
    elif not line.startswith("|"):
        if line.strip("+- ") and not _PROSE.search(line):
            file.skipped.foreign_line(where, line)
    else:
        _table_line(file, line, where)


def _table_line(file: _GpcnetFile, line: str, where: Where) -> None:
    section = next((known for known in _SECTIONS if known[0].search(line)), None)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if section is not None:
        file.part, file.columns = section[1], []
    elif cells[0] == "Name" and cells[-1] == "Units":
        file.columns = cells
    elif file.part is None or not file.columns:
        return
    elif len(cells) != len(file.columns):
        what = f"the row has {len(cells)} columns, its header {len(file.columns)}"
        file.skipped.row(where, line, None, what)
    else:
        _row(file, file.part, dict(zip(file.columns, cells, strict=True)), line, where)


def _row(file: _GpcnetFile, part: str, cells: dict[str, str], line: str, where: Where) -> None:
    match = _NAME.fullmatch(cells["Name"])
    if match is None or match[1] not in _TESTS:
        what = f"{cells['Name'][:40]!r} is no test of GPCNeT that is known"
        file.skipped.row(where, line, "Name", what)
        return
    pattern, operation = _TESTS[match[1]]
    if "Avg" not in cells:
        raise where.corrupt("Avg", "no column has this name")
    if lacks_value(cells["Avg"]):
        file.skipped.without_time(where, line, "Avg", cells["Avg"])
        return
    size = whole(match[2], "Name", where, minimum=1)
    key = (max(file.launch, 0), part, pattern, operation)
    kept = {name: float(cell) for name, cell in cells.items() if is_number(cell)}
    series = ImportedSeries(
        pattern=pattern,
        direction="call",
        operation=operation,
        message_bytes=size,
        seconds=np.array([_seconds(cells, size, where)]),
        messages_per_sample=1,
        peers=max(file.ranks - 1, 1),
    )
    tag = {"gpcnet": match[1], "units": cells["Units"], "printed": kept}
    record = ImportedRecord(
        (series,), visit=file.visits[key], launch=key[0], tag=tag, placement=part
    )
    file.records.append(record)
    file.visits[key] += 1


def _seconds(cells: dict[str, str], size: int, where: Where) -> float:
    if cells["Units"] == "usec":
        return time(cells["Avg"], "Avg", where, factor=MICROSECOND)
    if cells["Units"] != "MiB/s/rank":
        raise where.corrupt(
            "Units", f"{cells['Units'][:20]!r} is unknown; known are usec and MiB/s/rank"
        )
    seconds = size / (number(cells["Avg"], "Avg", where) * MEBIBYTE)
    if too_long(seconds):
        raise where.corrupt("Avg", f"means {seconds:g} s")
    return seconds


GPCNET = Importer(
    name="gpcnet",
    summary="GPCNeT: network_test and network_load_test, alone and beside congestors",
    sign=r"^\s*Network(?:Load)? Tests v[\d.]+\s*$|RR Two-sided (?:Lat|BW)",
    is_log=True,
    read=read,
)
