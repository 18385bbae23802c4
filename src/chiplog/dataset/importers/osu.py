"""OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr, osu_multi_lat and tests of MPI_Put and MPI_Get.

    # OSU MPI Latency Test                                 size, latency in us: half a ping-pong
    # OSU MPI Multi Latency Test                           the same, the mean over all pairs
    # OSU MPI Bandwidth Test                               size, MB/s of 1e6 B/s: windows of messages, each answered
    # OSU MPI Multiple Bandwidth / Message Rate Test       size, MB/s and messages/s of all pairs together
    # [ pairs: 4 ] [ window size: 64 ]
    # OSU MPI_Get latency Test                             size, latency in us: a whole read

A latency becomes a one-way ping_pong, a bandwidth the time of a flood of one window. osu_mbw_mr becomes pairs, one-way:
the time of a window by its number of messages, from the rate of messages, which has more digits. One-sided tests become
operations of their own, where MPI_Win_flush ends them, or MPI_Win_flush_local those that read: with another
synchronization its time is part of every number.
Collective operations and windows both ways at once are read as `import_osu_tests` says.
A test that stands in the file again is another launch, or a part of another path. The header names the columns and
their units; quantiles (-z), extremes and iterations (-f) are kept in the tag, and what -c says of the bytes received
counts. Titles are those of the tests in C, Python and Java.

Source: the OSU micro-benchmarks' output, versions 2 to 7.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from chiplog.dataset.import_collectives import COLLECTIVES, RANKS_UNKNOWN
from chiplog.dataset.import_osu_tables import (
    BEGIN,
    DEFAULT_WINDOW,
    HEADER,
    HEADERS,
    TITLE,
    extras,
    is_known,
    parsed,
    read_columns,
    value_columns,
    why_not,
    window,
)
from chiplog.dataset.import_osu_tests import (
    ENDS,
    KINDS,
    TESTS,
    OsuTest,
    collective_reader,
    one_way_reader,
    unusable,
)
from chiplog.dataset.import_parts import PartTable, launches_in_parts, part_name, unless_host
from chiplog.dataset.import_side_by_side import one_below_the_other
from chiplog.dataset.import_text import Paths, Skipped, is_row, noted, printed_lines
from chiplog.dataset.import_values import whole
from chiplog.dataset.importer import Imported, ImportedRecord, Importer, Options, Source
from chiplog.dataset.lines import Where

CONVENTION = (
    "means, one-way: half a ping-pong (osu_latency, osu_multi_lat), a window of messages (osu_bw), a window by its "
    "number of messages (osu_mbw_mr); a whole operation (osu_get_latency, osu_fop_latency); 1 MB/s = 1e6 B/s"
)
_PAIRS = re.compile(r"\\?#\s*\[\s*pairs:\s*(\S+?)\s*\](?:\s*\[\s*window size:\s*(\S+?)\s*\])?\s*")
_BUFFERS = re.compile(
    r"\\?#.*\bon (?P<sender>\w+) \((?P<from>\w+)\) and .*\bon (?P<receiver>\w+) \((?P<to>\w+)\).*"
)
_ASKED_BUFFERS = re.compile(r"(?:.*\s|.*/)?osu_\w+(?:\s.*)?\s([HDM])\s+([HDM])(?:\s.*)?")
_MEMORY = {"H": "host", "D": "device", "M": "managed"}
_DATATYPE = re.compile(r"\\?#\s*Datatype:\s*(\S+?)\.?")
_NO_SIZES = re.compile(r"\\?#\s*(?=(?:Avg )?Latency|Overall)", re.IGNORECASE)
_SYNCHRONIZATION = re.compile(r"\\?#\s*Synchronization:\s*(\S+)\s*")


@dataclass
class _OsuFile:
    """What was read of a file so far."""

    source: Source
    options: Options
    parts: list[PartTable] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    paths: Paths = field(default_factory=Paths)
    test: OsuTest | None = None
    asked_buffers: str | None = None
    """What the command above the next title asks for; not all releases print it."""
    titles: int = 0
    step_seconds: float = 0.0
    unread: Counter[str] = field(default_factory=Counter)
    """How many tables have a column of this name, which is not understood."""

    def title(self, name: str, version: str | None, where: Where) -> None:
        """Begins the test `name`, or passes it over where it can't be imported."""
        self.titles += 1
        self.test = _begun(name, version, self.options, where)
        if self.test is None:
            known = ", ".join((*TESTS, "Allreduce Latency Test", "..."))
            what = f"{name[:60]!r} can't be imported{why_not(name)}; known are {known}"
            self.skipped.table(where, name, what)
        else:
            self.test.place = self.paths.last_place
            self.test.ranks = self.paths.last_ranks or self.options.ranks
            self.test.buffers, self.asked_buffers = self.asked_buffers, None

    def joined(self, line: str, where: Where) -> None:
        """Passes over a table whose title stands in one line with more of it: no row below is of the table before."""
        self.titles, self.test = self.titles + 1, None
        what = f"the line {line[:40]!r} holds more than a title; break it where its lines were"
        self.skipped.table(where, line, what)

    def outside(self, line: str) -> None:
        """Notes what a line outside of the rows says about the path of the next table."""
        self.paths.read(line)
        if match := _ASKED_BUFFERS.fullmatch(line):
            self.asked_buffers = _buffers(_MEMORY[match[1]], _MEMORY[match[2]])

    def row(self, words: list[str], line: str, test: OsuTest, where: Where) -> None:
        """Reads a row of `test`, unless it has no usable number."""
        size = whole(words[0], "Size", where)
        if reason := unusable(words, size, test):
            self.skipped.row(where, line, *reason)
            return
        if size in test.sizes:
            raise where.corrupt("Size", f"{size} stands twice in one test")
        if not test.sizes and not self._enter(test, where):
            return
        values = [words[0], *(words[at] for at in test.values)]
        series = test.reader.series(values, size, test, where)
        test.sizes.add(size)
        tag = {"osu": test.name, **extras(test.columns, words, where)}
        self.parts[-1].records.append(ImportedRecord((series,), tag=tag))

    def _enter(self, test: OsuTest, where: Where) -> bool:
        """Begins a table with its first row, when all that is said about it is known; False where it can't be read."""
        if test.operation in ENDS and test.synchronization not in ENDS[test.operation]:
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
        self.step_seconds = max(self.step_seconds, test.step_seconds)
        self.unread.update(column.name for column in test.columns if column.kind == "other")
        key = (test.name, test.pairs or test.ranks or 1)
        part = part_name(test.place, unless_host(test.memory), test.elements)
        window = None if test.window == DEFAULT_WINDOW else f"window-{test.window}"
        full = part_name(test.place, test.memory, test.elements, window) or test.memory
        self.parts.append(PartTable(key, test.where, part, full))
        return True


