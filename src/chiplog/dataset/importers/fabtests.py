"""fabtests of libfabric, and fi_pingpong: ping-pongs and bandwidths over one provider.

    fi_rdm_tagged_pingpong -p tcp -I 1000 n1                        the command, which not every log holds
    bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec
    64      10k     1.2m        0.40s      3.20      20.00       0.05
    bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec      of fi_pingpong
    - { xfer_size: 64, iterations: 10000, total: 1280000, time: 0.4, MB/sec: 3.2, usec/xfer: 20.0, ... }    of -m

A ping-pong has two transfers an iteration, so that usec/xfer is half a round trip; a bandwidth test has one. `total`
tells which: it is bytes x iterations x transfers. Without a command only ping-pongs of sends can be told: one transfer
an iteration may be a flood of sends, of writes or of reads, or one read after the other.

Sizes are cut to their first digits (1k, 1.5k, 976k): a row whose rate and time contradict its size is skipped.

Source: the output of fabtests, libfabric 1.4 to 2.3: size_str, cnt_str and show_perf; 1 MB/s is 1e6 B/s, 1k is 1024 B
of a size and of `total`, but 1000 of iterations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chiplog.dataset.import_parts import PartTable, launches_in_parts
from chiplog.dataset.import_series import flood, half_round_trips, whole_operations
from chiplog.dataset.import_text import Skipped, clean_lines, noted
from chiplog.dataset.import_values import (
    MEGABYTE,
    MICROSECOND,
    MICROSECOND_STEP,
    number,
    printed_step,
    too_long,
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
from chiplog.outside import as_integer

DEFAULT_WINDOW = 64
"""Given: messages of a window without -W."""
DIGITS = 3
"""Given: a time is taken as printed if it has so many digits, else from a rate that has more."""
ROUNDED = 1e-6
"""Given: relative error of the single-precision numbers that fabtests computes with."""
NO_TEST = (
    "the file does not name its test; two transfers an iteration are taken for a ping-pong of sends",
    "put the command (fi_rma_pingpong -o write ...) before the table if it is another one",
)
CONVENTION = "means over iterations: half a ping-pong (one-way), a whole read, a window of messages; 1 MB/s = 1e6 B/s"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_COUNTS = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
"""Given: units of sizes and of counts."""
_CELL = re.compile(r"(\d{1,12})(?:\.(\d))?([kmgb]?)")
_COMMAND = re.compile(r"(?:.*[\s/])?(fi_\w+)(?:\.exe)?(?:\s+(.*))?")
_OPERATION = re.compile(r"(?:^|\s)-o\s*(\w+)")
_PROVIDER = re.compile(r"(?:^|\s)-p\s*([\w;\"']+)")
_WINDOW = re.compile(r"(?:^|\s)-W\s*(\d{1,7})(?=\s|$)")
_MACHINE = re.compile(r"-\s*\{\s*(xfer_size:.*\})")
_MEMBER = re.compile(r"([\w/]+):\s*([^,\s}]+)")
_RATES = ("MB/sec", "usec/xfer", "Mxfers/sec")
_COLUMNS = ("total", "time", *_RATES)
_WRITES = {"write": "rdma-write", "writedata": "rdma-write-immediate", "read": "rdma-read"}
_PING_PONGS = re.compile(r"fi_(?:pingpong|\w+_pingpong)")
_FLOODS = re.compile(r"fi_(?:msg|rdm|rdm_tagged|dgram)_bw")


@dataclass(frozen=True)
class _TestKind:
    """What a test's numbers are of."""

    test: str
    pattern: str
    operation: str
    transfers: int
    window: int = 1
    is_named: bool = True


@dataclass(frozen=True)
class _Row:
    """A row with the place it stands at; rates and times keep the words they were printed as."""

    where: Where
    line: str
    size: range
    iterations: range
    total: range
    rate: str
    time: str
    transfers_rate: str


