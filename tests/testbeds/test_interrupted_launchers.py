"""What SIGTERM and SIGHUP end, as batch systems and closed terminals do, leaves no process and no folder behind."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from barrier_programs import compile_program
from command import start_chiplog

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi

pytestmark = pytest.mark.alone
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def mpi(promised_mpi: Callable[[str], Mpi]) -> Mpi:
    return promised_mpi("openmpi-debian")


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "traced.cpp", tmp_path_factory.mktemp("endless") / "endless-halo")


def wait_for(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["bench", "tune", "trace"])
def test_nothing_is_left_of_what_a_batch_system_ends(
    command: str, number: signal.Signals, mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    out = tmp_path / "out"
    launcher = mpi.mpicxx.with_name(mpi.mpicxx.name.replace("mpicxx", "mpirun"))
    words = {
        "bench": ["bench", "allreduce", "--launches", 50, "-o", out],
        "tune": ["tune", "--measure", "--for", "openmpi", "--operation", "bcast", "-o", out],
        "trace": ["trace", "-o", out],
    }[command]
    words += ["--mpi", mpi.mpicxx]
    if command == "trace":
        words += ["--", launcher, "-n", 2, program, "halo", 2_000_000_000]
    process = start_chiplog(
        *words, environment={"TMPDIR": str(temporary), **OPEN_MPI_AS_ROOT}, cwd=tmp_path
    )
    if command == "trace":
        wait_for(lambda: len(list(out.glob("*.trace"))) == 2)
    else:
        assert process.stderr is not None
        begun = {"bench": "launch 3", "tune": "confirmation 2"}[command]
        assert any(begun in line for line in iter(process.stderr.readline, ""))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "interrupted" in stderr) == (130, True), stderr
    wait_for(lambda: not list(temporary.iterdir()))
    running = subprocess.run(
        ["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert running.stdout == ""
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
