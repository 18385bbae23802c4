"""perftest: ib_send_lat, ib_write_lat, ib_read_lat, ib_send_bw, ib_write_bw, … as linux-rdma's perftest prints them.

                        RDMA_Write BW Test
     Number of qps   : 1
     #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
     65536      5000             11030.78            11030.45             0.176487

A latency of sends and writes is half a ping-pong, one of reads and atomics the whole operation: t_typical, the median,
or t_avg where there is no other (-D). With -U or -H all times are printed, and kept. A bandwidth becomes a flood of as
many messages as there were iterations. MB are of 2^20 B, whatever the header says, unless the rate of messages tells
otherwise; Gb are of 1e9 bits.

Source: perftest 4 to 25, its tables and their code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chiplog.dataset.import_parts import HOST, PartTable, launches_in_parts, part_name, unless_host
from chiplog.dataset.import_series import flood, half_round_trips, whole_operations
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value
from chiplog.dataset.import_values import (
    AGREEMENT,
    BYTE_BITS,
    LONGEST_SECONDS,
    MEBIBYTE,
    MEGABYTE,
    MICROSECOND,
    MICROSECOND_STEP,
    number,
    printed_step,
    time,
    whole,
)
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.dataset.operations import ATOMIC_BYTES

DIGITS = 1000
"""Given: the rate of messages has enough digits to tell the unit of a bandwidth, if it is so many of its last steps."""
MESSAGE_RATE_STEP = 1e-6
"""Given: its last digit."""
CONVENTION = (
    "half a ping-pong of sends and writes, a whole operation of reads and atomics: t_typical, the median, or t_avg; "
    "a bandwidth is that of all iterations together"
)
_TITLE = re.compile(r"(Send|RDMA_Write\w*|RDMA_Read|Atomic \w+)(.*?)\b(BW|Latency)\b(.*?)\s*Test")
_COLUMN = re.compile(r"#\w+|(?:\S+ )?\S+\[[^\]]+\]|tps average|tps")
_SETTING = re.compile(r"([A-Za-z][\w*/. -]*?)\s*:\s*(\S+)")
_SAMPLE = re.compile(r"(\d+),\s*([\d.eE+-]+)")
_OPERATIONS: Mapping[str, str] = {
    "Send": "send",
    "RDMA_Write": "rdma-write",
    "RDMA_Write_With_Imm": "rdma-write-immediate",
    "RDMA_Read": "rdma-read",
    "Atomic FETCH_AND_ADD": "atomic",
}
_UNITS = {"MB/sec": MEBIBYTE, "MiB/sec": MEBIBYTE, "Gb/sec": 1e9 / BYTE_BITS}
"""Given: bytes a second."""
_MEGABYTES = (MEGABYTE, MEBIBYTE)


@dataclass
class _PerftestTable:
    """The test whose table is being read."""

    title: str
    operation: str
    is_bandwidth: bool
    where: Where
    settings: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: dict[int, list[str]] = field(default_factory=dict)
    """By size; there are several where the test was run for ever and printed what it had so far."""
    samples: list[float] = field(default_factory=list)
    unit: str | None = None
    is_entered: bool = False
    """Has a row been read?"""

    @property
    def memory(self) -> str:
        """In what memory the messages are."""
        device = next(
            (
                name
                for name in self.settings
                if re.fullmatch(r"Use \w+ memory", name) and self.settings[name] == "ON"
            ),
            None,
        )
        return "-".join([*device.split()[1:2], "buffers"]) if device else HOST

    @property
    def connections(self) -> str:
        """The type of the connections."""
        return self.settings.get("Connection type", "unnamed")


@dataclass
class _PerftestFile:
    """What was read of a file so far."""

    options: Options
    skipped: Skipped = field(default_factory=Skipped)
    parts: list[PartTable] = field(default_factory=list)
    medians: int = 0
    means: int = 0
    table: _PerftestTable | None = None
    seen_title: bool = False


def read(source: Source, options: Options) -> Imported:
    """The tables of perftest; CorruptFile names line and column of what is wrong."""
    file = _PerftestFile(options)
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    if not file.seen_title and "#bytes" not in source.text:
        file.skipped.refuse_if_empty(file.parts)
    if not file.seen_title:
        what = "no line says which test this is: put its title, such as 'RDMA_Write BW Test', before the table"
        raise source.where(1).corrupt("title", what)
    records, several = launches_in_parts(file.parts)
    file.skipped.refuse_if_empty(records)
    raw = not file.medians and not file.means
    return Imported(
        records,
        CONVENTION,
        warnings=(*several, *file.skipped.warnings()),
        statistic=None if raw else "median" if not file.means else "mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _read_line(file: _PerftestFile, line: str, where: Where) -> None:
    table = file.table
    if match := _TITLE.fullmatch(line):
        _begin(file, match, where)
    elif not line or set(line) <= {"-"} or line.startswith("*"):
        return
    elif line.startswith(("#bytes", "#qps")):
        if table is not None:
            table.columns = _COLUMN.findall(line)
    elif line.startswith("#"):
        if table is not None and (match := re.fullmatch(r"#,\s*(\S+)", line)):
            table.unit, table.samples = match[1], []
    elif table is not None and (match := _SAMPLE.fullmatch(line)):
        if table.unit == "usec":
            table.samples.append(time(match[2], "usec", where, factor=MICROSECOND))
    elif table is not None and table.columns and is_number(line.split()[0]):
        _row(file, table, line, where)
    elif settings := _SETTING.findall(line):
        if table is not None and not table.columns:
            table.settings.update((name.strip(), value) for name, value in settings)
        elif table is not None or not file.seen_title:
            file.skipped.foreign_line(where, line)
    elif table is not None or not file.seen_title:
        file.skipped.foreign_line(where, line)


def _begin(file: _PerftestFile, match: re.Match[str], where: Where) -> None:
    file.seen_title, title = True, match[0].strip()
    name = match[1].removesuffix("ediate")
    further = f"{match[2]} {match[4]}".strip()
    file.table = None
    if name not in _OPERATIONS or further:
        known = ", ".join(_OPERATIONS)
        why = (
            ": no pattern of chiplog sends both ways at once" if "Bidirectional" in further else ""
        )
        what = (
            f"{title!r} can't be imported{why}; known are {known}, each as BW Test and Latency Test"
        )
        file.skipped.table(where, title, what)
        return
    is_bandwidth = match[3] == "BW"
    pattern = "flood" if is_bandwidth else "ping_pong"
    file.options.check_pattern((pattern,), f"{title} holds {pattern}")
    file.table = _PerftestTable(title, _OPERATIONS[name], is_bandwidth, where)
    direction = _direction(file.table)
    file.options.check_direction((direction,), f"the numbers of {title} are {direction}")


def _direction(table: _PerftestTable) -> str:
    whole_operation = table.is_bandwidth or table.operation in ("rdma-read", "atomic")
    return "round-trip" if whole_operation else "one-way"


def _row(file: _PerftestFile, table: _PerftestTable, line: str, where: Where) -> None:
    words = line.split()
    if len(words) != len(table.columns):
        what = f"the row has {len(words)} columns, its header {len(table.columns)}"
        file.skipped.row(where, line, None, what)
        return
    row = dict(zip(table.columns, words, strict=True))
    size = whole(row.get("#bytes", ""), "#bytes", where)
    if line in table.rows.get(size, ()):
        return
    visit = len(table.rows.setdefault(size, []))
    table.rows[size].append(line)
    if not table.is_entered and not _enter(file, table):
        return
    series = (_flood if table.is_bandwidth else _latency)(file, table, row, size, where, line)
    table.samples = []
    if series is not None:
        tag = {"perftest": table.title, "iterations": row.get("#iterations")}
        file.parts[-1].records.append(ImportedRecord((series,), visit=visit, tag=tag))


def _enter(file: _PerftestFile, table: _PerftestTable) -> bool:
    """Begins a table with its first row; False where it is of several queue pairs at once."""
    queue_pairs = table.settings.get("Number of qps", "1")
    if queue_pairs != "1":
        what = f"{queue_pairs[:20]} queue pairs send at once, which no pattern of chiplog does: run it with -q 1"
        file.skipped.table(table.where, table.title, what)
        file.table = None
        return False
    table.is_entered = True
    memory = table.memory
    part, full = unless_host(memory), part_name(table.connections, memory) or memory
    file.parts.append(PartTable((table.title,), table.where, part, full))
    return True


def _latency(
    file: _PerftestFile,
    table: _PerftestTable,
    row: Mapping[str, str],
    size: int,
    where: Where,
    line: str,
) -> ImportedSeries | None:
    column = next((c for c in ("t_typical[usec]", "t_avg[usec]") if c in row), None)
    if column is None:
        what = "no column has a time in us: run it without --report-cycles"
        file.skipped.row(where, line, "t_typical[usec]", what)
        return None
    if lacks_value(row[column]):
        file.skipped.without_time(where, line, column, row[column])
        return None
    if table.operation == "atomic" and size != ATOMIC_BYTES:
        raise where.corrupt(
            "#bytes",
            f"this is an atomic of {size} bytes; chiplog reads those of {ATOMIC_BYTES} only",
        )
    seconds = [time(row[column], column, where, factor=MICROSECOND)]
    if len(table.samples) > 1:
        seconds = table.samples
    elif column == "t_typical[usec]":
        file.medians += 1
    else:
        file.means += 1
    if _direction(table) == "round-trip":
        return whole_operations(size, seconds, table.operation)
    return half_round_trips(size, seconds, operation=table.operation)


def _flood(
    file: _PerftestFile,
    table: _PerftestTable,
    row: Mapping[str, str],
    size: int,
    where: Where,
    line: str,
) -> ImportedSeries | None:
    column = next((c for c in row if c.replace("_", " ").startswith("BW average[")), "")
    unit = column[column.find("[") + 1 : -1]
    if unit not in _UNITS:
        raise where.corrupt("BW average", f"no column has a bandwidth in {', '.join(_UNITS)}")
    if lacks_value(row[column]):
        file.skipped.without_time(where, line, column, row[column])
        return None
    messages = whole(row.get("#iterations", ""), "#iterations", where, minimum=1)
    rate = number(row[column], column, where) * _UNITS[unit]
    word = row.get("MsgRate[Mpps]", "0")
    message_rate = number(word, "MsgRate[Mpps]", where) if is_number(word) else 0.0
    if message_rate >= DIGITS * MESSAGE_RATE_STEP and size:
        agreed = _agreed(row[column], unit, message_rate * MEGABYTE * size, message_rate)
        if agreed is None:
            what = f"is {row[column]}, but the rate of messages gives {message_rate * size:.2f} * 1e6 B/s"
            raise where.corrupt(column, what)
        rate = agreed
    seconds = messages * max(size, 1) / rate
    if seconds > LONGEST_SECONDS:
        raise where.corrupt(column, f"means {seconds:g} s, more than {LONGEST_SECONDS:g} s")
    file.means += 1
    return flood(size, seconds, messages, table.operation)


def _agreed(printed: str, unit: str, said: float, message_rate: float) -> float | None:
    """The bandwidth in B/s, by the more precise of both columns; None where they contradict each other.

    `said` is that of the rate of messages, in B/s. A bandwidth of few digits may be off by its last one.
    """
    units = (_UNITS[unit],) if unit == "Gb/sec" else _MEGABYTES
    factor = min(units, key=lambda unit: abs(float(printed) * unit - said))
    step = printed_step(printed)
    rate = float(printed) * factor
    if abs(rate - said) > AGREEMENT * said + step * factor:
        return None
    digits = float(printed) / step
    return rate if digits >= message_rate / MESSAGE_RATE_STEP else said


PERFTEST = Importer(
    name="perftest",
    summary="linux-rdma's perftest: ib_send_lat, ib_write_bw, ib_read_lat, ...",
    sign=r"^\s*#bytes\s+#iterations\s|^\s*(Send|RDMA_Write\w*|RDMA_Read|Atomic \w+)\b.*(BW|Latency)\b.*Test\s*$",
    is_log=True,
    read=read,
)
