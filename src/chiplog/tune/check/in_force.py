"""`chiplog check-tuning` as a function.

One barrier of 3 ranks without the file (does the launcher work at all?), then the proof of the file's program. For MPIs
that is the barrier with the file (does the MPI start?), and with a marked copy, whose only difference makes it fail.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.file_kind import TUNING_FILE, refuse_own
from chiplog.input_file import read_text
from chiplog.measurement.mpi_at_hand import find_mpi, launcher_words
from chiplog.measurement.programs import BARRIER_ONCE, build_program
from chiplog.tune.check.proof import Runner, Trial
from chiplog.tune.writer import WRITERS, TuningWriter


@dataclass(frozen=True)
class TuningInForce:
    """Is the file in force, with which MPI, and how that was found out."""

    in_force: bool
    mpi: str
    reason: str

    def to_json(self, file: Path) -> dict[str, object]:
        """The answer about `file` for scripts."""
        return {"schema": "chiplog.tuning-check/1", "file": str(file), **asdict(self)}


def check_tuning(
    file: str | Path,
    target: str,
    *,
    launcher: str | None = None,
    mpi: str | None = None,
    library: str | None = None,
) -> TuningInForce:
    """Whether `file` is in force for `target` (of `provable`) with the MPI at hand, or with that of the wrapper `mpi`.

    `launcher` starts at least 3 ranks, such as "mpirun -n 4". `library` is libchiplog_coll.so, for target chiplog.
    Raises UsageError where there is no such MPI or file, RunFailed where even a barrier without the file fails.
    """
    writer = WRITERS.load(target)
    if writer.proof is None:
        names = ", ".join(writer.name for writer in provable())
        raise UsageError(f"--for: files for {target} can't be proved; it accepts {names}.")
    path = Path(file)
    text = read_text(path)
    refuse_own(path, TUNING_FILE)
    chosen = find_mpi(writer.mpi, mpi, launcher)
    if writer.mpi not in (None, chosen.kind):
        raise UsageError(f"--mpi {mpi}: is {chosen}, not {writer.mpi}.")
    runner = Runner(build_program(BARRIER_ONCE, str(chosen.mpicxx)), launcher_words(launcher))
    bare = runner.run({})
    if not bare.is_done:
        raise RunFailed(f"even without the file, a barrier with {chosen} fails: {bare.said}.")
    in_force, reason = writer.proof(Trial(path, text, runner, chosen, library))
    return TuningInForce(in_force, f"{chosen} at {chosen.mpicxx}", reason)


def provable() -> tuple[TuningWriter, ...]:
    """The programs whose files can be proved to be in force."""
    return tuple(writer for writer in WRITERS.all() if writer.proof is not None)
