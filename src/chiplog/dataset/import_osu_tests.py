"""What the tests of the OSU micro-benchmarks measure, and how a row of each becomes a series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from chiplog.dataset.import_osu_columns import DEFAULTS, Column
from chiplog.dataset.import_osu_titles import parsed, why_not, window
from chiplog.dataset.import_text import is_number, lacks_value
from chiplog.dataset.import_values import LONGEST_SECONDS, number, time
from chiplog.dataset.importer import ImportedSeries, Options
from chiplog.dataset.lines import Where
from chiplog.errors import UsageError

DEFAULT_WINDOW = 64
MEGABYTE = 1e6
PRINTED_STEP = 0.01
"""Given: numbers have two digits behind the point."""
ATOMIC_BYTES = 8
AGREEMENT = 0.01
"""Share, and megabytes per second, by which the two columns of osu_mbw_mr may differ for rounding."""


@dataclass
class OsuTest:
    """The test whose rows are being read."""

    name: str
    reader: OsuReader
    where: Where
    operation: str = "send"
    launch: int = 0
    pairs: int | None = None
    window: int = DEFAULT_WINDOW
    synchronization: str | None = None
    accelerator: str | None = None
    buffers: str | None = None
    datatype: str = "MPI_CHAR"
    columns: tuple[Column, ...] = ()
    """Those of the header; none where there is none."""
    values: tuple[int, ...] = ()
    """Where in a row the numbers stand that the reader needs."""
    sizes: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.values = self.values or tuple(range(1, 1 + len(self.reader.columns)))

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the columns that a row must have."""
        return self.reader.columns[: len(self.values)]

    @property
    def has_message_rate(self) -> bool:
        """False where an option of osu_mbw_mr leaves it out."""
        return len(self.values) == len(self.reader.columns)

    @property
    def factor(self) -> float:
        """Seconds or bytes/s that a 1 in the first of the needed columns means."""
        if self.columns:
            return self.columns[self.values[0] - 1].factor
        return DEFAULTS[KINDS[self.reader.columns[0]]]

    @property
    def step_seconds(self) -> float:
        """The step in which times are printed."""
        return PRINTED_STEP * (self.factor if self.factor <= 1.0 else DEFAULTS["latency"])

    @property
    def path(self) -> str:
        """What kind of buffers the messages are in."""
        where = self.buffers or (
            f"{self.accelerator} buffers" if self.accelerator else "host buffers"
        )
        return where if self.datatype == "MPI_CHAR" else f"{where} of {self.datatype}"


@dataclass(frozen=True)
class OsuReader:
    """How the rows of a test are read."""

    pattern: str
    series: Callable[[list[str], int, OsuTest, Where], ImportedSeries]
    columns: tuple[str, ...]
    """The names of the columns behind the size that it needs."""


def _latency(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    return ImportedSeries(
        pattern="ping_pong",
        direction="one-way",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=test.factor)]),
        messages_per_sample=2,
        bytes_per_sample=2 * size,
    )


def _whole_operation(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    if test.operation == "atomic" and size != ATOMIC_BYTES:
        raise where.corrupt("Size", f"an atomic is of {ATOMIC_BYTES} bytes here, not of {size}")
    return ImportedSeries(
        pattern="ping_pong",
        direction="round-trip",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=test.factor)]),
        messages_per_sample=1,
        bytes_per_sample=size,
    )


def _several_latencies(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    pairs = test.pairs or 1
    return ImportedSeries(
        pattern="pairs",
        direction="one-way",
        message_bytes=size,
        seconds=np.array([time(words[1], "Latency (us)", where, factor=test.factor)]),
        messages_per_sample=2 * pairs,
        bytes_per_sample=2 * pairs * size,
        pairs=pairs,
    )


def _bandwidth(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    rate = number(words[1], "Bandwidth (MB/s)", where, factor=test.factor)
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


def _several(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    if test.pairs is None:
        raise where.corrupt("pairs", "no line before says how many pairs there are")
    megabytes = number(words[1], "MB/s", where, factor=test.factor) / MEGABYTE
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


_BANDWIDTH = OsuReader("flood", _bandwidth, ("Bandwidth (MB/s)",))
_WHOLE = OsuReader("ping_pong", _whole_operation, ("Latency (us)",))
TESTS: Mapping[str, OsuReader] = {
    "Latency Test": OsuReader("ping_pong", _latency, ("Latency (us)",)),
    "Multi Latency Test": OsuReader("pairs", _several_latencies, ("Latency (us)",)),
    "Bandwidth Test": _BANDWIDTH,
    "Multiple Bandwidth / Message Rate Test": OsuReader("pairs", _several, ("MB/s", "Messages/s")),
    "MPI_Put Bandwidth Test": _BANDWIDTH,
    "MPI_Get Bandwidth Test": _BANDWIDTH,
    "MPI_Get Latency Test": _WHOLE,
    "MPI_Fetch_and_op Latency Test": _WHOLE,
}
"""What reads the rows of a test, by its title without 'OSU MPI'."""
KINDS: Mapping[str, str] = {
    "Latency (us)": "latency",
    "Bandwidth (MB/s)": "bandwidth",
    "MB/s": "bandwidth",
    "Messages/s": "messages",
}
"""The kind of each column that a test needs."""
_OPERATIONS = {"MPI_Put": "rdma-write", "MPI_Get": "rdma-read", "MPI_Fetch_and_op": "atomic"}
_BY_LOWER_CASE = {name.lower(): name for name in TESTS}
_FLUSH = "MPI_Win_flush"
ENDS = {
    "rdma-write": (_FLUSH,),
    "rdma-read": (_FLUSH, f"{_FLUSH}_local"),
    "atomic": (_FLUSH, f"{_FLUSH}_local"),
}
"""With what an operation is over: what was read is there after a local flush, too."""


def unusable(words: list[str], size: int, test: OsuTest) -> tuple[str | None, str] | None:
    """Column and reason why a row can't be used; None where it can."""
    if len(words) <= max(test.values):
        return None, f"the row has {len(words)} columns, not {1 + max(test.values)}"
    for name, at in zip(test.needed, test.values, strict=True):
        word = words[at]
        if not is_number(word):
            return name, f"{word[:20]!r} is no number"
        if lacks_value(word) and not (name == "MB/s" and size == 0):
            return name, f"is {word[:20]}: there is no time for that"
    if "Fail" in words[1:]:
        return "Validation", "the bytes received were wrong"
    further = words[1 + len(test.columns) :] if test.columns else []
    if further and is_number(further[0]):
        return None, f"the row has {len(words)} columns, its header {1 + len(test.columns)}"
    return None


def begun(
    title: str, version: str | None, options: Options, where: Where
) -> tuple[OsuTest | None, str]:
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
    test = OsuTest(name, reader, where, operation, accelerator=what.accelerator)
    test.window = window(name, version)
    return test, ""


def _bounded(seconds: float, name: str, where: Where) -> float:
    if seconds > LONGEST_SECONDS:
        raise where.corrupt(name, f"means {seconds:g} s, more than {LONGEST_SECONDS:g} s")
    return seconds
