"""`chiplog import` as a function: another tool's file becomes a run file."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import chiplog
from chiplog.dataset.foreign import TOOLS, csv_advice, head_of, importer_of, tool_of
from chiplog.dataset.import_collectives import COLLECTIVES
from chiplog.dataset.import_values import ROUNDING, SHORTEST_SECONDS
from chiplog.dataset.importer import (
    IMPORTERS,
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.patterns import FILE_PATTERNS
from chiplog.dataset.records import DIRECTIONS, SCHEMA
from chiplog.dataset.run_file import write_run
from chiplog.errors import CorruptFile, UsageError
from chiplog.input_file import MOST_DATA_BYTES, open_input, read_bounded
from chiplog.json_values import members
from chiplog.outside import LARGEST_INTEGER
from chiplog.plugins import did_you_mean

_Line = dict[str, object]

OTHER_BYTES = (64, 0.01)
"""Given: how many characters of a log may not be UTF-8: a number, or a share where that is more."""


def import_file(
    kind: str,
    path: str | Path,
    out: str | Path,
    *,
    note: Callable[[str], None] | None = None,
    **said: Any,
) -> Path:
    """Writes the measurements of another tool's file as a run file at `out`, replacing it, and returns its path.

    `said` is what a file can't say of itself, the members of `Options`: `pattern` and `direction`; `transport` names
    what was measured, `ranks` of how many ranks a collective operation was. `note` gets a sentence for each warning,
    which the run file's header holds as well.

    Raises UsageError for an unknown kind, pattern or direction, and where the file needs one that is not given;
    CorruptFile that names file, line and field where the file is not what the kind says.
    """
    if kind not in IMPORTERS.names() and kind.lower() in {name.lower() for name in TOOLS}:
        raise UsageError(f"There is no importer for {kind}: {csv_advice()}.")
    importer, options = IMPORTERS.load(kind), Options(**said)
    patterns = (*FILE_PATTERNS, *(set(COLLECTIVES) - set(FILE_PATTERNS)))
    _among("--pattern", options.pattern, patterns)
    _among("--direction", options.direction, tuple(name for name in DIRECTIONS if name != "call"))
    ranks = options.ranks
    if ranks is not None and not importer.takes_ranks:
        raise UsageError(
            f"--ranks {ranks} does not fit: {kind} files say it themselves; leave it out."
        )
    if ranks is not None and not 2 <= ranks < 1 << 24:
        raise UsageError(f"--ranks {ranks}: a collective operation is of 2 ranks or more.")
    return _write(importer, Path(path), Path(out), options, note)


def read_measurements(importer: Importer, path: Path, options: Options) -> Imported:
    """What another tool's file holds, without writing a run file; errors as of `import_file`."""
    return _read(importer, _opened(importer, path), options)[0]


