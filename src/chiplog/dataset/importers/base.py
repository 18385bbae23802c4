"""What all importers share: reading a source bounded, times as integers, and the run file that results."""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import chiplog
from chiplog.dataset.fields import LARGEST
from chiplog.dataset.input_file import open_input
from chiplog.dataset.lines import Where
from chiplog.dataset.records import SCHEMA
from chiplog.dataset.run_file import RunWriter
from chiplog.errors import CorruptFile, UsageError

MAX_SOURCE_BYTES = 1 << 30
"""Longest source, unpacked, that an importer takes."""

LONGEST_SECONDS = 1e6
"""No single time may be longer: it would not fit the storage in picoseconds, and is surely in another unit."""

ROUNDING = 1e-15
"""Relative difference that a product and a quotient of float64 may make."""


@dataclass(frozen=True)
class Source:
    """The unpacked text of a file and where it came from."""

    path: str
    text: str
    sha256: str

    def lines(self) -> list[str]:
        """Its lines without their ends; the line with index i has the number i + 1."""
        return self.text.splitlines()

    def where(self, line: int) -> Where:
        """The place of a line, counted from 1."""
        return Where(self.path, line)


@dataclass(frozen=True)
class Options:
    """What the caller says about a file that can't say it of itself."""

    pattern: str | None = None
    direction: str | None = None
    transport: str | None = None


@dataclass(frozen=True)
class ImportedSeries:
    """One series of an imported record; `seconds`, shape (samples,), are durations of one operation."""

    pattern: str
    direction: str
    message_bytes: int
    seconds: NDArray[np.float64]
    messages_per_sample: int
    bytes_per_sample: int
    operation: str = "send"
    posting: str = "normal"
    train: int = 1
    delay_seconds: float = 0.0
    batch: int = 1
    pairs: int = 1
    peers: int = 1


@dataclass(frozen=True)
class ImportedRecord:
    """Series whose samples belong together."""

    series: Sequence[ImportedSeries]
    visit: int = 0
    launch: int = 0
    tag: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Imported:
    """What an importer found."""

    records: Iterable[ImportedRecord]
    convention: str
    """What the times of the source are, in one sentence."""
    transport: str | None = None
    ranks: int = 2
    warnings: tuple[Mapping[str, object], ...] = ()


Importer = Callable[[Source, Options], Imported]


def write_import(kind: str, read: Importer, path: Path, out: Path, options: Options) -> Path:
    """Reads `path` by `read` and writes the run file `out`."""
    source = read_source(path)
    if out.exists() and out.samefile(path):
        raise UsageError(f"-o {out} is the file to import; name another one.")
    imported = read(source, options)
    header = {
        "schema": SCHEMA,
        "chiplog": chiplog.__version__,
        "run_id": source.sha256[:16],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": f"import:{kind}",
        "transport": options.transport or imported.transport or "unknown",
        "ranks": imported.ranks,
        "provenance": {
            "kind": kind,
            "file": path.name,
            "sha256": source.sha256,
            "convention": imported.convention,
        },
        "warnings": list(imported.warnings),
    }
    lines = [_record(index, record) for index, record in enumerate(imported.records)]
    if not lines:
        raise source.where(1).corrupt(None, "the file holds no measurement")
    with RunWriter.create(out, header, overwrite=True) as writer:
        for line in lines:
            writer.append(line)
    return out


def read_source(path: Path) -> Source:
    """The text of `path`, unpacked if it is a gzip file; CorruptFile where it is damaged, too long or no text."""
    with open_input(path) as stream:
        packed = stream.read(MAX_SOURCE_BYTES + 1)
    digest = hashlib.sha256(packed).hexdigest()
    content = _unpacked(packed, str(path)) if packed[:2] == b"\x1f\x8b" else packed
    if len(content) > MAX_SOURCE_BYTES:
        raise CorruptFile(f"{path}, line 1: the file holds more than {MAX_SOURCE_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorruptFile(
            f"{path}, line {line}: byte {error.start} of the file is not UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CorruptFile(f"{path}, line {line}: the file holds a zero byte: it is no text")
    return Source(str(path), text, digest)


def _unpacked(packed: bytes, path: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            return stream.read(MAX_SOURCE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFile(f"{path}, line 1: the gzip file is damaged: {error}") from None


def number(text: str, name: str, where: Where, *, factor: float = 1.0) -> float:
    """`text` as a finite number that is not negative, times `factor`."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        raise where.corrupt(name, f"{text[:40]!r} is not a number") from None
    if not math.isfinite(value):
        raise where.corrupt(name, f"{text[:40]!r} is not a finite number")
    if value < 0:
        raise where.corrupt(name, f"{text[:40]!r} is negative")
    return value * factor


def too_long(seconds: float) -> bool:
    """Whether a duration exceeds LONGEST_SECONDS by more than rounding."""
    return seconds > LONGEST_SECONDS * (1 + ROUNDING)


def time(text: str, name: str, where: Where, *, factor: float = 1.0) -> float:
    """`text` times `factor` as a duration in seconds, bounded by LONGEST_SECONDS."""
    seconds = number(text, name, where, factor=factor)
    if too_long(seconds):
        raise where.corrupt(name, f"{text[:40]!r} is more than {LONGEST_SECONDS:g} s")
    return seconds


def whole(text: str, name: str, where: Where, *, minimum: int = 0, maximum: int = 1 << 48) -> int:
    """`text` as an integer from `minimum` to `maximum`."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise where.corrupt(name, f"{text[:40]!r} is not a whole number")
    value = int(digits)
    if not minimum <= value <= maximum:
        raise where.corrupt(name, f"must be from {minimum} to {maximum}, but is {value}")
    return value


def _record(index: int, record: ImportedRecord) -> dict[str, object]:
    """The members of a record line; the sum of its samples stands for its duration, which is not known."""
    total = sum(float(one.seconds.sum()) * one.batch for one in record.series)
    return {
        "id": index,
        "visit": record.visit,
        "launch": record.launch,
        "started_ns": 0,
        "elapsed_ns": min(LARGEST, round(total * 1e9)),
        "placement_ns": None,
        "payload": "unchecked",
        "stopped": "samples",
        "series": [_series(one) for one in record.series],
        "tag": dict(record.tag),
    }


def _series(one: ImportedSeries) -> dict[str, object]:
    samples = int(one.seconds.size)
    return {
        "pattern": one.pattern,
        "operation": one.operation,
        "posting": one.posting,
        "direction": one.direction,
        "message_bytes": one.message_bytes,
        "train": one.train,
        "delay_ns": round(one.delay_seconds * 1e9, 6),
        "batch": one.batch,
        "pairs": one.pairs,
        "peers": one.peers,
        "warmup": 0,
        "messages": min(LARGEST, samples * one.batch * one.messages_per_sample),
        "bytes": min(LARGEST, samples * one.batch * one.bytes_per_sample),
        **_samples(one.seconds * one.batch),
    }


def _samples(interval_seconds: NDArray[np.float64]) -> dict[str, list[int]]:
    """Whole nanoseconds where the source's times are such but for rounding, whole picoseconds where they are finer."""
    nanoseconds = np.rint(interval_seconds * 1e9)
    if np.allclose(nanoseconds / 1e9, interval_seconds, rtol=ROUNDING, atol=0.0):
        return {"samples_ns": nanoseconds.astype(np.int64).tolist()}
    return {"samples_ps": np.rint(interval_seconds * 1e12).astype(np.int64).tolist()}
