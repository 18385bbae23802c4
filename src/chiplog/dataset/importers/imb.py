"""Intel MPI Benchmarks: PingPong, also of `-multi`, and collective operations, one value a size.

    # Benchmarking PingPong                    #bytes #repetitions t[usec] Mbytes/sec
    # Benchmarking Multi-PingPong              #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec
    # ( 4 groups of 2 processes each running simultaneous )
                                               Group #bytes #repetitions t[usec] Mbytes/sec         of -multi 1
    # Benchmarking PingPong                    #bytes #repetitions t[usec] Mbytes/sec Msg/sec      of IMB-P2P
    # #processes = 4

A time is half a ping-pong, the mean over the repetitions. PingPong becomes a one-way ping_pong, Multi-PingPong one-way
pairs with the slowest group's time: t_max, or the longest of a size's rows where each group has one. IMB-P2P's t is the
mean over all processes, but its rate of messages is that of the slowest one, from which the time of pairs is taken. A
benchmark that stands in the file again with as many groups is another launch, or a part of another path. Tables of
one-sided operations and others are not read.

    # Benchmarking Allreduce           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
    # Benchmarking Barrier                    #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
    # Benchmarking Iallreduce          #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]

The time of a collective operation is that of the slowest process: `t_max`, or of operations that don't block `t_pure`,
their time without any computation. The message is the block of one rank of gather, scatter, allgather and alltoall,
else the whole buffer. PingPing, in which two processes send to each other at once, becomes `exchange`.

Source: the output of the Intel MPI Benchmarks, and their user guide ("time = Δt/2").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from chiplog.dataset.import_collectives import DEFAULT, collective_name, collective_series
from chiplog.dataset.import_parts import PartTable, launches_in_parts
from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_side_by_side import one_below_the_other
from chiplog.dataset.import_text import (
    Paths,
    Skipped,
    is_number,
    is_row,
    lacks_value,
    printed_lines,
)
from chiplog.dataset.import_values import MICROSECOND, MICROSECOND_STEP, number, time, whole
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

CONVENTION = (
    "means over the repetitions in us: half a ping-pong (one-way; of several groups, the slowest), a collective "
    "operation of the slowest process"
)
_NAMES = {
    "PingPong": "ping_pong",
    "PingPongSpecificSource": "ping_pong",
    "PingPongAnySource": "ping_pong",
    "Multi-PingPong": "pairs",
}
EXCHANGE = "exchange"
EXCHANGES = {
    "PingPing": EXCHANGE,
    "PingPingSpecificSource": EXCHANGE,
    "PingPingAnySource": EXCHANGE,
    "Sendrecv": "sendrecv",
    "Exchange": "neighbor_exchange",
}
"""The pattern of benchmarks in which every process sends and receives at once."""
COLLECTIVE_TIMES = ("t_max[usec]", "t_pure[usec]", "t[usec]")
"""The columns with the time, the first that there is."""
_NON_BLOCKING = re.compile(r"I(\w+?)(?:_pure)?")
_RATE = "Msg/sec"
_WHY = (
    (
        r"(uni|bi)dir_|(one|all)_(put|get)_|put_|get_|fetch|compare|accumulate|exchange_|truly",
        "no pattern of chiplog times this one-sided operation with its completion",
    ),
    (r"uniband|biband", "its rows are rates of windows of messages"),
    (r"multi-", "several groups share the network"),
)
"""Why a benchmark can't be imported, by how its name begins."""
_BEGIN = re.compile(r"(?:\\?#\s*)?\bBenchmarking\s+(\S+)")
_TITLE = re.compile(rf"{_BEGIN.pattern}\s*")
_GROUPS = re.compile(
    r"(?:\\?#\s*)?\(\s*(\S+) groups? of (\S+) processes each running simultaneous(?:ly)?\s*\)?\s*"
)
_SIZES = re.compile(r"(?:Group\s+)?\\?#bytes\b")
_HEADER = re.compile(rf"{_SIZES.pattern}|\\?#repetitions\b")
_COLUMN = re.compile(r"overlap\s*\[%\]|\S+")
_PROCESSES = re.compile(r"(?:\\?#\s*)?\\?#processes\s*=\s*(\S+)\s*")


class ImbCollective(NamedTuple):
    """What a benchmark of all processes is: the pattern, the operation and the direction of its series."""

    pattern: str
    operation: str
    direction: str = "call"


def imb_collective(name: str) -> ImbCollective | None:
    """What a benchmark of this name is; None of others, such as PingPong.

    >>> imb_collective("Iallreduce")
    ImbCollective(pattern='allreduce', operation='default, non-blocking', direction='call')
    """
    if name in EXCHANGES:
        pattern = EXCHANGES[name]
        return ImbCollective(pattern, "send", "one-way" if pattern == EXCHANGE else "call")
    if (collective := collective_name(name)) is not None:
        return ImbCollective(collective, DEFAULT)
    match = _NON_BLOCKING.fullmatch(name)
    collective = collective_name(match[1]) if match else None
    return None if collective is None else ImbCollective(collective, f"{DEFAULT}, non-blocking")


