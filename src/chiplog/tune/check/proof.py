"""How a tuning file is proved to be in force: by a marked copy, or by a way of the program's own.

A marked copy is the same file but for one entry, which makes a barrier of 3 ranks fail. Where the copy makes it fail,
the MPI has read the file and takes its barriers from it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chiplog.errors import UsageError
from chiplog.measurement.first_words import TITLE_END
from chiplog.measurement.launchers import launch_command
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.run_to_end import preloaded, run_to_end
from chiplog.measurement.start_again import has_crashed, run_again
from chiplog.outside import as_json
from chiplog.tune.settings import ANSWER_SECONDS
from chiplog.tune.version import Version, parse_version

STARTED = "started"
"""What the program says before the barrier."""
MARKED_RANKS = 3
"""Given: ranks of the barrier that a marked copy makes fail; more than two, for which MPIs have their own barriers."""
RANKS = MARKED_RANKS + 1
"""Derived: ranks that are started, so that the barrier is of a part of them."""


@dataclass(frozen=True)
class ProofEnded:
    """How a run ended; `said` is the last that it said."""

    is_done: bool
    said: str
    output: str
    has_crashed: bool = False

    def no_start(self) -> str | None:
        """What was said where ranks crashed before one came to the barrier."""
        has_started = self.is_done or STARTED in self.output.splitlines()
        return self.said if self.has_crashed and not has_started else None


@dataclass(frozen=True)
class Runner:
    """Starts the program that does one barrier of 3 ranks."""

    program: BuiltProbe
    launcher: tuple[str, ...] = ()

    def run(self, settings: Mapping[str, str], preload: str | None = None) -> ProofEnded:
        """With `settings` in the environment and the library `preload`; RunFailed where the launcher fails or hangs.

        Ranks that crash before they call the barrier are started again: their end proves nothing about the file.
        """
        ended, reason = run_again(lambda: self._once(settings, preload), ProofEnded.no_start)
        return replace(ended, said=reason or ended.said)

    def _once(self, settings: Mapping[str, str], preload: str | None) -> ProofEnded:
        arguments = [str(MARKED_RANKS)]
        started = launch_command(self.program, RANKS, arguments, launcher=self.launcher)
        command: Sequence[str] = started.command
        if preload is not None:
            command = preloaded(command, str(self.program.path), preload)
        done = run_to_end(command, {**started.environment, **settings}, ANSWER_SECONDS)
        for line in done.stdout.splitlines():
            if line.startswith("ranks "):
                raise UsageError(
                    f"--launcher: it starts {line.split()[1]} ranks; the proof needs {MARKED_RANKS} or more."
                )
        is_done = done.code == 0 and f"barrier {MARKED_RANKS} ok" in done.stdout
        output = done.stdout + done.stderr
        errors = re.findall(rf"^barrier {MARKED_RANKS} error.*", done.stdout, re.MULTILINE)
        said = errors[0] if errors else what_was_said(output)
        return ProofEnded(is_done, said, output, has_crashed(done.code, output))


def what_was_said(output: str) -> str:
    """The line of an output that says most, or what of it fits into a sentence."""
    stripped = map(str.strip, output.splitlines())
    lines = [line for line in stripped if line and not line.endswith(TITLE_END)]
    telling = [
        line for line in lines if re.search(r"rror|ssert|bort|unknown|unrecog|Signal: ", line)
    ]
    return (telling or lines or ["nothing"])[0][:200]


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
