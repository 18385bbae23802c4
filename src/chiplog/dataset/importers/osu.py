"""OSU micro-benchmarks: osu_latency, osu_bw and osu_mbw_mr, one value a size.

    # OSU MPI Latency Test                                 size, latency in µs: half a ping-pong
    # OSU MPI Bandwidth Test                               size, MB/s of 1e6 B/s: windows of messages, each answered
    # OSU MPI Multiple Bandwidth / Message Rate Test       size, MB/s and messages/s of all pairs together
    # [ pairs: 4 ] [ window size: 64 ]

A latency becomes a one-way ping_pong, a bandwidth the time of a flood of one window. osu_mbw_mr becomes pairs, one-way:
the time of a window by its number of messages, from the rate of messages, which has more digits. A test that stands in
the file again is another launch. Columns beyond these are not read.

Source: the OSU micro-benchmarks' output, versions 4 to 7.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

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
AGREEMENT = 0.01
"""Share, and megabytes per second, by which the two columns of osu_mbw_mr may differ for rounding."""
CONVENTION = (
    "means, one-way: half a ping-pong (osu_latency), a window of messages (osu_bw), a window by its number of messages "
    "(osu_mbw_mr); 1 MB/s = 1e6 B/s"
)
_TITLE = re.compile(r"#\s*OSU MPI\S* (.*?)(?:\s+v[\d.]+.*)?\s*")
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\S+?)\s*\]\s*\[\s*window size:\s*(\S+?)\s*\]\s*")


@dataclass
class _Test:
    """The test whose rows are being read."""

    name: str
    launch: int = 0
    pairs: int | None = None
    window: int = DEFAULT_WINDOW
    sizes: set[int] = field(default_factory=set)


def _latency(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    del test
    return ImportedSeries(
        pattern="ping_pong",
        direction="one-way",
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=MICROSECOND)]),
        messages_per_sample=2,
        bytes_per_sample=2 * size,
    )


def _bandwidth(words: list[str], size: int, test: _Test, where: Where) -> ImportedSeries:
    rate = _positive(words[1], "Bandwidth (MB/s)", where) * MEGABYTE
    return ImportedSeries(
        pattern="flood",
        direction="round-trip",
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
    rate = _positive(words[2], "Messages/s", where)
    said = size * rate / MEGABYTE
    if abs(said - megabytes) > AGREEMENT * (1.0 + said):
        raise where.corrupt("MB/s", f"is {megabytes:g}, but the rate of messages gives {said:g}")
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


_Reader = Callable[[list[str], int, _Test, Where], ImportedSeries]
TESTS: Mapping[str, tuple[str, int, _Reader]] = {
    "Latency Test": ("ping_pong", 2, _latency),
    "Bandwidth Test": ("flood", 2, _bandwidth),
    "Multiple Bandwidth / Message Rate Test": ("pairs", 3, _several),
}
"""By title: the pattern, how many columns are read, and what reads them."""


def read(source: Source, options: Options) -> Imported:
    """The rows of one or more OSU tests; CorruptFile names line and column of what is wrong."""
    if options.direction not in (None, "one-way"):
        raise UsageError(f"--direction {options.direction} does not fit: OSU's times are one-way.")
    records: list[ImportedRecord] = []
    seen: Counter[tuple[str, int]] = Counter()
    test: _Test | None = None
    for index, line in enumerate(source.lines(), start=1):
        where, words = source.where(index), line.split()
        if match := _TITLE.fullmatch(line.strip()):
            test = _begun(match[1], options, where)
            if test.name != "Multiple Bandwidth / Message Rate Test":
                test.launch = _again(seen, test)
        elif test is not None and (match := _PAIRS.fullmatch(line.strip())):
            test.pairs = whole(match[1], "pairs", where, minimum=1, maximum=1 << 20)
            test.window = whole(match[2], "window size", where, minimum=1, maximum=1 << 20)
            test.launch = _again(seen, test)
        elif test is not None and words and not words[0].startswith("#"):
            records.append(_record(words, test, where))
    if test is None:
        raise source.where(1).corrupt("title", "no line says which OSU test this is")
    most = max((one.pairs for record in records for one in record.series), default=1)
    return Imported(records, CONVENTION, ranks=2 * most, warnings=_warnings(records))


def _begun(name: str, options: Options, where: Where) -> _Test:
    if name not in TESTS:
        raise where.corrupt(
            "title", f"{name[:60]!r} can't be imported; known are {', '.join(TESTS)}"
        )
    pattern = TESTS[name][0]
    if options.pattern not in (None, pattern):
        raise UsageError(f"--pattern {options.pattern} does not fit: {name} holds {pattern}.")
    return _Test(name)


def _again(seen: Counter[tuple[str, int]], test: _Test) -> int:
    key = (test.name, test.pairs or 1)
    seen[key] += 1
    return seen[key] - 1


def _record(words: list[str], test: _Test, where: Where) -> ImportedRecord:
    _, columns, reader = TESTS[test.name]
    size = whole(words[0], "Size", where)
    if len(words) < columns:
        raise where.corrupt(None, f"the row has {len(words)} columns, not {columns}")
    if size in test.sizes:
        raise where.corrupt("Size", f"{size} stands twice in one test")
    test.sizes.add(size)
    return ImportedRecord(
        (reader(words, size, test, where),), launch=test.launch, tag={"osu": test.name}
    )


def _positive(word: str, name: str, where: Where) -> float:
    value = number(word, name, where)
    if value == 0.0:
        raise where.corrupt(name, "is 0: there is no time for that")
    return value


def _bounded(seconds: float, name: str, where: Where) -> float:
    if seconds > LONGEST_SECONDS:
        raise where.corrupt(name, f"means {seconds:g} s, more than {LONGEST_SECONDS:g} s")
    return seconds


def _warnings(records: list[ImportedRecord]) -> tuple[Mapping[str, object], ...]:
    patterns = {one.pattern for record in records for one in record.series}
    found: list[Mapping[str, object]] = []
    if "flood" in patterns:
        found.append(
            {
                "fact": "osu_bw does not print its window; the default was taken",
                "number": DEFAULT_WINDOW,
                "unit": "messages",
                "remedy": "run osu_bw without -W",
            }
        )
    if "pairs" in patterns:
        windows = [
            one.batch for record in records for one in record.series if one.pattern == "pairs"
        ]
        found.append(
            {
                "fact": "osu_mbw_mr times windows: a start-up time fitted to it is the time between two messages",
                "number": max(windows),
                "unit": "messages",
                "remedy": "for latencies, measure ping-pongs of k pairs (nodecomm, IMB -multi)",
            }
        )
    return tuple(found)


OSU = Importer(
    name="osu",
    summary="OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr",
    read=read,
)
