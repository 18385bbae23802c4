"""ucx_perftest: ping-pongs, gets and streams of messages, one message size a table.

    | Test:         tag match latency      |                what the side prints that was started first
    | Message size: 8                      |
    |              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
    |    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
    [thread 0]            300000      1.600     1.650     1.650        4.62       4.62      606060      606060
    Final:               1000000      1.600     1.640     1.645        4.64       4.64      609756      607903

The last row's overall time is taken: the mean over all iterations, half a round trip of a ping-pong, a whole operation
of get and fetch-and-add, the time between two messages of a bandwidth test. 1 MB/s is 2^20 B/s. The side that prints
the times does not name test and size: they come from the command, a batch's names or the other side's lines, else the
size comes from the rates, and whether it is a latency from the header.

Source: the output of ucx_perftest, UCX 1.2 to 1.19, and how libperf computes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from chiplog.dataset.import_parts import (
    PartTable,
    buffers,
    launches_by_size,
    named_in_full,
    parts_warning,
    unless_host,
)
from chiplog.dataset.import_series import flood, half_round_trips, whole_operations
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value, noted
from chiplog.dataset.import_ucx_sizes import check_size, size_by_rates
from chiplog.dataset.import_values import MICROSECOND, NANOSECOND, number, time, too_long
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.dataset.operations import ATOMIC, ATOMIC_BYTES
from chiplog.outside import as_integer

PRINTED_STEP_SECONDS = NANOSECOND
CONVENTION = (
    "means over all iterations: half a ping-pong (one-way), a whole get or fetch-and-add, all messages of a bandwidth "
    "test together; 1 MB/s = 2^20 B/s"
)
_NUMBERS = 8
"""Given: how many numbers a row has."""
MOST_DIGITS = 15
"""Given: a longer number is no size."""
_TITLE = re.compile(r"\|\s*(Test|Message size|Window size|Send memory|Recv memory):\s*(.*?)\s*\|")
_HEADER = re.compile(r"\|.*\b(latency|overhead) \(usec\).*bandwidth \(MB/s\).*")
_CSV = re.compile(
    r"((?:[^,\s]+,)*)iterations,[\d.]+_percentile_lat,avg_lat,overall_lat,.*overall_mr"
)
_CSV_OLD = re.compile(r"((?:[^,\s]+,)*)iterations,typical_lat,avg_lat,overall_lat,.*overall_mr")
_BANNER = re.compile(r"\+((?:[\w.]+/)*[\w.]*[A-Za-z]\w*[\w./]*)-+\+[-+]*")
_COMMAND = re.compile(r"(?:.*[\s/])?ucx_perftest\s(.*)")
_OPTION = {
    "test": re.compile(r"(?:^|\s)-t\s*([a-z_]+)"),
    "size": re.compile(r"(?:^|\s)-s\s*(\d{1,15})(?=\s|$)"),
    "memory": re.compile(r"(?:^|\s)-m\s*([a-z-]+)(?:,([a-z-]+))?"),
    "window": re.compile(r"(?:^|\s)-O\s*(\d{1,7})(?=\s|$)"),
}
_PREFIX = re.compile(r"\[thread (\d+)\]\s*|Final:\s*")
_GROUPED = re.compile(r"(?<=\d)[',](?=\d{3}(?!\d))")


@dataclass(frozen=True)
class _About:
    """What is known of a table apart from its rows: None where nothing says it."""

    test: str | None = None
    size: int | None = None
    send_memory: str = "host"
    receive_memory: str = "host"
    window: int = 1  # Given: without -O


@dataclass
class _UcxPerftestTable:
    """One message size of one test; of its rows, those with all columns, and the place of each."""

    where: Where
    about: _About
    heading: str = "overhead"
    """What the header calls the times."""
    rows: list[tuple[list[float], Where]] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _NumbersKind:
    """What the numbers of a table are of."""

    pattern: str
    operation: str
    direction: str
    is_named: bool = True


@dataclass
class _UcxPerftestFile:
    """What was read of a file so far."""

    skipped: Skipped = field(default_factory=Skipped)
    tables: list[_UcxPerftestTable] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    command: _About = field(default_factory=_About)
    heading: str | None = None
    table: _UcxPerftestTable | None = None
    csv_names: int | None = None
    """How many names stand before the numbers of a line of CSV; None outside of CSV."""


def read(source: Source, options: Options) -> Imported:
    """The last row of each table; CorruptFile names line and column of what is wrong."""
    options.check_direction((), "the test says what its times are")
    file = _UcxPerftestFile()
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    tables: list[PartTable] = []
    guesses: Counter[str] = Counter()
    for table in (file_table for file_table in file.tables if file_table.rows):
        record = _record(table, options, file.skipped, guesses)
        if record is not None:
            memory = buffers(table.about.send_memory, table.about.receive_memory)
            tables.append(PartTable((), table.where, unless_host(memory), memory, [record]))
    records = launches_by_size(named_in_full(tables))
    file.skipped.refuse_if_empty(records)
    return Imported(
        records,
        CONVENTION,
        warnings=(*parts_warning(records), *_warnings(guesses), *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=PRINTED_STEP_SECONDS,
    )


def _read_line(file: _UcxPerftestFile, line: str, where: Where) -> None:
    if match := _TITLE.match(line):
        if match[1] == "Test":
            file.titles = {}
        file.titles[match[1]] = match[2]
        file.table = file.heading = None
    elif match := _COMMAND.fullmatch(line):
        file.command, file.titles = _asked(match[1]), {}
        file.table = file.heading = None
    elif match := _CSV.fullmatch(line) or _CSV_OLD.fullmatch(line):
        file.csv_names = match[1].count(",")
    elif match := _HEADER.match(line):
        file.heading, file.csv_names = match[1], None
        file.table = _begin(file, _about(file), where)
    elif file.heading and (match := _BANNER.fullmatch(line)):
        file.table = _begin(file, _named(_about(file), match[1].split("/")), where)
    elif not line or set(line) <= set("+-|"):
        return
    elif file.csv_names is not None and "," in line:
        _csv_row(file, line, file.csv_names, where)
    elif file.table is not None and not line.startswith("|"):
        _row(file, file.table, line, where)
    elif not line.startswith("|"):
        file.skipped.foreign_line(where, line)


def _begin(file: _UcxPerftestFile, about: _About, where: Where) -> _UcxPerftestTable:
    table = _UcxPerftestTable(where, about, file.heading or "overhead")
    file.tables.append(table)
    return table


def _asked(command: str) -> _About:
    """What a command asks for."""
    matches = {name: pattern.search(command) for name, pattern in _OPTION.items()}
    test, size, memory, window = (matches[name] for name in ("test", "size", "memory", "window"))
    send = memory[1] if memory else "host"
    return _About(
        test=test[1] if test else None,
        size=as_integer(size[1]) if size else None,
        send_memory=send,
        receive_memory=(memory[2] or send) if memory else "host",
        window=max(as_integer(window[1]) or 1, 1) if window else 1,
    )


def _about(file: _UcxPerftestFile) -> _About:
    """What titles say, else what the command asks for."""
    titles, command = file.titles, file.command
    size, window = titles.get("Message size", ""), titles.get("Window size", "")
    return _About(
        test=titles.get("Test", command.test),
        size=int(size[:18]) if size.isdigit() else command.size,
        send_memory=titles.get("Send memory", command.send_memory),
        receive_memory=titles.get("Recv memory", command.receive_memory),
        window=int(window[:9]) if window.isdigit() and int(window[:9]) > 0 else command.window,
    )


def _named(about: _About, names: list[str]) -> _About:
    """`about` with what the names of a batch's lines say: a size is a number, a test has one in its name."""
    size = next(
        (int(name) for name in names if name.isdigit() and len(name) <= MOST_DIGITS), about.size
    )
    test = next((name for name in names if re.search(r"lat|bw|mr|get|fadd|swap", name)), about.test)
    memory = [accelerator for accelerator in ("cuda", "rocm") if test and accelerator in test]
    side = memory[0] if memory and "host" not in (test or "") else ""
    return _About(test, size, side or about.send_memory, side or about.receive_memory, about.window)