def read(source: Source, options: Options) -> Imported:
    """The rows of one or more OSU tests; CorruptFile names line and column of what is wrong."""
    options.check_direction(("one-way",), "OSU's times are one-way")
    file = _OsuFile(source, options)
    for where, line in one_below_the_other(printed_lines(source), BEGIN, HEADERS):
        _read_line(file, line.strip(), where)
    if not file.titles:
        raise source.where(1).corrupt("title", "no line says which OSU test this is")
    records, several = launches_in_parts(file.parts)
    file.skipped.refuse_if_empty(records)
    if not records and file.test is not None:
        raise file.test.where.corrupt("title", f"the table of {file.test.name} has no rows")
    return Imported(
        records,
        CONVENTION,
        ranks=_ranks(file, records),
        warnings=(*several, *_warnings(file, records), *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=file.step_seconds,
    )


def _ranks(file: _OsuFile, records: list[ImportedRecord]) -> int | None:
    """How many ranks there were at most; None of collective operations of which nothing says it."""
    known = [2 * series.pairs for record in records for series in record.series]
    if any(series.pattern in COLLECTIVES for record in records for series in record.series):
        known = [ranks for ranks in (file.paths.last_ranks, file.options.ranks) if ranks]
        known += [
            series.peers + 1 for record in records for series in record.series if series.peers > 1
        ]
    return max(known, default=None)


def _begun(title: str, version: str | None, options: Options, where: Where) -> OsuTest | None:
    """The test that a title begins; None of one that can't be imported."""
    what = parsed(title)
    reader_and_operation = one_way_reader(what.name) or collective_reader(what.name)
    if reader_and_operation is None:
        return None
    reader, operation = reader_and_operation
    options.check_pattern((reader.pattern,), f"{what.name} holds {reader.pattern}")
    test = OsuTest(what.name, reader, where, operation, accelerator=what.accelerator)
    test.window = window(what.name, version)
    return test


def _read_line(file: _OsuFile, line: str, where: Where) -> None:
    if line.startswith("|"):
        line = line.replace("|", " ").strip()
    test = file.test
    if test is not None and not test.reader.has_sizes:
        line = _with_size(line)
    words = line.split()
    if match := TITLE.fullmatch(line):
        file.title(match[1], match[2], where)
    elif not words:
        return
    elif BEGIN.match(line) and (words[0].startswith(("#", "\\#")) or "Size" in words):
        file.joined(line, where)
    elif test is not None and (match := HEADER.fullmatch(line)) and is_known(match[2]):
        _begin_rows(file, _again(file, test, where), match, where)
    elif words[0].startswith(("#", "\\#")):
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


def _with_size(line: str) -> str:
    """A line of a barrier's table, which has no sizes, with a size of 0 before its times."""
    if match := _NO_SIZES.match(line):
        return f"# Size    {line[match.end() :]}"
    return f"0    {line}" if is_row(line.split()) and not TITLE.fullmatch(line) else line


def _is_size(word: str) -> bool:
    """Is a word a message size as OSU prints it? Other programs' tables and lists begin with other numbers, too."""
    return word.isascii() and word.isdigit()


def _again(file: _OsuFile, test: OsuTest, where: Where) -> OsuTest:
    """The test of the next rows: another table of the same test where rows stand above."""
    if test.sizes:
        file.test = test = replace(test, where=where, sizes=set())
    return test


def _begin_rows(file: _OsuFile, test: OsuTest, header: re.Match[str], where: Where) -> None:
    """Takes the columns of a header, or passes the table over where its messages are of derived datatypes."""
    test.columns = read_columns(header[1], header[2], where)
    if any(column.kind == "transmit-size" for column in test.columns):
        what = f"the messages of {test.name} are of derived datatypes (-D), whose bytes have gaps"
        file.skipped.table(test.where, test.name, what)
        file.test = None
        return
    names = {column.kind for column in test.columns}
    needed = [KINDS[name] for name in test.reader.columns]
    if needed[1:] == ["messages"] and "messages" not in names:
        needed = needed[:1]
    test.values = tuple(value_columns(test.columns, needed, where))


def _read_comment(file: _OsuFile, test: OsuTest, line: str, where: Where) -> None:
    if _PAIRS.fullmatch(line) or _DATATYPE.fullmatch(line):
        test = _again(file, test, where)
    if match := _PAIRS.fullmatch(line):
        test.pairs = whole(match[1], "pairs", where, minimum=1, maximum=1 << 20)
        if match[2] == "varied":
            what = f"{test.name} was run over several windows (-V), which stand in columns: run it without -V"
            file.skipped.table(test.where, test.name, what)
            file.test = None
        elif match[2]:
            test.window = whole(match[2], "window size", where, minimum=1, maximum=1 << 20)
    elif match := _BUFFERS.fullmatch(line):
        test.buffers = _buffers(
            _memory(match["sender"], match["from"]), _memory(match["receiver"], match["to"])
        )
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
    return f"{'-to-'.join(kinds)}-buffers"


def _warnings(file: _OsuFile, records: list[ImportedRecord]) -> Iterator[Mapping[str, object]]:
    if _ranks(file, records) is None:
        yield from RANKS_UNKNOWN
    first = next(iter(file.unread), "")
    yield from noted(
        len(file.unread),
        "columns",
        f"columns that chiplog does not know were left out (the first is {first[:40]!r})",
        "check that they hold nothing you need",
    )
    kept = sorted({key for record in records for key in _quantiles(record)})
    names = ", ".join(f"P{100 * float(key):g}" for key in kept)
    yield from noted(
        len(kept),
        "quantiles",
        f"each size has quantiles beside its mean, which no fit uses ({names})",
        "they are in the run file, in the tag of each record",
    )
    yield from _pattern_warnings(records)


def _pattern_warnings(records: list[ImportedRecord]) -> Iterator[Mapping[str, object]]:
    """What to know of windows, and of times of several pairs."""
    series = [imported for record in records for imported in record.series]
    yield from noted(
        max((imported.train for imported in series if "flood" in imported.pattern), default=0),
        "messages",
        "osu_bw and osu_bibw do not print their window; the default was taken",
        "run them without -W",
    )
    windows = [imported.batch for imported in series if imported.pattern == "pairs"]
    yield from noted(
        max((window for window in windows if window > 1), default=0),
        "messages",
        "osu_mbw_mr times windows: a start-up time fitted to it is the time between two messages",
        "for latencies, measure ping-pongs of k pairs (nodecomm, IMB -multi)",
    )
    means = [r.series[0].pairs for r in records if r.tag["osu"] == "Multi Latency Test"]
    yield from noted(
        max(means, default=0),
        "pairs",
        "osu_multi_lat prints the mean over all pairs, not the slowest pair as other files of pairs",
        "do not compare its times with those of nodecomm, IMB -multi or chiplog measure",
    )


def _quantiles(record: ImportedRecord) -> set[str]:
    """The quantiles that a record has in its tag, such as "0.99"."""
    kinds = (record.tag.get(f"quantiles_{unit}") for unit in ("seconds", "bytes_per_second"))
    return {key for kind in kinds if isinstance(kind, dict) for key in kind}


OSU = Importer(
    name="osu",
    summary="OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr, osu_get_latency, osu_allreduce, ...",
    sign=r"\b(OSU|OMB-Py|OMB Python) \S.*\bTest\b|#\s*MPI (Multi )?(Latency|Bandwidth) Test",
    is_log=True,
    takes_ranks=True,
    read=read,
)
