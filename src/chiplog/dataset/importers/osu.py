"""OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr, osu_multi_lat and tests of MPI_Put and MPI_Get.

    # OSU MPI Latency Test                                 size, latency in µs: half a ping-pong
    # OSU MPI Multi Latency Test                           the same, the mean over all pairs
    # OSU MPI Bandwidth Test                               size, MB/s of 1e6 B/s: windows of messages, each answered
    # OSU MPI Multiple Bandwidth / Message Rate Test       size, MB/s and messages/s of all pairs together
    # [ pairs: 4 ] [ window size: 64 ]
    # OSU MPI_Get latency Test                             size, latency in µs: a whole read

A latency becomes a one-way ping_pong, a bandwidth the time of a flood of one window. osu_mbw_mr becomes pairs, one-way:
the time of a window by its number of messages, from the rate of messages, which has more digits. One-sided tests become
operations of their own, where MPI_Win_flush ends them, or MPI_Win_flush_local those that read: with another
synchronization its time is part of every number.
A test that stands in the file again is another launch. Columns beyond these are not read, but for what -c says of the
bytes received. Titles are those of the tests in C, Python and Java.

Source: the OSU micro-benchmarks' output, versions 2 to 7.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.dataset.import_osu_titles import TITLE, parsed, why_not, window
from chiplog.dataset.import_text import (
    SPLIT,
    Paths,
    Skipped,
    clean_lines,
    is_number,
    is_row,
    lacks_value,
    refuse_unlike_launches,
)
from chiplog.dataset.import_values import LONGEST_SECONDS, number, time, whole
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

DEFAULT_WINDOW = 64
MEGABYTE = 1e6
MICROSECOND = 1e-6
PRINTED_STEP_SECONDS = 1e-8
"""Times have two digits behind the point, in microseconds."""
ATOMIC_BYTES = 8
AGREEMENT = 0.01
"""Share, and megabytes per second, by which the two columns of osu_mbw_mr may differ for rounding."""
CONVENTION = (
    "means, one-way: half a ping-pong (osu_latency, osu_multi_lat), a window of messages (osu_bw), a window by its "
    "number of messages (osu_mbw_mr); a whole operation (osu_get_latency, osu_fop_latency); 1 MB/s = 1e6 B/s"
)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\S+?)\s*\](?:\s*\[\s*window size:\s*(\S+?)\s*\])?\s*")
_HEADER = re.compile(r"#\s*Size\b.*")
_BUFFERS = re.compile(r"#.*\bon (\w+) \((\w+)\) and .*\bon (\w+) \((\w+)\).*")
_ASKED_BUFFERS = re.compile(r"(?:.*\s|.*/)?osu_\w+(?:\s.*)?\s([HDM])\s+([HDM])(?:\s.*)?")
_MEMORY = {"H": "host", "D": "device", "M": "managed"}
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\S+?)\.?")
_SYNCHRONIZATION = re.compile(r"#\s*Synchronization:\s*(\S+)\s*")


@dataclass
class _Test:
    """The test whose rows are being read."""

    name: str
    reader: _Reader
    where: Where
    operation: str = "send"
    launch: int = 0
    pairs: int | None = None
    window: int = DEFAULT_WINDOW
    synchronization: str | None = None
    accelerator: str | None = None
    buffers: str | None = None
    datatype: str = "MPI_CHAR"
    has_message_rate: bool = True
    """False where an option of osu_mbw_mr leaves it out."""
    sizes: set[int] = field(default_factory=set)

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the columns behind the size that a row must have."""
        return self.reader.columns if self.has_message_rate else self.reader.columns[:1]

    @property
    def path(self) -> str:
        """What kind of buffers the messages are in."""
        where = self.buffers or (
            f"{self.accelerator} buffers" if self.accelerator else "host buffers"
        )
        return where if self.datatype == "MPI_CHAR" else f"{where} of {self.datatype}"


@dataclass(frozen=True)
class _Reader:
    """How the rows of a test are read."""

    pattern: str
    series: Callable[[list[str], int, _Test, Where], ImportedSeries]
    columns: tuple[str, ...]
    """The names of the columns behind the size that it needs."""


def _latency(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    return ImportedSeries(
        pattern="ping_pong",
        direction="one-way",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=MICROSECOND)]),
        messages_per_sample=2,
        bytes_per_sample=2 * size,
    )


