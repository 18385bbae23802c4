"""Where a history's files are, and what each says of itself.

HISTORY/YYYY/MM/DD/HHMMSSZ-RUN.parquet, by the time (UTC) of the run. A file is written under a name that begins with a
dot, and gets its own name when it is complete; readers take no notice of names that begin with a dot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.input_file import refuse_other_than_file
from chiplog.optional import needed

VERSION = "chiplog.history-file/1"
VERSION_KEY = b"chiplog.history"
RUN_KEY = b"chiplog.run"
FINGERPRINT_KEY = b"chiplog.fingerprint"
SUFFIX = ".parquet"
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


def parse_time(text: str, what: str) -> datetime:
    """A time as in 2026-11-23T13:37:19Z; UsageError, naming `what`, for anything else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{what}: '{text}' is not understood; it accepts a time such as 2026-11-23T13:37:19Z."
        ) from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)


def history_files(history: Path) -> tuple[list[HistoryFile], list[str]]:
    """The runs of a history, the oldest first, and a sentence for each file that is broken or of another version.

    Raises UsageError where the folder is none, RunFailed where it can't be read.
    """
    if not history.is_dir():
        raise UsageError(f"{history} is not a folder; `chiplog history add` makes a history.")
    found: list[HistoryFile] = []
    unread: list[str] = []
    try:
        paths = list(_paths(history))
    except OSError as error:
        raise RunFailed(
            f"{error.filename} can't be read: {error.strerror}; ask its owner to let you read it."
        ) from error
    for path in paths:
        try:
            found.append(read_facts(path))
        except CorruptFile as error:
            unread.append(str(error))
    return sorted(found, key=lambda one: (one.facts.time, one.facts.run_id)), unread


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
    pa, pq = needed("pyarrow", "a history"), needed("pyarrow.parquet", "a history")
    try:
        refuse_other_than_file(str(path))
        metadata: Mapping[bytes, bytes] = pq.read_metadata(path).metadata or {}
    except (OSError, UsageError, pa.ArrowException) as error:
        raise broken(path, error) from error
    version = metadata.get(VERSION_KEY, b"").decode(errors="replace")
    if version != VERSION:
        known = f"is of version '{version}'" if version else "is not of a history"
        raise CorruptFile(
            f"{path} {known}, and this chiplog reads '{VERSION}': take the chiplog that wrote it, or move the file "
            "elsewhere."
        )
    try:
        run: Mapping[str, Any] = json.loads(metadata[RUN_KEY])
        fingerprint = json.loads(metadata[FINGERPRINT_KEY])
        time = datetime.fromisoformat(run["time_utc"])
        facts = RunFacts(str(run["run_id"]), time, str(run["target"]), dict(fingerprint))
    except (KeyError, ValueError, TypeError) as error:
        raise broken(path, error) from error
    return HistoryFile(path, facts)


def broken(path: Path, error: Exception) -> CorruptFile:
    """What is said of a file that can't be read."""
    lines = str(error).splitlines() or [type(error).__name__]
    return CorruptFile(
        f"{path} is broken ({lines[0].rstrip('.')}): write it again by `chiplog history add`, or move it elsewhere."
    )
