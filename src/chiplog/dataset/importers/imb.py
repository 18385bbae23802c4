"""Intel MPI Benchmarks: the PingPong tables of IMB-MPI1, and those of `-multi`, one value a size.

    # Benchmarking PingPong                    #bytes #repetitions t[usec] Mbytes/sec
    # Benchmarking Multi-PingPong              #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec
    # ( 4 groups of 2 processes each running simultaneous )

A time is half a ping-pong, the mean over the repetitions. PingPong becomes a one-way ping_pong, Multi-PingPong one-way
pairs with the slowest group's t_max. A benchmark that stands in the file again with as many groups is another launch;
tables of other benchmarks are not read.

Source: the output of the Intel MPI Benchmarks, and their user guide ("time = Δt/2").
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from chiplog.dataset.import_values import time, whole
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

MICROSECOND = 1e-6
CONVENTION = "half a ping-pong in microseconds, one-way, the mean over the repetitions (of several groups, the slowest)"
_NAMES = {"PingPong": "ping_pong", "PingPongSpecificSource": "ping_pong", "Multi-PingPong": "pairs"}
_TITLE = re.compile(r"#\s*Benchmarking\s+(\S+)\s*")
_GROUPS = re.compile(r"#\s*\(\s*(\S+) groups of (\S+) processes each running simultaneous\s*\)?\s*")
_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(\S+)\s*")


@dataclass
class _Table:
    """The table that is being read."""

    name: str
    pairs: int = 1
    columns: list[str] = field(default_factory=list)
    launch: int = 0
    sizes: set[int] = field(default_factory=set)


def read(source: Source, options: Options) -> Imported:
    """The PingPong tables of an IMB output; CorruptFile names line and column of what is wrong."""
    if options.direction not in (None, "one-way"):
        raise UsageError(f"--direction {options.direction} does not fit: IMB's times are one-way.")
    records: list[ImportedRecord] = []
    seen: Counter[tuple[str, int]] = Counter()
    table: _Table | None = None
    for number, line in enumerate(source.lines(), start=1):
        where, text = source.where(number), line.strip()
        if match := _TITLE.fullmatch(text):
            table = _Table(match[1]) if match[1] in _NAMES else None
        elif table is None:
            continue
        elif match := _GROUPS.fullmatch(text):
            table.pairs = whole(match[1], "groups", where, minimum=1, maximum=1 << 20)
            _two(match[2], where)
        elif match := _PROCESSES.fullmatch(text):
            _two(match[1], where)
        elif text.startswith("#bytes"):
            table.columns = text.split()
            table.launch = seen[table.name, table.pairs]
            seen[table.name, table.pairs] += 1
        elif text and not text.startswith("#"):
            records.append(_record(text.split(), table, where))
    _check_pattern(records, options)
    most = max((one.pairs for record in records for one in record.series), default=1)
    return Imported(records, CONVENTION, ranks=2 * most)


def _two(word: str, where: Where) -> None:
    processes = whole(word, "#processes", where, minimum=1, maximum=1 << 20)
    if processes != 2:
        raise where.corrupt("#processes", f"a ping-pong has 2 processes, not {processes}")


def _record(words: list[str], table: _Table, where: Where) -> ImportedRecord:
    wanted = "t_max[usec]" if _NAMES[table.name] == "pairs" else "t[usec]"
    if wanted not in table.columns:
        raise where.corrupt(wanted, "no line before names such a column")
    if len(words) != len(table.columns):
        missing = table.columns[len(words)] if len(words) < len(table.columns) else None
        what = f"the row has {len(words)} columns, its header {len(table.columns)}"
        raise where.corrupt(missing, what)
    size = whole(words[0], "#bytes", where)
    if size in table.sizes:
        raise where.corrupt("#bytes", f"{size} stands twice in one table")
    table.sizes.add(size)
    repetitions = whole(words[1], "#repetitions", where, minimum=1)
    seconds = time(words[table.columns.index(wanted)], wanted, where, factor=MICROSECOND)
    series = ImportedSeries(
        pattern=_NAMES[table.name],
        direction="one-way",
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=2 * table.pairs,
        bytes_per_sample=2 * table.pairs * size,
        pairs=table.pairs,
    )
    return ImportedRecord(
        (series,), launch=table.launch, tag={"imb": table.name, "repetitions": repetitions}
    )


def _check_pattern(records: list[ImportedRecord], options: Options) -> None:
    held = {one.pattern for record in records for one in record.series}
    if options.pattern is not None and held and held != {options.pattern}:
        raise UsageError(
            f"--pattern {options.pattern} does not fit: the file holds {', '.join(sorted(held))}."
        )


IMB = Importer(
    name="imb",
    summary="Intel MPI Benchmarks: PingPong, also of -multi",
    read=read,
)
