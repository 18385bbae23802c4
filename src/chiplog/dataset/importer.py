"""What an importer of another tool's files is, what it gets and what it gives; and which there are.

A new one is a module in `chiplog.dataset.importers` and its name in `IMPORTERS`, or an entry point of another package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chiplog.errors import UsageError
from chiplog.plugins import Registry

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from chiplog.dataset.lines import Where


@dataclass(frozen=True)
class Source:
    """The unpacked text of a file and where it came from."""

    path: str
    text: str
    sha256: str
    members: Mapping[str, str] = field(default_factory=dict)
    """Of an archive or a folder: the text of each file in it, by its path there."""
    left_out: tuple[str, ...] = ()
    """A sentence for each file that can't be read."""

    def lines(self) -> list[str]:
        """Its lines without their ends; the line with index i has the number i + 1."""
        return self.text.splitlines()

    def where(self, line: int) -> Where:
        """The place of a line, counted from 1."""
        from chiplog.dataset.lines import Where

        return Where(self.path, line)


@dataclass(frozen=True)
class Options:
    """What the caller says about a file that can't say it of itself."""

    pattern: str | None = None
    direction: str | None = None
    transport: str | None = None
    ranks: int | None = None

    def check_pattern(self, held: Collection[str], why: str) -> None:
        """Raises UsageError where the caller named a pattern, and none of `held`; `why` says what the file has."""
        _check("--pattern", self.pattern, held, why)

    def check_direction(self, held: Collection[str], why: str) -> None:
        """As `check_pattern`, of the direction."""
        _check("--direction", self.direction, held, why)


def _check(option: str, given: str | None, held: Collection[str], why: str) -> None:
    if given is not None and given not in held:
        raise UsageError(f"{option} {given} does not fit: {why}; leave it out.")


@dataclass(frozen=True)
class ImportedPair:
    """The samples of one pair of ranks; `seconds`, shape (samples,), is empty where the pair has no usable number."""

    client: int
    """The rank that sends, or begins."""
    server: int
    seconds: NDArray[np.float64]


@dataclass(frozen=True)
class ImportedSeries:
    """One series of an imported record; `seconds`, shape (samples,), are durations of one operation."""

    pattern: str
    direction: str
    message_bytes: int
    seconds: NDArray[np.float64]
    messages_per_sample: int
    bytes_per_sample: int | None = None
    """None where each message is of `message_bytes`."""
    operation: str = "send"
    posting: str = "normal"
    train: int = 1
    delay_seconds: float = 0.0
    batch: int = 1
    pairs: int = 1
    peers: int = 1
    warmup: int = 0
    """How many of the first samples are kept in the file, but used by nobody."""
    round: int | None = None
    """Of all_pairs: the number of the round."""
    by_pair: tuple[ImportedPair, ...] = ()
    """Of all_pairs: the samples of each pair of the round; `seconds` are those of the slowest."""


@dataclass(frozen=True)
class ImportedRecord:
    """Series whose samples belong together."""

    series: Sequence[ImportedSeries]
    visit: int = 0
    launch: int = 0
    tag: Mapping[str, object] = field(default_factory=dict)
    placement: str | None = None
    """The part of the file that it belongs to, where paths differ: "device-buffers", "intra-node"; see `Parts`."""


@dataclass(frozen=True)
class Imported:
    """What an importer found."""

    records: Sequence[ImportedRecord]
    convention: str
    """What the times of the source are, in one sentence."""
    transport: str | None = None
    ranks: int | None = 2
    """None where the file does not say how many ranks there were."""
    hosts: tuple[str, ...] = ()
    """The host of each rank; empty where the file does not name them."""
    warnings: tuple[Mapping[str, object], ...] = ()
    statistic: str | None = None
    """What one number of the source stands for many times by: "mean", "median"; None where samples are raw."""
    resolution_seconds: float | None = None
    """The step in which times are printed; None where that is no limit, or not known."""


@dataclass(frozen=True, kw_only=True)
class Importer:
    """One kind of another tool's files; its name is the KIND of `chiplog import KIND FILE`."""

    name: str
    summary: str
    """What the files are, in a few words, for help and lists."""
    sign: str | None = None
    """A regular expression that only this tool's files match: it names the right KIND for a file of another one."""
    is_log: bool = False
    """May lines of other programs stand between the tables? Then they may hold bytes that are not UTF-8."""
    takes_ranks: bool = False
    """May the caller say of how many ranks a collective operation was?"""
    open: Callable[[Path], Source] | None = None
    """Reads what is no single text file, such as an archive; None where it is one."""
    read: Callable[[Source, Options], Imported]
    """What a file holds; CorruptFile names line and field of what is wrong, UsageError what the caller must say."""


IMPORTERS: Registry[Importer] = Registry(
    "importer",
    "chiplog.dataset.importer:Importer",
    folder="chiplog.dataset.importers",
    built_in=(
        "csv",
        "netgauge",
        "nodecomm",
        "smptest",
        "simgrid-calibration",
        "osu",
        "imb",
        "perftest",
        "netpipe",
        "nccl-tests",
        "mpigraph",
        "linktest",
        "fabtests",
        "ucx-perftest",
        "qperf",
        "gpcnet",
        "pico",
        "ompi-collectives-tuning",
    ),
    unknown="there is no importer '{name}'; known are {known}.",
)
