"""Which MPI a launcher belongs to, for commands that start programs of their own."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.measurement.mpis import Mpi, find_mpis, identify_mpi


def find_mpi(kind: str | None, mpi: str | None, launcher: str | None) -> Mpi:
    """The MPI of the wrapper `mpi`; else one beside the launcher; else the first real one found; of `kind` if given.

    Raises UsageError where there is none.
    """
    if mpi is not None:
        return identify_mpi(mpi)
    known = [
        candidate
        for candidate in find_mpis()
        if kind in (None, candidate.kind) and not candidate.simulated
    ]
    first = shutil.which(launcher_words(launcher)[0]) if launcher else None
    beside = [
        candidate for candidate in known if first and candidate.mpicxx.parent == Path(first).parent
    ]
    exact = [candidate for candidate in beside if first and _is_launcher_of(Path(first), candidate)]
    chosen = exact or beside or known
    if not chosen:
        raise UsageError(
            f"--mpi: no {kind or 'MPI'} was found here; name its C++ compiler, such as mpicxx."
        )
    return chosen[0]


def _is_launcher_of(path: Path, mpi: Mpi) -> bool:
    return mpi.launcher is not None and path.resolve() == mpi.launcher.resolve()


def launcher_words(launcher: str | None) -> tuple[str, ...]:
    """The launcher's words; UsageError where there are none, or they can't be told apart."""
    try:
        words = tuple(shlex.split(launcher or ""))
    except ValueError as error:
        raise UsageError(f"--launcher: '{launcher}' can't be split into words: {error}.") from error
    if launcher is not None and not words:
        raise UsageError('--launcher: is empty; it accepts a command such as "mpirun -n 4".')
    return words
