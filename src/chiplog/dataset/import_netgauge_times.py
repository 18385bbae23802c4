"""Netgauge's pattern one_one and its kin: half round trips between pairs, and exchanges.

    #size   rtt                                         every sample, in us; a header begins another launch
    4       5.696000
    ## A  -  B  C  D  E  (F G) - H  I  J  K  (L M)  -  N  O  P  Q        a summary of each size, in us and Mbit/s
    1 - 0.35 0.41 0.40 1.20 (0.05 3) - 1.90 2.10 2.05 9.80 (0.30 4) - 0.82 3.81 3.90 4.21
    1 bytes          -> 1.90 us      == 3.90 Mbit/s     what it prints: the least time, and the rate of the median

"rtt" is **half** of a round trip: the source divides by two. Of one_one_mpi_bidirect it is one exchange, both ways at
once. With K pairs at once (K = half of the processes) a size is that of one message times K, and a time half of the
distance from the earliest start to the latest end. A file of samples says neither: its name does, `*_bidirect*` and
`*_concK*`, as the suite that runs them for "Noise in the Clouds" calls it.

Source: ptrn_one_one.cpp and ptrn_one_one_mpi_bidirect.cpp of Netgauge 2.4.6, and of the version of that suite.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value, noted
from chiplog.dataset.import_values import BYTE_BITS, MICROSECOND, PRINTED_STEP, time, whole
from chiplog.dataset.importer import Imported, ImportedRecord, ImportedSeries, Options, Source
from chiplog.dataset.lines import Where
from chiplog.errors import UsageError

SAMPLES = re.compile(r"#\s*size\s+rtt\s*")
SUMMARY = re.compile(
    r"##\s*(?:Netgauge v\S+.*?(?:(\d+) processes)?|A(?:\.\.\.message size|\s+-\s+B\b).*)"
)
PRINTED = re.compile(r"(\d+) bytes\s+->\s+(\S+) us\s+==\s+(\S+) Mbit/s")
_COMMAND = re.compile(r".*\bNetgauge v\S+ .*?\bP=(\d+)\b(?:.*\s-x\s+(\w+))?.*")
_PATTERNS = ("ping_pong", "pairs", "exchange")
_MEDIAN: Mapping[int, int] = {17: 9, 13: 7}
"""Given: where the median of RTT/2 stands in a summary of so many numbers: in the file, and as printed with -v."""


@dataclass(frozen=True)
class _TimesKind:
    """What the times of a file are of."""

    is_exchange: bool = False
    pairs: int = 1  # Given: without _concK
    is_size_of_all: bool = False
    """Is a size that of the messages of all pairs together?"""
    stripes: int | None = None
    transport: str | None = None
    is_told: bool = True
    """Does the file or its name say so?"""

    @property
    def pattern(self) -> str:
        """The pattern that its rows become."""
        return "exchange" if self.is_exchange else "pairs" if self.pairs > 1 else "ping_pong"

    def message_bytes(self, size: int, where: Where) -> int:
        """The bytes of one message; CorruptFile where the pairs can't share the size."""
        if not self.is_size_of_all or self.pairs == 1:
            return size
        if size % self.pairs:
            what = f"is {size}, no multiple of the {self.pairs} pairs that the file's name tells"
            raise where.corrupt("size", what)
        return size // self.pairs

    def series(self, message_bytes: int, microseconds: list[float]) -> ImportedSeries:
        """The times of one size, each that of one way, or of one exchange."""
        seconds = (np.array(microseconds) * MICROSECOND).tolist()
        return half_round_trips(message_bytes, seconds, pattern=self.pattern, pairs=self.pairs)


