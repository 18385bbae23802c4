"""How ranks that a launcher started find each other, where no MPI does it for them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed
from chiplog.measurement.probes import cache_directory
from chiplog.measurement.run_to_end import run_to_end

RENDEZVOUS_VARIABLE = "CHIPLOG_RENDEZVOUS"
SECRET_VARIABLE = "CHIPLOG_SECRET"
SECRET_BYTES = 16
"""Given: nobody guesses as many."""
FILE_VARIABLE = "CHIPLOG_MEETING_FILE"
FOLDER_VARIABLE = "CHIPLOG_MEETING_FOLDER"
FIRST_PORTS = range(20000, 32000, 16)
"""Given: where a search may begin: below the ports that systems give by themselves; rank 0 tries 16 of them."""
VERSION_SECONDS = 10.0
"""Given: how long a launcher may take to name its release."""


@dataclass(frozen=True)
class Meeting:
    """What the ranks of one launch need to meet."""

    environment: Mapping[str, str]
    file: Path | None = None
    """Where rank 0 says where it is; it removes it itself, unless it is killed."""


def meeting_at(rendezvous: str | None) -> Meeting:
    """The meeting of one launch: at `rendezvous` (HOST:PORT), as the environment says, or where rank 0 is found.

    A search needs no host: ranks try their own one, the first one of Slurm's lists, and what rank 0 writes into a file
    below $CHIPLOG_MEETING_FOLDER, by default chiplog's cache in the home directory.
    """
    named = rendezvous or os.environ.get(RENDEZVOUS_VARIABLE)
    if named:
        return Meeting({RENDEZVOUS_VARIABLE: named})
    search = {RENDEZVOUS_VARIABLE: f"search:{secrets.choice(FIRST_PORTS)}"}
    folder = Path(
        os.environ.get(FOLDER_VARIABLE) or cache_directory().parent / "meetings"
    ).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Meeting(search)
    file = folder / secrets.token_hex(SECRET_BYTES)
    return Meeting({**search, FILE_VARIABLE: str(file)}, file)


def forwarding(words: Sequence[str], meeting: Meeting) -> list[str]:
    """A launcher's words with those by which it hands the meeting's variables to ranks on other hosts.

    Open MPI's launcher hands on only what it is told to; others hand on everything.
    """
    name = Path(words[0]).name.partition(".")[0]  # Debian's is mpirun.openmpi
    if name not in ("mpirun", "mpiexec", "orterun", "prterun") or not _is_open_mpi(words[0]):
        return list(words)
    exports = [word for name in (SECRET_VARIABLE, *meeting.environment) for word in ("-x", name)]
    return [words[0], *exports, *words[1:]]


def _is_open_mpi(launcher: str) -> bool:
    try:
        said = run_to_end([launcher, "--version"], {}, VERSION_SECONDS).stdout
    except RunFailed:
        return False
    return any(name in said for name in ("Open MPI", "OpenRTE", "PRRTE"))
