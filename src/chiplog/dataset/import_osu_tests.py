"""What the tests of the OSU micro-benchmarks measure, and how a row of each becomes a series.

Those of collective operations and of both directions at once, with their columns:

    # OSU MPI Allreduce Latency Test v7.4                   # Size       Avg Latency(us)   Min ...  Max ...  Iterations
    # OSU MPI Barrier Latency Test v7.4                     # Avg Latency(us)                      no size: one number
    # OSU MPI Non-blocking Allreduce Latency Test v7.4      # Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)
    # OSU MPI Bi-Directional Bandwidth Test v7.4            # Size      Bandwidth (MB/s)

A time is the mean over all ranks and iterations, each by its own clock since it left a barrier: `Avg Latency`, or of
operations that don't block `Pure Comm.`, their time without any computation. The message is the block of one rank of
gather, scatter, allgather and alltoall, else the whole buffer. Windows of messages both ways at once become
`bidirectional_flood`: the time of a window of both.

Source: the OSU micro-benchmarks' output and loops, versions 3 to 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from chiplog.dataset.import_collectives import DEFAULT, collective_name, collective_series
from chiplog.dataset.import_osu_tables import DEFAULT_WINDOW, DEFAULTS, OsuColumn
from chiplog.dataset.import_series import flood, half_round_trips, whole_operations
from chiplog.dataset.import_text import is_number, lacks_value
from chiplog.dataset.import_values import (
    AGREEMENT,
    LONGEST_SECONDS,
    MEGABYTE,
    PRINTED_STEP,
    number,
    time,
)
from chiplog.dataset.importer import ImportedSeries
from chiplog.dataset.lines import Where
from chiplog.dataset.operations import ATOMIC_BYTES


@dataclass
class OsuTest:
    """The test whose rows are being read."""

    name: str
    reader: OsuReader
    where: Where
    operation: str = "send"
    pairs: int | None = None
    ranks: int | None = None
    """Of collective operations: as the command says; None where none does."""
    window: int = DEFAULT_WINDOW
    synchronization: str | None = None
    accelerator: str | None = None
    buffers: str | None = None
    place: str | None = None
    """Between what the messages go: "intra-node", ...; None where no line before says it."""
    datatype: str = "MPI_CHAR"
    columns: tuple[OsuColumn, ...] = ()
    """The columns that the header names; empty without a header."""
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
    def memory(self) -> str:
        """What kind of buffers the messages are in."""
        return self.buffers or (
            f"{self.accelerator.lower()}-buffers" if self.accelerator else "host-buffers"
        )

    @property
    def elements(self) -> str | None:
        """What the messages are made of; None of bytes."""
        return None if self.datatype == "MPI_CHAR" else self.datatype


@dataclass(frozen=True)
class OsuReader:
    """How the rows of a test are read."""

    pattern: str
    series: Callable[[list[str], int, OsuTest, Where], ImportedSeries]
    columns: tuple[str, ...]
    """The names of the columns behind the size that it needs."""
    has_sizes: bool = True
    """False of a barrier, whose rows are one number."""


def _latency(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    seconds = time(words[1], "Latency (us)", where, factor=test.factor)
    return half_round_trips(size, seconds, operation=test.operation)


def _whole_operation(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    if test.operation == "atomic" and size != ATOMIC_BYTES:
        raise where.corrupt("Size", f"an atomic is of {ATOMIC_BYTES} bytes here, not of {size}")
    seconds = time(words[1], "Latency (us)", where, factor=test.factor)
    return whole_operations(size, seconds, test.operation)


def _several_latencies(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    seconds = time(words[1], "Latency (us)", where, factor=test.factor)
    return half_round_trips(size, seconds, pattern="pairs", pairs=test.pairs or 1)


def _bandwidth(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    rate = number(words[1], "Bandwidth (MB/s)", where, factor=test.factor)
    if size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    seconds = bounded(test.window * size / rate, "Bandwidth (MB/s)", where)
    return flood(size, seconds, test.window, test.operation, is_answered=True)


def _several(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    if test.pairs is None:
        raise where.corrupt("pairs", "no line before says how many pairs there are")
    megabytes = number(words[1], "MB/s", where, factor=test.factor) / MEGABYTE
    if test.has_message_rate:
        rate = number(words[2], "Messages/s", where)
        said = size * rate / MEGABYTE
        if abs(said - megabytes) > AGREEMENT * said + PRINTED_STEP:
            what = f"is {megabytes:g}, but the rate of messages gives {said:g}"
            raise where.corrupt("MB/s", what)
    elif size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    else:
        rate = megabytes * MEGABYTE / size
    seconds = bounded(test.pairs / rate, "Messages/s", where)
    bounded(seconds * test.window, "Messages/s", where)
    return ImportedSeries(
        pattern="pairs",
        direction="one-way",
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=test.pairs,
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
    "Avg Latency(us)": "latency",
    "Pure Comm.(us)": "pure comm.",
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


def one_way_reader(name: str) -> tuple[OsuReader, str] | None:
    """What reads the rows of a test between pairs of ranks, and its operation; None of another test."""
    known = _BY_LOWER_CASE.get(name.lower())
    if known is None:
        return None
    return TESTS[known], _OPERATIONS.get(known.split()[0], "send")


def bounded(seconds: float, name: str, where: Where) -> float:
    """`seconds`; CorruptFile that names the column `name` where that is too long a time."""
    if seconds > LONGEST_SECONDS:
        raise where.corrupt(name, f"means {seconds:g} s, more than {LONGEST_SECONDS:g} s")
    return seconds


BLOCKING, NON_BLOCKING = "Avg Latency(us)", "Pure Comm.(us)"
BOTH_WAYS = "bidirectional_flood"
_COLLECTIVE = re.compile(
    r"(?:(?P<library>NCCL|RCCL)(?:-\w+)? )?(?P<free>Non-?blocking )?(?P<neighbours>Neighborhood )?(?P<name>\S+?)"
    r"(?: Personalized Exchange)?(?P<persistent> Persistent)? Latency Test",
    re.IGNORECASE,
)
_BOTH_WAYS = re.compile(
    r"Bi-?(?:Directional )?Bandwidth(?P<persistent> Persistent)? Test", re.IGNORECASE
)


def collective_reader(name: str) -> tuple[OsuReader, str] | None:
    """What reads the rows of such a test, and its operation; None of another test. `name` is that of its title.

    >>> reader, operation = collective_reader("Non-blocking All-to-All Latency Test")
    >>> reader.pattern, reader.columns, operation
    ('alltoall', ('Pure Comm.(us)',), 'default, non-blocking')
    """
    if match := _BOTH_WAYS.fullmatch(name):
        operation = "send, persistent" if match["persistent"] else "send"
        return OsuReader(BOTH_WAYS, _both_ways, ("Bandwidth (MB/s)",)), operation
    match = _COLLECTIVE.fullmatch(name)
    collective = collective_name(match["name"]) if match else None
    if match is None or collective is None:
        return None
    pattern = f"neighbor_{collective}" if match["neighbours"] else collective
    kinds = {"free": "non-blocking", "persistent": "persistent"}
    operation = ", ".join(
        [
            (match["library"] or DEFAULT).lower(),
            *(word for key, word in kinds.items() if match[key]),
        ]
    )
    column = NON_BLOCKING if match["free"] else BLOCKING
    return OsuReader(pattern, _collective, (column,), has_sizes=collective != "barrier"), operation


def _collective(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    seconds = np.array([time(words[1], test.reader.columns[0], where, factor=test.factor)])
    return collective_series(
        test.reader.pattern, size, seconds, algorithm=test.operation, ranks=test.ranks
    )


def _both_ways(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    rate = number(words[1], "Bandwidth (MB/s)", where, factor=test.factor)
    if size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    seconds = bounded(2 * test.window * size / rate, "Bandwidth (MB/s)", where)
    return ImportedSeries(
        pattern=BOTH_WAYS,
        direction="call",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=2 * test.window,
        train=test.window,
    )
