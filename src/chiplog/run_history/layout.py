"""Where a history's files are, and what each says of itself.

HISTORY/YYYY/MM/DD/HHMMSSZ-RUN.parquet, by the time (UTC) of the run. A file is written under a name that begins with a
dot, and gets its own name when it is complete; readers take no notice of names that begin with a dot.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chiplog.dataset.fields import Fields
from chiplog.dataset.lines import Where, as_object, parse_json
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.input_file import open_input
from chiplog.optional import needed
from chiplog.outside import parse_time

VERSION = "chiplog.history-file/1"
VERSION_KEY = b"chiplog.history"
RUN_KEY = b"chiplog.run"
FINGERPRINT_KEY = b"chiplog.fingerprint"
CHECKSUM_KEY = b"chiplog.crc32"
SUFFIX = ".parquet"
NODE, PAIR = "node", "pair"
"""The scopes of rows."""
_DAY = re.compile(r"\d{4}/\d{2}/\d{2}")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a file says of its run."""

    run_id: str
    time: datetime
    """Of the run, UTC."""
    target: str
    fingerprint: Mapping[str, str]
    """The kernel, the MPI, the settings and so on, by name."""


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """One run of a history."""

    path: Path
    facts: RunFacts


def path_of(history: Path, facts: RunFacts) -> Path:
    """Where the file of a run is."""
    time = facts.time.astimezone(UTC)
    return history / f"{time:%Y/%m/%d}" / f"{time:%H%M%S}Z-{facts.run_id}{SUFFIX}"


def history_files(history: Path) -> tuple[list[HistoryFile], list[str]]:
    """The runs of a history, the oldest first, and a sentence for each other file.

    Others are broken, copies, or of another version.

    Raises UsageError where the folder is none, RunFailed where it can't be read.
    """
    if not history.is_dir():
        raise UsageError(f"{history} is not a folder; `chiplog history add` makes a history.")
    files: list[HistoryFile] = []
    unread: list[str] = []
    try:
        paths = list(_paths(history))
    except OSError as error:
        raise RunFailed(
            f"{error.filename} can't be read: {error.strerror}; ask its owner to let you read it."
        ) from error
    by_run: dict[str, Path] = {}
    for path in paths:
        try:
            file = read_facts(path)
        except CorruptFile as error:
            unread.append(str(error))
            continue
        if file.facts.run_id in by_run:
            unread.append(
                f"{path} holds the run of {by_run[file.facts.run_id]}, which counts once."
            )
            continue
        by_run[file.facts.run_id] = path
        files.append(file)
    return sorted(files, key=lambda file: (file.facts.time, file.facts.run_id)), unread


def _paths(history: Path) -> Iterator[Path]:
    for folder in sorted(history.glob("[0-9]*/[0-9]*/[0-9]*")):
        if not _DAY.fullmatch(folder.relative_to(history).as_posix()) or not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if path.suffix == SUFFIX and not path.name.startswith("."):
                yield path


def read_facts(path: Path) -> HistoryFile:
    """What a file says of its run.

    CorruptFile where it is broken or of another version, UsageError where PyArrow is not installed.
    """
    with open_parquet(path) as file:
        metadata: Mapping[bytes, bytes] = file.metadata.metadata or {}
    version = metadata.get(VERSION_KEY, b"").decode(errors="replace")
    if version != VERSION:
        known = f"is of version '{version}'" if version else "is not of a history"
        raise CorruptFile(
            f"{path} {known}, and this chiplog reads '{VERSION}': take the chiplog that wrote it, or move the file "
            "elsewhere."
        )
    given = metadata.get(CHECKSUM_KEY)
    if given is not None and given != checksum_of(metadata):
        raise broken(path, "its metadata don't have the checksum that they were written with")
    run = _members(path, metadata, RUN_KEY)
    fingerprint = _members(path, metadata, FINGERPRINT_KEY)
    names = [Fields(run, Where(str(path))).text(name) for name in ("run_id", "time_utc", "target")]
    facts = RunFacts(
        names[0],
        parse_time(names[1], f"{path}, time_utc", CorruptFile),
        names[2],
        {name: Fields(fingerprint, Where(str(path))).text(name) for name in fingerprint},
    )
    return HistoryFile(path, facts)


def _members(path: Path, metadata: Mapping[bytes, bytes], key: bytes) -> dict[str, object]:
    where = Where(f"{path}, {key.decode()}")
    return as_object(parse_json(metadata.get(key, b""), where), where)


def checksum_of(metadata: Mapping[bytes, bytes]) -> bytes:
    """The CRC-32 of what a file's metadata say, in hexadecimal digits; pages of values have their own."""
    known = (metadata.get(key, b"") for key in (VERSION_KEY, RUN_KEY, FINGERPRINT_KEY))
    return b"%08x" % zlib.crc32(b"\0".join(known))


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file that checks what it reads; whatever is wrong with it is a CorruptFile that names it."""
    pa, pq = needed("pyarrow", "a history"), needed("pyarrow.parquet", "a history")
    try:
        with open_input(path) as stream:
            yield pq.ParquetFile(stream, page_checksum_verification=True)
    except (UsageError, RunFailed) as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno is None:  # PyArrow's, of what the file holds
            raise broken(path, (str(cause).splitlines() or ["no reason"])[0]) from error
        raise CorruptFile(str(error)) from error
    except (OSError, ValueError, KeyError, OverflowError, pa.ArrowException) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise broken(path, lines[0]) from error


def broken(path: Path, reason: str) -> CorruptFile:
    """What is said of a file that can't be read."""
    return CorruptFile(
        f"{path} is broken ({reason.rstrip('.')}): write it again by `chiplog history add`, or move it elsewhere."
    )
