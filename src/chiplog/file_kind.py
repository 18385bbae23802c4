"""What kind of chiplog's own files a file is, for whoever was given one of another kind."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from chiplog.errors import CorruptFile, UsageError

HEAD_BYTES = 65536
"""Given: of a file, enough to tell its kind."""
RUNS = "runs"
"""The folder for run files in a folder that `chiplog run` made."""
MOST_NAMED, MOST_SEARCHED = 3, 1000
"""Given: files of a folder that a sentence names, and of which the kind is looked at."""
RUN, MODEL, GOAL = "a run file", "a model file", "a GOAL schedule"
TUNING_FILE = "a tuning file"
BENCH = "a result of chiplog bench"
ERRORS = "a table of errors"
LOST_TIMES = "a table of lost times"
COMPRESSED = "compressed by gzip"
_SIGNS = (
    (RUN, rb'"schema":\s*"chiplog\.run/', "chiplog fit, changes, compare and report read it"),
    (
        MODEL,
        rb'"schema":\s*"chiplog\.fit/',
        "chiplog predict, tune, report and simulate --model read it",
    ),
    (GOAL, rb"\A(?:\s|//[^\n]*\n|/\*.*?\*/)*num_ranks\b", "chiplog simulate reads it"),
    (
        BENCH,
        rb'\A\s*\{\s*"schema":\s*"chiplog\.bench(?:es)?/',
        "chiplog predict --anchor reads it",
    ),
    (
        ERRORS,
        rb'\A\s*\{\s*"schema":\s*"chiplog\.errors/',
        "chiplog predict --errors reads it",
    ),
    (
        "a result for scripts (--json)",
        rb'\A\{\s*\n\s*"schema":\s*"chiplog\.(?:ch|comp|pred|sim|surv|ben|tun|lint|plan|prob|list|hist|cost|doc)',
        "no command reads it",
    ),
    ("a Parquet file", rb"\APAR1", "chiplog history reads those that it wrote"),
    (COMPRESSED, rb"\A\x1f\x8b", "unpack it first: gunzip -k FILE"),
    ("a page", rb"(?i)\A\s*<!doctype html", "a browser shows it"),
)
"""Each kind's name, what only such files hold at their beginning, and what to do with them."""


def regular_head(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The first bytes of a file; none of what can't be read again, such as a pipe."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return b""
    with open(path, "rb") as file:
        return file.read(most_bytes)


def kind_of(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """The kind of a file and what reads it; None of anything else, and of what can't be read again, such as a pipe."""
    try:
        head = regular_head(path, HEAD_BYTES)
    except OSError:
        return None
    for name, sign, remedy in _SIGNS:
        if re.search(sign, head, re.DOTALL):
            return name, remedy
    return None


def file_in(place: str | os.PathLike[str], *kinds: str) -> str:
    """The path of the file of one of these kinds that is meant: `place`, or the only such file in that folder.

    A folder of `chiplog run -o` has its run files in a folder below. UsageError that names the files where a folder
    has several, and where it has none.
    """
    folder = os.fspath(place)
    if not os.path.isdir(folder):
        return folder
    names = [
        name
        for name in _files_of(folder)
        if (kind_of(os.path.join(folder, name)) or ("",))[0] in kinds
    ]
    if len(names) == 1:
        return os.path.join(folder, names[0])
    if not names:
        raise UsageError(f"{folder} is a folder without {' or '.join(kinds)}: name a file.")
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    raise UsageError(
        f"{folder} is a folder with several files that may be meant; name one of them: {', '.join(names[:MOST_NAMED])}"
        f"{more}."
    )


def _files_of(folder: str) -> list[str]:
    """The names of the files in a folder, and in its folder for run files."""
    try:
        names = sorted(os.listdir(folder))
        if os.path.isdir(os.path.join(folder, RUNS)):
            names += [f"{RUNS}/{name}" for name in sorted(os.listdir(os.path.join(folder, RUNS)))]
    except OSError as error:
        raise UsageError(f"{folder} can't be opened: {error.strerror}.") from error
    return names[:MOST_SEARCHED]


def refuse_own(path: str | os.PathLike[str], wanted: str) -> None:
    """UsageError where a file that is for another program is one of chiplog's own kinds instead."""
    kind = kind_of(path)
    if kind is not None and kind[0] in (RUN, MODEL, GOAL, BENCH):
        raise UsageError(f"{os.fspath(path)} is {kind[0]}, but {wanted} is needed here; {kind[1]}.")


@contextmanager
def expecting(wanted: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns CorruptFile into UsageError where the file is no damaged one of the kind `wanted`, but of another kind."""
    try:
        yield
    except CorruptFile as error:
        found = kind_of(path)
        if found is None or found[0] == wanted:
            raise
        name, remedy = found
        raise UsageError(
            f"{os.fspath(path)} is {name}, but {wanted} is needed here; {remedy}."
        ) from error