def _among(option: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        near = did_you_mean(str(value), list(known))
        raise UsageError(f"{option} {value!r} is unknown; it accepts {', '.join(known)}.{near}")


def _read(importer: Importer, source: Source, options: Options) -> tuple[Imported, list[_Line]]:
    """What `importer` reads, and the record lines; CorruptFile names the right kind where it is another tool's file."""
    try:
        imported = importer.read(source, options)
        lines = [_record(index, record) for index, record in enumerate(imported.records)]
        if not lines:
            raise source.where(1).corrupt(None, "the file holds no measurement")
        if imported.statistic is not None and not all(map(_has_times, imported.records)):
            raise source.where(1).corrupt(None, "a time in the file is less than a picosecond")
    except CorruptFile as error:
        raise _told_apart(error, importer, source) from None
    return imported, lines


def _told_apart(error: CorruptFile, importer: Importer, source: Source) -> CorruptFile:
    """The error of a file that can't be imported: it names the right kind or tool where that can be recognised."""
    if importer.sign and re.search(importer.sign, source.text, re.MULTILINE):
        return error
    if (other := importer_of(source.text)) is not None and other.name != importer.name:
        what = f"this is no file of kind {importer.name}, but one of {other.summary}: use chiplog import {other.name}"
        return source.where(1).corrupt(None, what)
    if (tool := tool_of(source.text)) is not None:
        what = f"this is {tool}'s output, which has no importer: {csv_advice()}"
        return source.where(1).corrupt(None, what)
    if importer.sign and importer.name != "csv":
        return CorruptFile(f"{error}; if this is no file of {importer.name}, {csv_advice()}")
    return error


def _has_times(record: ImportedRecord) -> bool:
    """Are all times of a record long enough to be kept?"""
    return all(bool((series.seconds >= SHORTEST_SECONDS).all()) for series in record.series)


def _sentence(warning: Mapping[str, object]) -> str:
    unit = str(warning["unit"])
    counted = f"{warning['number']} {unit.removesuffix('s') if warning['number'] == 1 else unit}"
    return f"{warning['fact']}: {counted}; {warning['remedy']}."


def _write(
    importer: Importer,
    path: Path,
    out: Path,
    options: Options,
    note: Callable[[str], None] | None,
) -> Path:
    source = _opened(importer, path)
    if out.exists() and out.samefile(path):
        raise UsageError(f"-o {out} is the file to import; name another one.")
    imported, lines = _read(importer, source, options)
    header: dict[str, object] = {
        "schema": SCHEMA,
        "chiplog": chiplog.__version__,
        "run_id": source.sha256[:16],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": f"import:{importer.name}",
        "transport": options.transport or imported.transport or "unknown",
        "ranks": imported.ranks,
        **({"hosts": list(imported.hosts)} if imported.hosts else {}),
        "provenance": {
            "kind": importer.name,
            "file": path.name,
            "sha256": source.sha256,
            "convention": imported.convention,
            **({"statistic": imported.statistic} if imported.statistic else {}),
        },
        "warnings": list(imported.warnings),
    }
    if imported.resolution_seconds is not None:
        resolution_ns = round(imported.resolution_seconds * 1e9, ndigits=6)
        header["clock"] = {"resolution_ns": resolution_ns, "overhead_ns": None}
    write_run(out, header, lines)
    if note is not None:
        for warning in imported.warnings:
            note(_sentence(warning))
    return out


def _opened(importer: Importer, path: Path) -> Source:
    """What `importer` reads; CorruptFile names the right kind where it is no file that it can open."""
    try:
        return importer.open(path) if importer.open else read_source(path, is_log=importer.is_log)
    except CorruptFile as error:
        raise _told_apart(error, importer, Source(str(path), head_of(path) or "", "")) from None


def read_source(path: Path, *, is_log: bool = False) -> Source:
    """The text of `path`, unpacked if it is a gzip file; CorruptFile where it is damaged, too long or no text.

    Of a log, a few bytes that are not UTF-8 are replaced: they are another program's. What Windows redirects is UTF-16.
    """
    with open_input(path, MOST_DATA_BYTES) as stream:
        is_packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        content = _unpacked(stream, str(path)) if is_packed else _content(stream, str(path))
        stream.seek(0)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    utf_16 = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        text = content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        text = content.decode("utf-8-sig", errors="replace")
        if is_log and text.count("\ufffd") <= max(OTHER_BYTES[0], OTHER_BYTES[1] * len(text)):
            return Source(str(path), _without_zeros(text, path), digest)
        line = content.count(b"\n", 0, error.start) + 1
        raise CorruptFile(
            f"{path}, line {line}: byte {error.start} of the file is not UTF-8"
        ) from None
    return Source(str(path), _without_zeros(text, path), digest)


def _without_zeros(text: str, path: Path) -> str:
    """`text`; CorruptFile where it holds a zero byte."""
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CorruptFile(f"{path}, line {line}: the file holds a zero byte: it is no text")
    return text


def _content(stream: BinaryIO, path: str) -> bytes:
    return read_bounded(stream, path, MOST_DATA_BYTES)


def _unpacked(packed: BinaryIO, path: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=packed) as stream:
            return _content(io.BufferedReader(stream), path)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFile(f"{path}, line 1: the gzip file is damaged: {error}") from None


def _record(index: int, record: ImportedRecord) -> dict[str, object]:
    """The members of a record line; the sum of its samples stands for its duration, which is not known."""
    total = sum(float(series.seconds.sum()) * series.batch for series in record.series)
    return {
        "id": index,
        "visit": record.visit,
        "launch": record.launch,
        "started_ns": 0,
        "elapsed_ns": min(LARGEST_INTEGER, round(total * 1e9)),
        "placement_ns": None,
        "payload": "unchecked",
        "stopped": "samples",
        "series": [_series(series) for series in record.series],
        "tag": dict(record.tag),
        **({"placement": record.placement} if record.placement else {}),
    }


def _series(series: ImportedSeries) -> dict[str, object]:
    calls = int(series.seconds.size) * series.batch
    bytes_per_sample = series.bytes_per_sample
    if bytes_per_sample is None:
        bytes_per_sample = series.messages_per_sample * series.message_bytes
    of_round: dict[str, object] = {}
    if series.round is not None:
        of_round = {
            "round": series.round,
            "at_once": 1,
            "by_pair": [
                {
                    "client": pair.client,
                    "server": pair.server,
                    **_samples(pair.seconds * series.batch),
                }
                for pair in series.by_pair
            ],
        }
    return {
        **members(series, "pattern", "operation", "posting", "direction", "message_bytes", "train"),
        "delay_ns": round(series.delay_seconds * 1e9, ndigits=6),
        **members(series, "batch", "pairs", "peers", "warmup"),
        "messages": min(LARGEST_INTEGER, calls * series.messages_per_sample),
        "bytes": min(LARGEST_INTEGER, calls * bytes_per_sample),
        **_samples(series.seconds * series.batch),
        **of_round,
    }


def _samples(interval_seconds: NDArray[np.float64]) -> dict[str, list[int]]:
    """Whole nanoseconds where the source's times are such but for rounding, whole picoseconds where they are finer."""
    nanoseconds = np.rint(interval_seconds * 1e9)
    if np.allclose(nanoseconds / 1e9, interval_seconds, rtol=ROUNDING, atol=0.0):
        return {"samples_ns": nanoseconds.astype(np.int64).tolist()}
    return {"samples_ps": np.rint(interval_seconds * 1e12).astype(np.int64).tolist()}
