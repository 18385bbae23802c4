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
RUN, MODEL, GOAL = "a run file", "a model file", "a GOAL schedule"
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


def kind_of(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """The kind of a file and what reads it; None of anything else, and of what can't be read again, such as a pipe."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return None
    for name, sign, remedy in _SIGNS:
        if re.search(sign, head, re.DOTALL):
            return name, remedy
    return None


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
