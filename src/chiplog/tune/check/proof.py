"""How a tuning file is proved to be in force: by a marked copy, or by a way of the program's own.

A marked copy is the same file but for one entry, which makes a barrier of 3 ranks fail. Where the copy makes it fail,
the MPI has read the file and takes its barriers from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.measurement.mpis import Mpi
from chiplog.outside import as_json
from chiplog.tune.check.launch import MARKED_RANKS, Runner
from chiplog.tune.version import Version, parse_version


class NotRules(ValueError):
    """The text is no such file; the sentence says where."""


@dataclass(frozen=True)
class Trial:
    """A file to be proved, and with what."""

    path: Path
    text: str
    runner: Runner
    mpi: Mpi
    library: str | None
    """libchiplog_coll.so, where it is named."""

    @property
    def version(self) -> Version:
        """The release of the MPI."""
        return parse_version(self.mpi.version)


@dataclass(frozen=True)
class MarkedFormat:
    """How a file of one format is put in force, and marked."""

    title: str
    settings: Callable[[Path, Version], Mapping[str, str]]
    """The environment that makes the MPI read the file."""
    marked: Callable[[str], str]
    """The marked copy of a text; NotRules where the text is none of this format."""


def by_marked_copy(
    format_of: Callable[[str], MarkedFormat],
) -> Callable[[Trial], tuple[bool, str]]:
    """The proof for files whose format `format_of` tells from their text."""
    return lambda trial: _prove(trial, format_of(trial.text))


def _prove(trial: Trial, kind: MarkedFormat) -> tuple[bool, str]:
    try:
        marked = kind.marked(trial.text)
    except NotRules as error:
        return False, f"it is none of {kind.title}: {error}"
    with_file = trial.runner.run(kind.settings(trial.path, trial.version))
    if not with_file.is_done:
        return False, f"the MPI does not start with it: {with_file.said}"
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / trial.path.name
        copy.write_text(marked, encoding="utf-8")
        with_mark = trial.runner.run(kind.settings(copy, trial.version))
    if with_mark.is_done:
        return False, (
            "a copy with an impossible barrier changes nothing, so the MPI ignores the file, or something outranks it"
        )
    return True, (
        f"the MPI starts with it, and a copy with an impossible barrier of {MARKED_RANKS} ranks makes that barrier "
        f"fail: {with_mark.said}"
    )


def json_object(text: str) -> dict[str, Any]:
    """The file's object; NotRules where it is none."""
    content = as_json(text)
    if not isinstance(content, dict):
        raise NotRules("it is no JSON object")
    return content
