"""What a process leaves when it has ended, and what it does without a place for what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chiplog.measurement.launchers import OPEN_MPI_SESSION

PROGRAM = """
import os
import sys
from chiplog.cli import run_and_exit
import pytest

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


CHIPLOG = (sys.executable, "-m", "chiplog")
SPEAKING = (
    ["--version"],
    ["--help"],
    ["fit", "--help"],
    ["list", "models"],
    ["list", "models", "--json", "-"],
)
"""Commands that write to standard output, each in another way."""


def with_closed(descriptors: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command where a shell has closed descriptors, such as `>&-`."""
    script = f'exec "$@" {descriptors}'
    command = ["sh", "-c", script, "sh", *CHIPLOG, *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("words", SPEAKING)
def test_a_closed_standard_output_is_said(words: list[str]) -> None:
    done = with_closed(">&-", *words)
    assert done.returncode == 1
    assert done.stderr == "chiplog: standard output can't be written: Bad file descriptor.\n"


def test_a_process_without_standard_streams_writes_its_file(tmp_path: Path) -> None:
    done = with_closed(
        "<&- >&- 2>&-", "measure", "sim", "--sizes", "8", "--visits", "1", "-o", str(tmp_path / "r")
    )
    assert done.returncode == 1  # its summary has no place
    with_closed("2>&-", "export", str(tmp_path / "r"), "--to", "csv", "-o", str(tmp_path / "c"))
    assert (tmp_path / "c").read_text().startswith("pattern,")


@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict", "latin-1"])
def test_an_encoding_without_a_letter_costs_the_letter_only(encoding: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    run = tmp_path / "run.jsonl"
    for words in (["measure", "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.01", "-o", run], ["fit", run]):
        done = subprocess.run([*CHIPLOG, *words], capture_output=True, env=environment)
        assert done.returncode == 0 and done.stdout and b"Traceback" not in done.stderr


def test_a_library_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(
        "raise ImportError('Importing failed.\\nOriginal error was: libx.so: failed to map segment\\n')\n"
    )
    run = tmp_path / "run.jsonl"
    run.write_text("{}\n")
    done = subprocess.run(
        [*CHIPLOG, "fit", str(run)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "library that is needed can't be loaded: libx.so: failed to map segment. There" in line