@dataclass
class _ImbTable:
    """The table that is being read."""

    name: str
    where: Where
    place: str | None = None
    collective: ImbCollective | None = None
    pairs: int = 1
    processes: tuple[int, Where] | None = None
    has_sizes: bool = True
    """False of a barrier."""
    is_by_rate: bool = False
    """Is the time that of the rate of messages of all pairs of IMB-P2P together?"""
    columns: list[str] = field(default_factory=list)
    means: dict[int, float] = field(default_factory=dict)
    """The mean over the processes of each size, where the time is that of the slowest."""
    sizes: dict[int, dict[int, float]] = field(default_factory=dict)
    """The seconds of each group by size; of group 0 alone where the groups have no rows of their own."""
    repetitions: dict[int, int] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        """The pattern that its rows become."""
        if self.collective is not None:
            return self.collective.pattern
        return "pairs" if self.pairs > 1 else _NAMES[self.name]

    @property
    def time_column(self) -> str | None:
        """The column with the time of the slowest group, or of the only one; None where there is no such column."""
        if self.is_by_rate:
            return _RATE
        if self.collective is not None:
            return next((name for name in COLLECTIVE_TIMES if name in self.columns), None)
        wanted = (
            ["t_max[usec]", "t[usec]"] if self.pattern == "pairs" else ["t[usec]", "t_avg[usec]"]
        )
        if self.pattern == "pairs" and not self.has_groups:
            wanted = wanted[:1]
        return next((name for name in wanted if name in self.columns), None)

    @property
    def has_groups(self) -> bool:
        """Has each group a row of its own?"""
        return self.columns[:1] == ["Group"]


@dataclass
class _ImbFile:
    """What was read of a file so far."""

    options: Options
    tables: list[_ImbTable] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    paths: Paths = field(default_factory=Paths)
    table: _ImbTable | None = None
    titles: int = 0

    def title(self, name: str, where: Where) -> None:
        """Begins the table of a benchmark, or passes it over."""
        self.titles += 1
        self.table = None
        self.skipped.end_table()
        collective = imb_collective(name)
        if name not in _NAMES and collective is None:
            known = ", ".join((*_NAMES, "Allreduce", "..."))
            why = next(
                (f": {why}" for pattern, why in _WHY if re.match(pattern, name, re.IGNORECASE)), ""
            )
            what = f"the benchmark {name[:60]!r} can't be imported{why}; known are {known}"
            self.skipped.table(where, name, what)
            return
        self.table = _ImbTable(name, where, self.paths.last_place, collective)
        self.tables.append(self.table)

    def header(self, table: _ImbTable, line: str) -> None:
        """Takes the names of the columns, with which the rows begin."""
        table.columns = _COLUMN.findall(line.replace("\\#", "#"))
        if table.columns[:1] == ["#repetitions"]:
            table.columns.insert(0, "#bytes")
            table.has_sizes = False
        if table.processes is not None and table.collective is None:
            _check_processes(table, *table.processes)