def kind_of(name: str, pattern: str | None) -> _TimesKind:
    """What the name of a file and `--pattern` say about its times; UsageError where they contradict each other.

    >>> kind_of("ng_one_one_mpi_bidirect_mpi_conc4.out", None).pattern, kind_of("a.out", "exchange").pattern
    ('exchange', 'exchange')
    >>> kind_of("ng_one_one_mpi_conc4.out", None).pairs
    4
    """
    words = name.lower()
    pairs = int(match[1]) if (match := re.search(r"_?conc(\d{1,6})(?!\d)", words)) else 1
    stripes = re.search(r"_?stripe(\d{1,6})(?!\d)", words)
    transport = re.search(r"_(mpi|tcp|udp|ibv|mx|gm|libof)(?![a-z])", words)
    is_told = bool(re.search(r"one_one|netnoise|bidirect|conc\d|stripe\d", words))
    kind = _TimesKind(
        is_exchange="bidirect" in words or (pattern == "exchange" and not is_told),
        pairs=max(pairs, 1),
        is_size_of_all=True,
        stripes=int(stripes[1]) if stripes else None,
        transport=transport[1] if transport else None,
        is_told=is_told or pattern in ("exchange", "ping_pong"),
    )
    if pattern is not None and pattern != kind.pattern:
        if pattern == "pairs" and pairs == 1:
            what = "the file does not say of how many pairs it is: name it *_concK.out, K being the number of pairs"
            raise UsageError(f"--pattern pairs: {what}.")
        raise UsageError(
            f"--pattern {pattern} does not fit: by its name the file holds {kind.pattern}; leave it out."
        )
    return kind


@dataclass(frozen=True)
class _Group:
    """The samples of one record, in microseconds."""

    kind: _TimesKind
    launch: int
    visit: int
    message_bytes: int
    samples: list[float]
    tag: Mapping[str, object]

    def record(self) -> ImportedRecord:
        """The record of these samples."""
        series = self.kind.series(self.message_bytes, self.samples)
        return ImportedRecord((series,), launch=self.launch, visit=self.visit, tag=self.tag)