def _csv_row(file: _UcxPerftestFile, line: str, names: int, where: Where) -> None:
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != names + _NUMBERS or not all(map(is_number, cells[names:])):
        file.skipped.row(where, line, None, f"the row has not {names} names and {_NUMBERS} numbers")
        return
    table = _begin(file, _named(_about(file), cells[:names]), where)
    table.rows.append((_values(cells[names:], where), where))


def _row(file: _UcxPerftestFile, table: _UcxPerftestTable, line: str, where: Where) -> None:
    match = _PREFIX.match(line)
    rest = line[match.end() :] if match else line
    words = _GROUPED.sub("", rest).split()
    names = []
    if not match and words and not is_number(words[0]):
        names = words.pop(0).split("/")
    if not words or not is_number(words[0]):
        file.skipped.foreign_line(where, line)
        return
    if len(words) < _NUMBERS or not all(map(is_number, words[:_NUMBERS])):
        what = f"the row has not {_NUMBERS} numbers, as rows of one thread have"
        file.skipped.row(where, line, None, what)
        return
    if names:
        table = _begin(file, _named(table.about, names), where)
    if match and match[1]:
        table.threads.add(match[1])
    table.rows.append((_values(words[:_NUMBERS], where), where))


def _values(words: list[str], where: Where) -> list[float]:
    names = (
        "# iterations",
        "%ile",
        "average",
        "overall",
        *["bandwidth"] * 2,
        *["message rate"] * 2,
    )
    return [
        0.0 if lacks_value(word) else number(word, name, where)
        for word, name in zip(words, names, strict=True)
    ]


