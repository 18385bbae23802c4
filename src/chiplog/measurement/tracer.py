"""The tracer, libchiplog_trace.so, preloaded into the ranks of an MPI program."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.compiling import Progress
from chiplog.measurement.library import BuiltLibrary
from chiplog.measurement.mpis import LAUNCHERS, Mpi, first_mpi, identify_mpi, mpi_of_launcher
from chiplog.measurement.process import SHELL_SIGNAL
from chiplog.measurement.shared_libraries import LibraryRecipe, build_cached

FOLDER_VARIABLE = "CHIPLOG_TRACE"
"""Where each rank writes its file; without it the library records nothing."""
TIME_TO_END_SECONDS = 2.0
"""Given: for each way to ask a launcher to end."""
LAUNCHER_NAMES = frozenset(name for names in LAUNCHERS.values() for name in names)
OFTEN_CALLED = ("messages", "completions", "call", "stream", "requests", "communicators")
"""Sources of calls that programs make by the million: the others are compiled in half the time."""
TRACER = LibraryRecipe(
    what="the tracer",
    folder="tracer",
    file_name="libchiplog_trace.so",
    archive_name="libchiplog_trace.a",
    shared_headers=(),
    optimise=lambda source: "-O2" if source.stem in OFTEN_CALLED else "-O1",
)


@dataclass(frozen=True)
class TracedCommand:
    """A command whose ranks are traced."""

    words: tuple[str, ...]
    environment: dict[str, str]
    """The variables that it needs beside those that are there."""

    def run(self) -> int:
        """Its exit code, that of a shell where a signal ended it; RunFailed where it can't be started."""
        try:
            launcher = subprocess.Popen(self.words, env={**os.environ, **self.environment})
        except OSError as error:
            raise RunFailed(f"{self.words[0]} can't be run: {error.strerror}.") from error
        try:
            code = launcher.wait()
        except KeyboardInterrupt:
            _end(launcher)
            raise
        return code if code >= 0 else SHELL_SIGNAL - code


def _end(launcher: subprocess.Popen[bytes]) -> None:
    """Gives it time to end by itself, as after Ctrl-C, and then to end its ranks and clear away what they made."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        launcher.wait(TIME_TO_END_SECONDS)
    launcher.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        launcher.wait(TIME_TO_END_SECONDS)
    launcher.kill()
    launcher.wait()


def trace_command(
    words: Sequence[str],
    folder: Path,
    *,
    mpicxx: str | None = None,
    progress: Progress | None = None,
) -> TracedCommand:
    """The command `words`, which starts an MPI program, with the tracer in its ranks; they write into `folder`.

    The tracer is built for the MPI of the compiler wrapper `mpicxx`, else for that of the launcher among the words,
    else for the first one here. UsageError where there is none, or where it can't preload.
    """
    at = next((i for i, word in enumerate(words) if Path(word).name in LAUNCHER_NAMES), None)
    mpi = _mpi(mpicxx, None if at is None else words[at])
    if mpi.simulated:
        raise UsageError(f"{mpi} runs all ranks in one process, so nothing can be preloaded there.")
    library = BuiltLibrary(build_cached(TRACER, mpi, progress=progress), mpi)
    preload = ":".join(filter(None, (str(library.path), os.environ.get("LD_PRELOAD", ""))))
    variables = {"LD_PRELOAD": preload, FOLDER_VARIABLE: str(folder.absolute())}
    if at is None:
        return TracedCommand(tuple(words), variables)
    options = library.preloading(**variables)
    return TracedCommand(tuple(_with_options(words, at, options, mpi)), dict(mpi.environment))


def _mpi(mpicxx: str | None, launcher: str | None) -> Mpi:
    if mpicxx is not None:
        return identify_mpi(mpicxx)
    path = None if launcher is None else shutil.which(launcher)
    mpi = first_mpi() if path is None else mpi_of_launcher(Path(path))
    if mpi is None:
        raise UsageError(
            f"the MPI of {launcher or 'the program'} has no C++ compiler wrapper here: name it with --mpi MPICXX."
        )
    return mpi


def _with_options(words: Sequence[str], at: int, options: Sequence[str], mpi: Mpi) -> list[str]:
    """The options behind the launcher; Open MPI wants them for each of several programs, which ':' separates."""
    changed: list[str] = []
    for place, word in enumerate(words):
        changed.append(word)
        if place == at or (word == ":" and place > at and mpi.kind == "openmpi"):
            changed += options
    return changed
