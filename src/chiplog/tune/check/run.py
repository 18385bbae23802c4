"""`chiplog check-tuning` as a function.

Three runs of one barrier of 3 ranks: without the file (does the launcher work at all?), with it (does the MPI start?),
and with a marked copy, whose only difference makes that barrier fail. The file is in force where the last one fails.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measure.mpi_at_hand import find_mpi, launcher_words
from chiplog.measure.programs import BARRIER_ONCE, build_program
from chiplog.tune.check.formats import CheckedFormat, format_of
from chiplog.tune.check.launch import Runner
from chiplog.tune.check.library import check_library
from chiplog.tune.check.marks import MARKED_RANKS, NotRules
from chiplog.tune.version import Version, parse_version

TARGETS = ("openmpi", "mpich", "chiplog")


@dataclass(frozen=True)
class Verdict:
    """Is the file in force, with which MPI, and how that was found out."""

    in_force: bool
    mpi: str
    reason: str


def check_tuning(
    file: str | Path,
    target: str,
    *,
    launcher: str | None = None,
    mpi: str | None = None,
    library: str | None = None,
) -> Verdict:
    """Whether `file` is in force for `target` (of TARGETS) with the MPI at hand, or with that of the wrapper `mpi`.

    `launcher` starts at least 3 ranks, such as "mpirun -n 4". `library` is libchiplog_coll.so, for target chiplog.
    Raises UsageError where there is no such MPI or file, RunFailed where even a barrier without the file fails.
    """
    if target not in TARGETS:
        raise UsageError(f"--for: '{target}' is unknown; it accepts {', '.join(TARGETS)}.")
    path = Path(file)
    text = _read(path)
    found = find_mpi(None if target == "chiplog" else target, mpi, launcher)
    if target not in ("chiplog", found.kind):
        raise UsageError(f"--mpi {mpi}: is {found}, not {target}.")
    runner = Runner(build_program(BARRIER_ONCE, str(found.mpicxx)), launcher_words(launcher))
    bare = runner.run({})
    if not bare.is_done:
        raise RunFailed(f"even without the file, a barrier with {found} fails: {bare.said}.")
    if target == "chiplog":
        in_force, reason = check_library(path, runner, found.mpicxx, library)
    else:
        kind = format_of(target, text)
        in_force, reason = _check(path, text, kind, runner, parse_version(found.version))
    return Verdict(in_force, f"{found} at {found.mpicxx}", reason)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}.") from error


def _check(
    path: Path, text: str, kind: CheckedFormat, runner: Runner, version: Version
) -> tuple[bool, str]:
    try:
        marked = kind.marked(text)
    except NotRules as error:
        return False, f"it is none of {kind.name}: {error}"
    with_file = runner.run(kind.settings(path, version))
    if not with_file.is_done:
        return False, f"the MPI does not start with it: {with_file.said}"
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / path.name
        copy.write_text(marked, encoding="utf-8")
        with_mark = runner.run(kind.settings(copy, version))
    if with_mark.is_done:
        return False, (
            "a copy with an impossible barrier changes nothing, so the MPI ignores the file, or something outranks it"
        )
    return True, (
        f"the MPI starts with it, and a copy with an impossible barrier of {MARKED_RANKS} ranks makes that barrier "
        f"fail: {with_mark.said}"
    )