@dataclass
class _TimesReader:
    """What was read of a file so far; times are in microseconds."""

    kind: _TimesKind
    skipped: Skipped = field(default_factory=Skipped)
    groups: list[_Group] = field(default_factory=list)
    launches: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How many launches of each pattern and number of pairs there were."""
    last_size: int | None = None
    visits: Counter[int] = field(default_factory=Counter)
    begins_launch: bool = True
    step: float = 0.0

    def begin(self) -> None:
        """Begins another launch with the next row."""
        self.begins_launch = True

    def enter(self, size: int, where: Where, tag: Mapping[str, object]) -> list[float]:
        """The samples that another one of `size` belongs to."""
        kind = self.kind
        if self.begins_launch:
            self.launches[kind.pattern, kind.pairs] += 1
            self.visits.clear()
        elif size == self.last_size and not tag:
            return self.groups[-1].samples
        self.begins_launch, self.last_size = False, size
        launch = self.launches[kind.pattern, kind.pairs] - 1
        stripes = {} if kind.stripes is None else {"stripes": kind.stripes}
        bytes_each = kind.message_bytes(size, where)
        self.groups.append(
            _Group(kind, launch, self.visits[size], bytes_each, [], {**tag, **stripes})
        )
        self.visits[size] += 1
        return self.groups[-1].samples

    def value(self, word: str, column: str, line: str, where: Where) -> float | None:
        """Microseconds; None where the row has no time and was skipped."""
        if is_number(word) and lacks_value(word):
            self.skipped.without_time(where, line, column, word)
            return None
        return time(word, column, where, factor=MICROSECOND) / MICROSECOND


def read_times(source: Source, options: Options) -> Imported:
    """The times of one_one, netnoise, conc and bidirect files; CorruptFile names line and column of what is wrong."""
    options.check_pattern((*_PATTERNS,), "the file holds ping-pongs or exchanges")
    options.check_direction(("one-way",), "its 'rtt' is half of a round trip")
    reader = _TimesReader(kind_of(Path(source.path).name, options.pattern))
    is_summary = False
    for where, line in clean_lines(source):
        if line:
            is_summary = _read_line(reader, line, where) or is_summary
    reader.skipped.refuse_if_empty(reader.groups)
    if not reader.groups:
        raise source.where(1).corrupt(None, "the file has a header and no rows")
    return Imported(
        [group.record() for group in reader.groups],
        CONVENTION,
        transport=reader.kind.transport,
        ranks=2 * max(group.kind.pairs for group in reader.groups),
        warnings=(*_warnings(reader, is_summary=is_summary), *reader.skipped.warnings()),
        statistic="median" if is_summary else None,
        resolution_seconds=reader.step * MICROSECOND if is_summary else None,
    )


CONVENTION = (
    "half of a round trip in microseconds, one-way, though the column is called rtt; of *_bidirect* one exchange; of "
    "*_concK* half of the distance from the earliest start to the latest end of K pairs"
)


def _read_line(reader: _TimesReader, line: str, where: Where) -> bool:
    """Reads a line; True where it is the summary of a size."""
    if SAMPLES.fullmatch(line):
        reader.begin()
    elif match := _COMMAND.fullmatch(line):
        reader.begin()
        _told(reader, int(match[1][:6]), match[2])
    elif match := SUMMARY.fullmatch(line):
        if line.lower().startswith("## netgauge"):
            reader.begin()
            _told(reader, int((match[1] or "2")[:6]), None)
    elif line.startswith("#"):
        return False
    elif match := PRINTED.fullmatch(line):
        _printed(reader, match, line, where)
        return True
    elif not line[0].isdigit():
        reader.skipped.foreign_line(where, line)
    elif " - " in line:
        _summary(reader, line, where)
        return True
    else:
        _sample(reader, line, where)
    return False


def _told(reader: _TimesReader, processes: int, pattern: str | None) -> None:
    """Takes what a header says of the number of processes, of which each second one has a time of its own."""
    kind = replace(reader.kind, pairs=max(processes // 2, 1), is_size_of_all=False, is_told=True)
    if pattern is not None:
        kind = replace(kind, is_exchange="bidirect" in pattern)
    reader.kind = kind


def _sample(reader: _TimesReader, line: str, where: Where) -> None:
    words = line.split()
    what = f"the row has {len(words)} columns, not 2"
    if reader.skipped.cut(where, line, words, ("size", "rtt"), what):
        return
    size = whole(words[0], "size", where)
    value = reader.value(words[1], "rtt", line, where)
    if value is not None:
        reader.enter(size, where, {}).append(value)


def _summary(reader: _TimesReader, line: str, where: Where) -> None:
    words = [word for word in re.split(r"[\s()]+", line) if word not in ("", "-")]
    if len(words) not in _MEDIAN:
        reader.skipped.row(where, line, None, f"the row has {len(words)} numbers, not 13 or 17")
        return
    size, at = whole(words[0], "A", where), _MEDIAN[len(words)]
    value = reader.value(words[at], "median RTT/2", line, where)
    if value is None:
        return
    names = {"min_seconds": at - 2, "mean_seconds": at - 1, "max_seconds": at + 1}
    tag: dict[str, object] = {
        name: time(words[index], name, where, factor=MICROSECOND) for name, index in names.items()
    }
    reader.step = max(reader.step, PRINTED_STEP)
    _once(reader, size, value, tag, where)


def _printed(reader: _TimesReader, match: re.Match[str], line: str, where: Where) -> None:
    """Takes the median, which only the rate tells."""
    size = whole(match[1], "bytes", where)
    rate, least = match[3], match[2]
    if size == 0 or lacks_value(rate):
        reader.skipped.without_time(where, line, "Mbit/s", rate)
        return
    value = (
        time(str(BYTE_BITS * size / float(rate)), "Mbit/s", where, factor=MICROSECOND) / MICROSECOND
    )
    reader.step = max(reader.step, value * PRINTED_STEP / float(rate))
    tag = {"min_seconds": time(least, "us", where, factor=MICROSECOND)}
    _once(reader, size, value, tag, where)


def _once(
    reader: _TimesReader, size: int, value: float, tag: Mapping[str, object], where: Where
) -> None:
    """One row a size: another launch begins where the sizes begin anew."""
    if reader.last_size is not None and size <= reader.last_size:
        reader.begin()
    reader.enter(size, where, tag).append(value)


def _warnings(reader: _TimesReader, *, is_summary: bool) -> tuple[Mapping[str, object], ...]:
    samples, pairs = sum(len(group.samples) for group in reader.groups), reader.kind.pairs
    return (
        *noted(
            0 if reader.kind.is_told else samples,
            "samples",
            "the file's name does not tell what its times are; they were taken for half ping-pongs of one pair",
            "if both sent at once, give --pattern exchange; if there were K pairs, name it *_concK.out",
        ),
        *noted(
            pairs if is_summary and pairs > 1 else 0,
            "pairs",
            "the times are those of one pair, not of the slowest as in other files of pairs",
            "for the slowest, import the file of samples",
        ),
    )