def read(source: Source, options: Options) -> Imported:
    """The PingPong tables of an IMB output; CorruptFile names line and column of what is wrong."""
    options.check_direction(("one-way",), "IMB's times are one-way")
    file = _ImbFile(options)
    for where, line in one_below_the_other(printed_lines(source), _BEGIN, _SIZES):
        _read_line(file, line.strip(), where)
    records, several = launches_in_parts([_part(table, file.skipped) for table in file.tables])
    _check_pattern(records, options)
    file.skipped.refuse_if_empty(records)
    ranks = [2 * series.pairs for record in records for series in record.series]
    ranks += [table.processes[0] for table in file.tables if table.collective and table.processes]
    return Imported(
        records,
        CONVENTION,
        ranks=max(ranks, default=None),
        warnings=(*several, *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _read_line(file: _ImbFile, line: str, where: Where) -> None:
    table = file.table
    if match := _TITLE.fullmatch(line):
        file.title(match[1], where)
    elif not line:
        return
    elif table is not None and (match := _GROUPS.fullmatch(line)):
        table.pairs = whole(match[1], "groups", where, minimum=1, maximum=1 << 20)
        table.processes = whole(match[2], "#processes", where, minimum=1, maximum=1 << 20), where
    elif table is not None and (match := _PROCESSES.fullmatch(line)):
        table.processes = whole(match[1], "#processes", where, minimum=1, maximum=1 << 20), where
    elif table is not None and _HEADER.match(line):
        file.header(table, line)
    elif line.startswith("#") or _HEADER.match(line):
        file.paths.read(line)
    elif table is not None and is_number(line.split()[0]):
        _row(line, table, file.skipped, where)
    elif not is_row(line.split()) or not file.titles:
        file.skipped.foreign_line(where, line)
        file.paths.read(line)


def _part(table: _ImbTable, skipped: Skipped) -> PartTable:
    """The records of a table; nothing but the lines before it says where its processes ran."""
    processes = table.processes[0] if table.collective and table.processes else 0
    operation = table.collective.operation if table.collective else "send"
    key = (table.pattern, operation, table.pairs, processes)
    records = list(_records(table, skipped))
    return PartTable(key, table.where, table.place, table.place or "unnamed", records)


def _check_processes(table: _ImbTable, processes: int, where: Where) -> None:
    """Takes the number of pairs of IMB-P2P; CorruptFile where there can be no pairs."""
    if _RATE in table.columns and processes % 2 == 0 and processes > 2:
        table.pairs, table.is_by_rate = processes // 2, True
    elif processes != 2:
        raise where.corrupt("#processes", f"a ping-pong has 2 processes, not {processes}")


def _row(line: str, table: _ImbTable, skipped: Skipped, where: Where) -> None:
    if not table.has_sizes:
        line = f"0 {line}"
    words, wanted = line.split(), table.time_column
    if wanted is None:
        missing = "t_max[usec]" if table.pattern == "pairs" else "t[usec]"
        raise where.corrupt(missing, "no line before names such a column")
    of_size = 1 if table.has_groups else 0
    if len(words) > of_size + 1 and not is_number(words[of_size + 1]):
        skipped.row(where, line, "#repetitions", f"{words[of_size + 1][:20]!r} is no number")
        return
    if len(words) != len(table.columns) and not all(map(is_number, words)):
        skipped.row(where, line, None, "words of another program stand in the row")
        return
    what = f"the row has {len(words)} columns, its header {len(table.columns)}"
    if skipped.cut(where, line, words, table.columns, what):
        return
    group = whole(words[0], "Group", where) if table.has_groups else 0
    size = whole(words[of_size], "#bytes", where)
    if group in table.sizes.get(size, {}):
        raise where.corrupt("#bytes", f"{size} stands twice in one table")
    word = words[table.columns.index(wanted)]
    if is_number(word) and lacks_value(word):
        skipped.without_time(where, line, wanted, word)
        return
    if table.is_by_rate:
        seconds = table.pairs / number(word, wanted, where)
    else:
        seconds = time(word, wanted, where, factor=MICROSECOND)
    table.repetitions[size] = whole(words[of_size + 1], "#repetitions", where, minimum=1)
    table.sizes.setdefault(size, {})[group] = seconds
    if wanted == "t_max[usec]" and "t_avg[usec]" in table.columns:
        word = words[table.columns.index("t_avg[usec]")]
        table.means[size] = time(word, "t_avg[usec]", where, factor=MICROSECOND)


def _records(table: _ImbTable, skipped: Skipped) -> Iterator[ImportedRecord]:
    """A record a size, of the slowest group; a size that lacks a group's row is left out."""
    groups = table.pairs if table.has_groups else 1
    for size, seconds in table.sizes.items():
        if len(seconds) != groups:
            what = f"the size {size} has rows of {len(seconds)} groups, not of {groups}"
            skipped.row(table.where, f"{table.name}, {size} bytes", "Group", what)
            continue
        tag: dict[str, object] = {"imb": table.name, "repetitions": table.repetitions[size]}
        if table.collective is not None and size in table.means:
            tag["mean_over_ranks_seconds"] = table.means[size]
        yield ImportedRecord((_series(table, size, max(seconds.values())),), tag=tag)


def _series(table: _ImbTable, size: int, seconds: float) -> ImportedSeries:
    if table.collective is not None:
        series = collective_series(
            table.collective.pattern,
            size,
            np.array([seconds]),
            algorithm=table.collective.operation,
            ranks=table.processes[0] if table.processes else None,
        )
        return replace(series, direction=table.collective.direction)
    return half_round_trips(size, seconds, pattern=table.pattern, pairs=table.pairs)


def _check_pattern(records: list[ImportedRecord], options: Options) -> None:
    held = {series.pattern for record in records for series in record.series}
    if options.pattern is not None and held and held != {options.pattern}:
        raise UsageError(
            f"--pattern {options.pattern} does not fit: the file holds {', '.join(sorted(held))}; leave it out."
        )


IMB = Importer(
    name="imb",
    summary="Intel MPI Benchmarks: PingPong, also of -multi, PingPing, Allreduce, Barrier, ...",
    sign=r"#\s*Benchmarking\s+\S+|Intel\(R\) MPI Benchmarks",
    is_log=True,
    read=read,
)
