"""Programs that call MPI_Barrier, compiled with an MPI's wrapper, and runs of them with the barrier library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT, SMPI_NEUTRAL
from chiplog.measurement.library import AT_ONCE, PRELOADING, BuiltLibrary
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import native_sources
from chiplog.measurement.shared_libraries import library_flags

PROGRAMS = Path(__file__).parent.parent / "testbeds" / "programs"
PATIENCE_SECONDS = 1800 if os.environ.get("CHIPLOG_TEST_LONG") == "1" else 300
"""Some series take an MPI minutes without the library, too: 32 threads that make communicators on two cores."""


@dataclass(frozen=True)
class Finished:
    """What a run left behind."""

    code: int
    stdout: str
    stderr: str


def compile_program(mpi: Mpi, source: str, target: Path, *flags: str) -> Path:
    """One of `programs`, or a benchmark's by its path; `flags` go behind the source."""
    path = PROGRAMS / source
    # Programs are found by their symbols in a simulation.
    options = [*library_flags(mpi, native_sources()), "-fvisibility=default", "-O1", "-pthread"]
    environment = {**os.environ, **mpi.environment}
    done = subprocess.run(
        [str(mpi.mpicxx), *options, str(path), *flags, "-o", str(target)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def compile_tool(mpi: Mpi, source: str, target: Path) -> Path:
    """One of `programs` as a shared library, to be preloaded beside the barrier library."""
    return compile_program(mpi, source, target, "-shared")


def run(command: list[str], **environment: str) -> Finished:
    """The command in this environment and further variables."""
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def run_preloaded(
    library: BuiltLibrary, ranks: int, program: Path, *arguments: object, **how: Any
) -> Finished:
    """The command of `launch_preloaded` to its end."""
    launch = launch_preloaded(library, ranks, program, *arguments, **how)
    return run(launch, **library.mpi.environment, **OPEN_MPI_AS_ROOT)


def launch_preloaded(
    library: BuiltLibrary,
    ranks: int,
    program: Path,
    *arguments: object,
    nodes: int = 0,
    without: int | None = None,
    preload: Sequence[Path] = (),
    **variables: str,
) -> list[str]:
    """What starts `ranks` ranks on this host, with the library preloaded and telling what it chose.

    Of `nodes` nodes where that is asked for: the first ranks count as those of the first one. Rank `without` has no
    library. `preload` is loaded instead of the library alone. `variables` go before those by which the library serves
    a communicator's first barrier.
    """
    command = [str(program), *map(str, arguments)]
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = 'exec "$@"'
    if nodes:
        script = f"export CHIPLOG_BARRIER_NODE=$(({rank} * {nodes} / {ranks})); {script}"
    if without is not None:
        script = f"[ {rank} = {without} ] && unset LD_PRELOAD; {script}"
    if nodes or without is not None:
        command = ["sh", "-c", script, "sh", *command]
    settings = {"CHIPLOG_VERBOSE": "1", **AT_ONCE, **variables}
    return preloaded_command(library.mpi, ranks, command, preload or [library.path], settings)


def preloaded_command(
    mpi: Mpi,
    ranks: int,
    command: Sequence[str],
    preload: Sequence[Path],
    settings: Mapping[str, str],
    launcher_options: Sequence[str] = (),
) -> list[str]:
    """What starts that many ranks of a command on this host, with these libraries, variables and options."""
    given = {"LD_PRELOAD": ":".join(map(str, preload)), **settings} if preload else settings
    crowd = ("--bind-to", "none", "--map-by", ":OVERSUBSCRIBE") if mpi.kind == "openmpi" else ()
    options = [part for item in given.items() for part in PRELOADING[mpi.kind](*item)]
    return [str(mpi.launcher), "-n", str(ranks), *crowd, *launcher_options, *options, *command]


@dataclass(frozen=True)
class SimulatedStar:
    """Hosts around a switch: seconds of a message on its way, of posting a send, of taking a message."""

    directory: Path
    hosts: int
    latency: float = 2e-6
    o_s: float = 0.4e-6
    o_r: float = 0.7e-6

    def run(self, ranks: int, program: Path, *arguments: object, **how: str) -> Finished:
        """`ranks` simulated ranks of a program; `how` are variables, or with `selector` SMPI's barrier."""
        platform, hosts = self.directory / "star.xml", self.directory / "hosts"
        platform.write_text(self._platform())
        hosts.write_text("".join(f"node{number}\n" for number in range(self.hosts)))
        selector = how.pop("selector", "")
        options = [f"--cfg=smpi/{name}:0:{self.o_s}:0" for name in ("os", "ois")]
        options += [f"--cfg=smpi/or:0:{self.o_r}:0"]
        options += [f"--cfg=smpi/barrier:{selector}"] if selector else []
        places = ["-platform", str(platform), "-hostfile", str(hosts)]
        command = ["smpirun", "-np", str(ranks), *places, *SMPI_NEUTRAL, *options, str(program)]
        return run([*command, *map(str, arguments)], **{**AT_ONCE, **how})

    def _platform(self) -> str:
        cluster = f'prefix="node" suffix="" radical="0-{self.hosts - 1}" speed="1Gf" bw="10GBps"'
        return (
            "<?xml version='1.0'?>\n"
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            f'<platform version="4.1"><cluster id="star" {cluster} lat="{self.latency / 2}s" '
            'sharing_policy="SPLITDUPLEX"/></platform>\n'
        )