@dataclass
class _FabtestsTable:
    """Rows below one header."""

    where: Where
    test: str | None
    options: str
    rows: list[_Row] = field(default_factory=list)

    @property
    def provider(self) -> str | None:
        """The provider that the command names."""
        match = _PROVIDER.search(self.options)
        return match[1].strip("\"'") if match else None


@dataclass
class _FabtestsFile:
    """What was read of a file so far."""

    skipped: Skipped = field(default_factory=Skipped)
    tables: list[_FabtestsTable] = field(default_factory=list)
    test: str | None = None
    options: str = ""
    columns: Sequence[str] = ()


def read(source: Source, options: Options) -> Imported:
    """The tables of fabtests; CorruptFile names line and column of what is wrong."""
    options.check_direction((), "the test says what its times are")
    file = _FabtestsFile()
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    tables = []
    guessed = 0
    for table in (candidate for candidate in file.tables if candidate.rows):
        kind = _kind(table, options)
        guessed += not kind.is_named
        provider = table.provider
        records = _records(table, kind, file.skipped)
        key = (kind.pattern, kind.operation)
        tables.append(PartTable(key, table.where, provider, provider or "unnamed", records))
    records, several = launches_in_parts(tables)
    file.skipped.refuse_if_empty(records)
    return Imported(
        records,
        CONVENTION,
        warnings=(*several, *noted(guessed, "tables", *NO_TEST), *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _read_line(file: _FabtestsFile, line: str, where: Where) -> None:
    words = line.split()
    if match := _MACHINE.search(line):
        _machine_row(file, dict(_MEMBER.findall(match[1])), line, where)
    elif words[-len(_COLUMNS) :] == list(_COLUMNS):
        file.columns = words
        file.tables.append(_FabtestsTable(where, file.test, file.options))
    elif match := _COMMAND.fullmatch(line.rstrip(":").strip()):
        file.test, file.options, file.columns = match[1], match[2] or "", ()
    elif file.columns and len(words) == len(file.columns) and _CELL.fullmatch(words[0]):
        _row(file, words, line, where)
    elif file.columns and words and _CELL.fullmatch(words[0]) and len(words) > 1:
        what = f"the row has {len(words)} columns, its header {len(file.columns)}"
        file.skipped.row(where, line, None, what)
    elif words:
        file.skipped.foreign_line(where, line)


def _row(file: _FabtestsFile, words: list[str], line: str, where: Where) -> None:
    table = file.tables[-1]
    cells = dict(zip(file.columns, words, strict=True))
    if "bytes" not in cells or ("iters" not in cells and "#sent" not in cells):
        file.skipped.table(table.where, "fabtests", "no column names the size and the iterations")
        return
    if "name" in cells:
        what = "a table with a name for each row is of functional tests, not of a ping-pong"
        file.skipped.table(table.where, cells["name"], what)
        return
    if not cells.get("#ack", "=").startswith("="):
        file.skipped.row(where, line, "#ack", "not every message was answered")
        return
    table.rows.append(
        _Row(
            where,
            line,
            _printed_size(cells["bytes"], "bytes", where),
            _printed_count(cells.get("iters") or cells["#sent"], "iters", where),
            _printed_size(cells["total"], "total", where),
            *(cells[name] for name in _RATES),
        )
    )


def _printed_size(cell: str, name: str, where: Where) -> range:
    """The sizes in bytes that a cell may stand for: from 1 KiB on, tenths below 10 and whole units above are cut off.

    >>> _printed_size("1.5k", "bytes", Where("file")), _printed_size("976k", "bytes", Where("file"))[0]
    (range(1536, 1639), 999424)
    """
    whole_units, tenths, unit = _cell(cell, name, _UNITS, where)
    if unit == 1:
        return range(whole_units, whole_units + 1)
    if whole_units >= 10:
        return range(whole_units * unit, (whole_units + 1) * unit)
    first = 10 * whole_units + tenths
    return range(-(-first * unit // 10), -(-(first + 1) * unit // 10))


def _printed_count(cell: str, name: str, where: Where) -> range:
    """The numbers of iterations that a cell may stand for: from 1000 on, the last three digits are cut off."""
    thousands, _, unit = _cell(cell, name, _COUNTS, where)
    return range(thousands * unit, (thousands + 1) * unit)


def _cell(cell: str, name: str, units: Mapping[str, int], where: Where) -> tuple[int, int, int]:
    """The whole number, the tenth behind its point, and the unit."""
    match = _CELL.fullmatch(cell)
    if match is None or match[3] not in units:
        what = (
            f"{cell[:20]!r} is not a number with one of the units {' '.join(filter(None, units))}"
        )
        raise where.corrupt(name, what)
    return int(match[1]), int(match[2] or 0), units[match[3]]


def _machine_row(file: _FabtestsFile, cells: Mapping[str, str], line: str, where: Where) -> None:
    if not file.tables or file.tables[-1].options != file.options or file.columns:
        file.tables.append(_FabtestsTable(where, file.test, file.options))
        file.columns = ()
    for name in ("xfer_size", "iterations", "total", *_RATES):
        if name not in cells:
            raise where.corrupt(name, "is missing")
    exact = [whole(cells[name], name, where) for name in ("xfer_size", "iterations", "total")]
    size, iterations, total = (range(value, value + 1) for value in exact)
    rates = (cells[name] for name in _RATES)
    file.tables[-1].rows.append(_Row(where, line, size, iterations, total, *rates))


def _kind(table: _FabtestsTable, options: Options) -> _TestKind:
    """What the numbers of a table are of; CorruptFile where nothing tells it."""
    transfers = _transfers(table)
    test = table.test or ""
    chosen = _OPERATION.search(table.options)
    if "rma" in test or "rma" in (table.options.split()[:1] or [""])[0]:
        kind = _one_sided(test, chosen[1] if chosen else "", transfers, table)
    elif _PING_PONGS.fullmatch(test) or (not test and transfers == 2):
        kind = _TestKind(test or "pingpong", "ping_pong", "send", 2, is_named=bool(test))
    elif _FLOODS.fullmatch(test):
        kind = _TestKind(test, "flood", "send", 1, _window(table.options))
    elif test:
        raise table.where.corrupt("test", f"no pattern of chiplog is like {test[:40]}")
    else:
        what = (
            "one transfer an iteration may be a flood of sends, writes or reads: put the test's command, such as "
            "'fi_rdm_bw -p tcp', on a line before the table"
        )
        raise table.where.corrupt("test", what)
    if kind.transfers != transfers:
        what = f"{kind.test} has {kind.transfers} transfers an iteration, but the column total says {transfers}"
        raise table.rows[0].where.corrupt("total", what)
    options.check_pattern((kind.pattern,), f"{kind.test} holds {kind.pattern}")
    return kind


def _one_sided(test: str, operation: str, transfers: int, table: _FabtestsTable) -> _TestKind:
    if operation not in _WRITES:
        what = "the command must say -o write, -o writedata or -o read"
        raise table.where.corrupt("test", what)
    name = _WRITES[operation]
    if test == "fi_rma_pingpong" and operation == "read":
        return _TestKind(test, "ping_pong", name, 1)
    if test == "fi_rma_pingpong":
        return _TestKind(test, "ping_pong", name, 2)
    if test == "fi_rma_bw":
        return _TestKind(test, "flood", name, 1, _window(table.options))
    raise table.where.corrupt(
        "test", f"no pattern of chiplog is like {test[:40]} ({transfers} transfers)"
    )


def _window(options: str) -> int:
    match = _WINDOW.search(options)
    window = as_integer(match[1]) if match else None
    return DEFAULT_WINDOW if window is None else max(window, 1)


def _transfers(table: _FabtestsTable) -> int:
    """How many transfers an iteration has by the column `total`; CorruptFile where it can't be 1 or 2 for all rows."""
    can_be = {1, 2}
    for row in table.rows:
        if row.size[0] == 0:
            continue
        low = row.size[0] * row.iterations[0]
        high = row.size[-1] * row.iterations[-1]
        can_be &= {n for n in (1, 2) if n * low < row.total.stop and row.total[0] <= n * high}
        if not can_be:
            what = "is neither bytes x iterations nor twice that, as in the rows before"
            raise row.where.corrupt("total", what)
    if len(can_be) > 1:
        raise table.where.corrupt(
            "total", "no row tells whether an iteration has one transfer or two"
        )
    return can_be.pop()


def _records(table: _FabtestsTable, kind: _TestKind, skipped: Skipped) -> list[ImportedRecord]:
    records = []
    sizes: dict[int, Where] = {}
    for row in table.rows:
        size = row.size[0]
        seconds = _seconds(row, size, skipped)
        if seconds is None:
            continue
        if size in sizes:
            what = f"{size} bytes stand at line {sizes[size].line}, too: the sizes are printed with too few digits"
            skipped.row(row.where, row.line, "bytes", what)
            continue
        sizes[size] = row.where
        if too_long(seconds * kind.window):
            raise row.where.corrupt("usec/xfer", f"means {seconds:g} s")
        tag = {"fabtests": kind.test, "iterations": row.iterations[0]}
        records.append(ImportedRecord((_series(kind, size, seconds),), tag=tag))
    return records


def _series(kind: _TestKind, size: int, seconds: float) -> ImportedSeries:
    if kind.pattern == "flood":
        return flood(size, seconds * kind.window, kind.window, kind.operation, is_answered=True)
    if kind.operation == "rdma-read":
        return whole_operations(size, seconds, kind.operation)
    return half_round_trips(size, seconds, operation=kind.operation)


def _seconds(row: _Row, size: int, skipped: Skipped) -> float | None:
    """The time of a transfer, from the rates where usec/xfer has fewer digits; None where they contradict the size."""
    estimates = list(_estimates(row, size))
    if not estimates:
        skipped.row(row.where, row.line, "usec/xfer", "is 0: there is no time for that")
        return None
    share, seconds = min(estimates)
    if any(
        abs(other - seconds) > rounded * other + (share + ROUNDED) * seconds
        for rounded, other in estimates
    ):
        what = (
            f"its rates and times are not those of {size} bytes, whose last digits are not printed"
        )
        skipped.row(row.where, row.line, "bytes", what)
        return None
    shortest = number(row.time, "usec/xfer", row.where) * MICROSECOND
    return shortest if len(row.time.replace(".", "").lstrip("0")) >= DIGITS else seconds


def _estimates(row: _Row, size: int) -> Iterator[tuple[float, float]]:
    """The time of a transfer by each column that tells it, with the relative error that its digits leave."""
    for name, word in zip(_RATES, (row.rate, row.time, row.transfers_rate), strict=True):
        value = number(word, name, row.where)
        half_step = 0.5 * printed_step(word)
        if value <= half_step or (name == "MB/sec" and size == 0):
            continue
        if name == "usec/xfer":
            seconds = value * MICROSECOND
        elif name == "MB/sec":
            seconds = size / (value * MEGABYTE)
        else:
            seconds = MICROSECOND / value
        yield half_step / value, seconds


FABTESTS = Importer(
    name="fabtests",
    summary="fabtests of libfabric: fi_pingpong, fi_rdm_tagged_pingpong, fi_rdm_bw, fi_rma_bw, ...",
    sign=r"\bMB/sec\s+usec/xfer\s+Mxfers/sec\b|^\s*- \{ xfer_size: \d+, iterations: \d+",
    is_log=True,
    read=read,
)