def _whole_operation(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    if test.operation == "atomic" and size != ATOMIC_BYTES:
        raise where.corrupt("Size", f"an atomic is of {ATOMIC_BYTES} bytes here, not of {size}")
    return ImportedSeries(
        pattern="ping_pong",
        direction="round-trip",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=MICROSECOND)]),
        messages_per_sample=1,
        bytes_per_sample=size,
    )


def _several_latencies(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    pairs = test.pairs or 1
    return ImportedSeries(
        pattern="pairs",
        direction="one-way",
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=MICROSECOND)]),
        messages_per_sample=2 * pairs,
        bytes_per_sample=2 * pairs * size,
        pairs=pairs,
    )


def _bandwidth(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    rate = number(words[1], "Bandwidth (MB/s)", where) * MEGABYTE
    if size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    return ImportedSeries(
        pattern="flood",
        direction="round-trip",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([_bounded(test.window * size / rate, "Bandwidth (MB/s)", where)]),
        messages_per_sample=test.window + 1,
        bytes_per_sample=test.window * size,
        train=test.window,
    )


def _several(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    if test.pairs is None:
        raise where.corrupt("pairs", "no line before says how many pairs there are")
    megabytes = number(words[1], "MB/s", where)
    if test.has_message_rate:
        rate = number(words[2], "Messages/s", where)
        said = size * rate / MEGABYTE
        if abs(said - megabytes) > AGREEMENT * (1.0 + said):
            what = f"is {megabytes:g}, but the rate of messages gives {said:g}"
            raise where.corrupt("MB/s", what)
    elif size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    else:
        rate = megabytes * MEGABYTE / size
    seconds = _bounded(test.pairs / rate, "Messages/s", where)
    _bounded(seconds * test.window, "Messages/s", where)
    return ImportedSeries(
        pattern="pairs",
        direction="one-way",
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=test.pairs,
        bytes_per_sample=test.pairs * size,
        batch=test.window,
        pairs=test.pairs,
    )


_BANDWIDTH = _Reader("flood", _bandwidth, ("Bandwidth (MB/s)",))
_WHOLE = _Reader("ping_pong", _whole_operation, ("Latency (us)",))
TESTS: Mapping[str, _Reader] = {
    "Latency Test": _Reader("ping_pong", _latency, ("Latency (us)",)),
    "Multi Latency Test": _Reader("pairs", _several_latencies, ("Latency (us)",)),
    "Bandwidth Test": _BANDWIDTH,
    "Multiple Bandwidth / Message Rate Test": _Reader("pairs", _several, ("MB/s", "Messages/s")),
    "MPI_Put Bandwidth Test": _BANDWIDTH,
    "MPI_Get Bandwidth Test": _BANDWIDTH,
    "MPI_Get Latency Test": _WHOLE,
    "MPI_Fetch_and_op Latency Test": _WHOLE,
}
"""What reads the rows of a test, by its title without 'OSU MPI'."""
_OPERATIONS = {"MPI_Put": "rdma-write", "MPI_Get": "rdma-read", "MPI_Fetch_and_op": "atomic"}
_BY_LOWER_CASE = {name.lower(): name for name in TESTS}
_FLUSH = "MPI_Win_flush"
_ENDS = {
    "rdma-write": (_FLUSH,),
    "rdma-read": (_FLUSH, f"{_FLUSH}_local"),
    "atomic": (_FLUSH, f"{_FLUSH}_local"),
}
"""With what an operation is over: what was read is there after a local flush, too."""


@dataclass
class _File:
    """What was read of a file so far."""

    source: Source
    options: Options
    records: list[ImportedRecord] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    paths: Paths = field(default_factory=Paths)
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    tables: dict[tuple[str, int], dict[int, Where]] = field(default_factory=dict)
    windows: dict[tuple[str, int], tuple[int, Where]] = field(default_factory=dict)
    """The window of each kind of table, and the place of the first one."""
    test: _Test | None = None
    asked_buffers: str | None = None
    """What the command above the next title asks for; not all releases print it."""
    titles: int = 0

    def title(self, name: str, version: str | None, where: Where) -> None:
        """Begins the test `name`, or passes it over where it can't be imported."""
        self.titles += 1
        self.test, reason = _begun(name, version, self.options, where)
        if self.test is None:
            self.skipped.table(where, name, reason)
        else:
            self.paths.enter(where)
            self.test.buffers, self.asked_buffers = self.asked_buffers, None

    def outside(self, line: str) -> None:
        """Notes what a line outside of the rows says about the path of the next table."""
        self.paths.read(line)
        if match := _ASKED_BUFFERS.fullmatch(line):
            self.asked_buffers = _buffers(_MEMORY[match[1]], _MEMORY[match[2]])

    def row(self, words: list[str], line: str, test: _Test, where: Where) -> None:
        """Reads a row of `test`, unless it has no usable number."""
        needed = test.needed
        size = whole(words[0], "Size", where)
        if len(words) <= len(needed):
            what = f"the row has {len(words)} columns, not {1 + len(needed)}"
            self.skipped.row(where, line, None, what)
            return
        for name, word in zip(needed, words[1:], strict=False):
            if not is_number(word):
                self.skipped.row(where, line, name, f"{word[:20]!r} is no number")
                return
            if lacks_value(word) and not (name == "MB/s" and size == 0):
                self.skipped.row(where, line, name, f"is {word[:20]}: there is no time for that")
                return
        if "Fail" in words[len(needed) :]:
            self.skipped.row(where, line, "Validation", "the bytes received were wrong")
            return
        if size in test.sizes:
            raise where.corrupt("Size", f"{size} stands twice in one test")
        if not test.sizes and not self._enter(test, where):
            return
        series = test.reader.series(words, size, test, where)
        test.sizes.add(size)
        self.records.append(ImportedRecord((series,), launch=test.launch, tag={"osu": test.name}))

    def _enter(self, test: _Test, where: Where) -> bool:
        """Begins a table with its first row, when all that is said about it is known; False where it can't be read."""
        if test.operation != "send" and test.synchronization not in _ENDS[test.operation]:
            ends = test.synchronization or "a synchronization that the file does not name"
            what = (
                f"{test.name} ends with {ends}, whose time is in every number: run it with -s flush"
            )
            self.skipped.table(test.where, test.name, what)
            self.test = None
            return False
        if test.name == "Multi Latency Test" and test.pairs is None:
            what = (
                "osu_multi_lat does not print how many pairs there are: put a line '# [ pairs: N ]' below its title, "
                "N being half of the number of ranks"
            )
            self.skipped.table(test.where, test.name, what)
            self.test = None
            return False
        self.paths.buffers(test.path, where)
        key = (test.name, test.pairs or 1)
        test.launch = self.seen[key]
        self.seen[key] += 1
        self.tables.setdefault(key, {})[test.launch] = test.where
        window, first = self.windows.setdefault(key, (test.window, where))
        if window != test.window:
            what = f"the windows have {test.window} messages, those at line {first.line} have {window}: {SPLIT}"
            raise where.corrupt("window size", what)
        return True

    def refuse_mixed_paths(self) -> None:
        """Raises CorruptFile where two tables of one test can't be of one path."""
        for (name, pairs), begins in self.tables.items():
            mine = [
                one
                for one in self.records
                if one.tag["osu"] == name and one.series[0].pairs == pairs
            ]
            refuse_unlike_launches(mine, begins, name)


def read(source: Source, options: Options) -> Imported:
    """The rows of one or more OSU tests; CorruptFile names line and column of what is wrong."""
    if options.direction not in (None, "one-way"):
        raise UsageError(
            f"--direction {options.direction} does not fit: OSU's times are one-way; leave it out."
        )
    file = _File(source, options)
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    if not file.titles:
        raise source.where(1).corrupt("title", "no line says which OSU test this is")
    file.skipped.refuse_if_empty(file.records)
    if not file.records and file.test is not None:
        raise file.test.where.corrupt("title", f"the table of {file.test.name} has no rows")
    file.refuse_mixed_paths()
    most = max((one.pairs for record in file.records for one in record.series), default=1)
    warnings = (*_warnings(file.records), *file.skipped.warnings())
    return Imported(
        file.records,
        CONVENTION,
        ranks=2 * most,
        warnings=warnings,
        statistic="mean",
        resolution_seconds=PRINTED_STEP_SECONDS,
    )


def _read_line(file: _File, line: str, where: Where) -> None:
    words, test = line.split(), file.test
    if match := TITLE.fullmatch(line):
        file.title(match[1], match[2], where)
    elif not words:
        return
    elif words[0].startswith("#"):
        file.outside(line)
        if test is not None:
            _read_comment(file, test, line, where)
    elif test is not None and is_row(words) and _is_size(words[0]):
        file.row(words, line, test, where)
    elif test is not None and not is_row(words) and _is_size(words[0]):
        file.skipped.row(where, line, None, "the row has no number behind its size")
    elif not is_row(words) or test is not None or not file.titles:
        file.skipped.foreign_line(where, line)
        file.outside(line)


def _is_size(word: str) -> bool:
    """Is a word a message size as OSU prints it? Other programs' tables and lists begin with other numbers, too."""
    return word.isascii() and word.isdigit()


def _read_comment(file: _File, test: _Test, line: str, where: Where) -> None:
    begins_table = _PAIRS.fullmatch(line) or _DATATYPE.fullmatch(line) or _HEADER.fullmatch(line)
    if begins_table and test.sizes:
        file.test = test = replace(test, where=where, sizes=set())
    if match := _PAIRS.fullmatch(line):
        test.pairs = whole(match[1], "pairs", where, minimum=1, maximum=1 << 20)
        if match[2] == "varied":
            what = f"{test.name} was run over several windows (-V), which stand in columns: run it without -V"
            file.skipped.table(test.where, test.name, what)
            file.test = None
        elif match[2]:
            test.window = whole(match[2], "window size", where, minimum=1, maximum=1 << 20)
    elif _HEADER.fullmatch(line):
        test.has_message_rate = "Messages/s" in line or "Messages/s" not in test.reader.columns
    elif match := _BUFFERS.fullmatch(line):
        test.buffers = _buffers(*(_memory(match[at], match[at + 1]) for at in (1, 3)))
    elif match := _DATATYPE.fullmatch(line):
        test.datatype = match[1]
    elif match := _SYNCHRONIZATION.fullmatch(line):
        test.synchronization = match[1]


def _memory(name: str, code: str) -> str:
    """The kind of memory: managed memory has its home on the host (MH) or on the device (MD)."""
    home = {"MH": "host-managed", "MD": "device-managed"}
    return home.get(code.upper(), name.lower())


def _buffers(from_where: str, to_where: str) -> str:
    kinds = dict.fromkeys((from_where, to_where))
    return f"{' to '.join(kinds)} buffers"


def _begun(
    title: str, version: str | None, options: Options, where: Where
) -> tuple[_Test | None, str]:
    """The test that a title begins, or None and why it can't be imported."""
    what = parsed(title)
    name = _BY_LOWER_CASE.get(what.name.lower())
    if name is None:
        return (
            None,
            f"{title[:60]!r} can't be imported{why_not(title)}; known are {', '.join(TESTS)}",
        )
    reader = TESTS[name]
    if options.pattern not in (None, reader.pattern):
        raise UsageError(
            f"--pattern {options.pattern} does not fit: {name} holds {reader.pattern}; leave it out."
        )
    operation = _OPERATIONS.get(name.split()[0], "send")
    test = _Test(name, reader, where, operation, accelerator=what.accelerator)
    test.window = window(name, version)
    return test, ""


def _bounded(seconds: float, name: str, where: Where) -> float:
    if seconds > LONGEST_SECONDS:
        raise where.corrupt(name, f"means {seconds:g} s, more than {LONGEST_SECONDS:g} s")
    return seconds


def _warnings(records: list[ImportedRecord]) -> tuple[Mapping[str, object], ...]:
    series = [one for record in records for one in record.series]
    found: list[Mapping[str, object]] = []
    if trains := {one.train for one in series if one.pattern == "flood"}:
        found.append(
            {
                "fact": "osu_bw does not print its window; the default was taken",
                "number": max(trains),
                "unit": "messages",
                "remedy": "run osu_bw without -W",
            }
        )
    windows = [one.batch for one in series if one.pattern == "pairs" and one.batch > 1]
    if windows:
        found.append(
            {
                "fact": "osu_mbw_mr times windows: a start-up time fitted to it is the time between two messages",
                "number": max(windows),
                "unit": "messages",
                "remedy": "for latencies, measure ping-pongs of k pairs (nodecomm, IMB -multi)",
            }
        )
    means = max(
        (r.series[0].pairs for r in records if r.tag["osu"] == "Multi Latency Test"), default=0
    )
    if means:
        found.append(
            {
                "fact": "osu_multi_lat prints the mean over all pairs, not the slowest pair as other files of pairs",
                "number": means,
                "unit": "pairs",
                "remedy": "do not compare its times with those of nodecomm, IMB -multi or chiplog measure",
            }
        )
    return tuple(found)


OSU = Importer(
    name="osu",
    summary="OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr, osu_multi_lat, osu_get_latency, ...",
    sign=r"#\s*((OSU|OMB-Py|OMB Python) .*|MPI (Multi )?(Latency|Bandwidth) )Test",
    is_log=True,
    read=read,
)