def _record(
    table: _UcxPerftestTable, options: Options, skipped: Skipped, guesses: Counter[str]
) -> ImportedRecord | None:
    values, where = table.rows[-1]
    kind = _kind(table, skipped)
    if kind is None:
        return None
    options.check_pattern((kind.pattern,), f"the file holds {kind.pattern}")
    if len(table.threads) > 1:
        skipped.table(table.where, "ucx_perftest", "several threads share each end")
        return None
    iterations, overall = int(values[0]), values[3]
    if not overall or not iterations:
        skipped.row(where, "overall", "overall", "is 0: there is no time for that")
        return None
    size = table.about.size
    if size is None:
        size = size_by_rates(table.rows)
        guesses["size"] += 1
    else:
        check_size(table.rows, size)
    if kind.operation == ATOMIC and size != ATOMIC_BYTES:
        raise where.corrupt(
            "Message size", f"an atomic is of {ATOMIC_BYTES} bytes here, not of {size}"
        )
    guesses["test"] += not kind.is_named
    seconds = time(f"{overall!r}", "overall", where, factor=MICROSECOND)
    tag = {"ucx-perftest": table.about.test or table.heading, "iterations": iterations}
    series = _series(kind, size, seconds, iterations, where)
    return ImportedRecord((series,), tag=tag)


def _series(
    kind: _NumbersKind, size: int, seconds: float, iterations: int, where: Where
) -> ImportedSeries:
    train = iterations if kind.pattern == "flood" else 1
    if too_long(seconds * train):
        raise where.corrupt("# iterations", f"means {seconds * train:g} s")
    if kind.pattern == "flood":
        return flood(size, seconds * train, train, kind.operation)
    if kind.direction == "round-trip":
        return whole_operations(size, seconds, kind.operation)
    return half_round_trips(size, seconds, operation=kind.operation)


def _kind(table: _UcxPerftestTable, skipped: Skipped) -> _NumbersKind | None:
    """What the numbers are of; None, with the reason in `skipped`, of what no pattern is like."""
    test = (table.about.test or "").lower()
    if not test:
        if table.heading == "latency":
            return _NumbersKind("ping_pong", "send", "one-way", is_named=False)
        what = (
            "the file does not say which bandwidth this is: put the command, such as 'ucx_perftest -t tag_bw', on a "
            "line before the table"
        )
        skipped.table(table.where, "overhead (usec)", what)
        return None
    is_latency = "lat" in test
    is_bandwidth = not is_latency and re.search(r"bw|bandwidth|_mr\b", test) is not None
    if re.search(r"fetch-and-add|fadd", test):
        operation = ATOMIC
    elif re.search(r"add|swap", test):
        skipped.table(table.where, test, f"no pattern of chiplog times {test[:40]}")
        return None
    else:
        operation = (
            "rdma-read"
            if "get" in test
            else "rdma-write"
            if re.search(r"\bput|_put", test)
            else "send"
        )
    if is_bandwidth or (operation in ("rdma-read", ATOMIC) and table.about.window > 1):
        return _NumbersKind("flood", operation, "round-trip")
    if operation in ("rdma-read", ATOMIC):
        return _NumbersKind("ping_pong", operation, "round-trip")
    if is_latency:
        return _NumbersKind("ping_pong", operation, "one-way")
    skipped.table(table.where, test, f"{test[:40]!r} is no test that is known")
    return None


def _warnings(guesses: Counter[str]) -> tuple[Mapping[str, object], ...]:
    before = "before the table if it is another one"
    return (
        *noted(
            guesses["test"],
            "tables",
            "the file does not name its test; a latency is taken for that of a ping-pong of sends",
            f"put the command (ucx_perftest -t ucp_get ...) {before}",
        ),
        *noted(
            guesses["size"],
            "tables",
            "the file does not say the message size; it was computed from times and bandwidths",
            f"put the command (ucx_perftest -s BYTES ...) {before}",
        ),
    )


UCX_PERFTEST = Importer(
    name="ucx-perftest",
    summary="ucx_perftest of UCX: tag_lat, tag_bw, ucp_put_lat, ucp_get, am_lat, ...",
    sign=r"\b(?:latency|overhead) \(usec\)\s*\|\s*bandwidth \(MB/s\)|\biterations,[\w.]+_lat,avg_lat,overall_lat",
    is_log=True,
    read=read,
)
