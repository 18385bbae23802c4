"""What a process leaves when it has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from chiplog.measurement.launchers import OPEN_MPI_SESSION

PROGRAM = """
import os
import sys
from chiplog.cli import run_and_exit
from chiplog.measurement.launchers import open_mpi_session
for directory in open_mpi_session().values():
    os.makedirs(directory, exist_ok=True)
sys.argv = ["chiplog", "--version"]
run_and_exit()
"""


def test_a_command_that_has_started_ranks_leaves_no_directory_of_their_session(
    tmp_path: Path,
) -> None:
    """The process ends at once: what is to be done at its end has to be asked for."""
    environment = {
        name: value for name, value in os.environ.items() if name not in OPEN_MPI_SESSION
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**environment, "TMPDIR": str(tmp_path)}, check=True
    )
    assert done.returncode == 0 and not os.listdir(tmp_path)
