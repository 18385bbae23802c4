"""The MPI libraries of this machine: their compiler wrappers, versions and launchers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.json_values import members

COMPILER_NAMES = ("c++", "g++", "clang++", "icpx")
WRAPPER_NAMES = ("mpicxx", "mpicxx.openmpi", "mpicxx.mpich", "smpicxx")
IDENTIFY_SECONDS = 30.0
"""Given: how long a compiler wrapper may take to name its MPI."""
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "mpirun", "mpiexec.openmpi", "mpiexec"),
    "mpich": ("mpiexec.mpich", "mpirun.mpich", "mpiexec.hydra", "mpiexec", "mpirun"),
    "intel": ("mpiexec.hydra", "mpirun", "mpiexec"),
    "smpi": ("smpirun",),
    "unknown": ("mpirun", "mpiexec"),
}
"""By kind, the first of these that stands beside the wrapper (and belongs to no other MPI) starts its ranks."""

UNRELOCATED = "I_MPI_SUBSTITUTE_INSTALLDIR"
"""What Intel's wrappers say in place of their directory when nobody ran Intel's installer (in the PyPI wheel)."""


@dataclass(frozen=True)
class Mpi:
    """One MPI library as its C++ compiler wrapper presents it."""

    kind: str
    """`openmpi`, `mpich`, `intel`, `smpi` (simulated) or `unknown`."""
    version: str
    mpicxx: Path
    launcher: Path | None
    compiler: str
    """The version of the compiler behind the wrapper."""
    command: str
    """The compiler command that the wrapper stands for."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the wrapper and the launcher need in their environment."""

    @property
    def simulated(self) -> bool:
        """Whether its messages travel through a simulated network."""
        return self.kind == "smpi"

    def __str__(self) -> str:
        names = {
            "openmpi": "Open MPI",
            "mpich": "MPICH",
            "intel": "Intel MPI",
            "smpi": "SimGrid SMPI",
        }
        return f"{names.get(self.kind, 'an unknown MPI')} {self.version}".strip()

    def to_json(self) -> dict[str, object]:
        """As the manifest of a built probe holds it."""
        return members(self, *self.__dataclass_fields__)

    @staticmethod
    def from_json(text: str) -> Mpi:
        """The inverse of `to_json`, from its text; ValueError, KeyError or TypeError where it is not one."""
        stored = json.loads(text)
        launcher = stored["launcher"]
        return Mpi(
            kind=str(stored["kind"]),
            version=str(stored["version"]),
            mpicxx=Path(stored["mpicxx"]),
            launcher=None if launcher is None else Path(launcher),
            compiler=str(stored["compiler"]),
            command=str(stored["command"]),
            environment={str(key): str(value) for key, value in stored["environment"].items()},
        )


def find_mpis() -> tuple[Mpi, ...]:
    """The MPIs whose wrappers are in this Python environment or on PATH, each once; simulated ones come last."""
    mpis: dict[tuple[str, str, str], Mpi] = {}
    for mpi in _identified():
        mpis.setdefault((mpi.kind, mpi.version, mpi.command), mpi)
    return tuple(sorted(mpis.values(), key=lambda mpi: mpi.simulated))


def first_mpi() -> Mpi | None:
    """The first of `find_mpis` that is real and can start ranks; the others are not even asked what they are."""
    real = (mpi for mpi in _identified() if not mpi.simulated and mpi.launcher is not None)
    return next(real, None)


def mpi_of_launcher(launcher: Path) -> Mpi | None:
    """The MPI of a launcher: known by it, or by the compiler wrapper in its folder; None where neither tells."""
    same = (
        mpi
        for mpi in _identified()
        if mpi.launcher is not None and mpi.launcher.resolve() == launcher.resolve()
    )
    return next(same, None) or _mpi_beside(launcher)


def _mpi_beside(launcher: Path) -> Mpi | None:
    """That of the wrapper in the launcher's folder, if it has launchers of this name."""
    wrapper = launcher.parent / "mpicxx"
    if not os.access(wrapper, os.X_OK):
        return None
    mpi = identify_mpi(str(wrapper))
    return mpi if launcher.name in LAUNCHERS.get(mpi.kind, ()) else None


def _identified() -> Iterator[Mpi]:
    for wrapper in _wrappers():
        try:
            yield identify_mpi(str(wrapper))
        except (RunFailed, UsageError):
            continue  # a wrapper whose compiler or headers are missing serves nobody


def identify_mpi(mpicxx: str) -> Mpi:
    """Which MPI the wrapper `mpicxx` (a name on PATH or in this environment, or a path) belongs to.

    Raises UsageError where there is no such program and RunFailed where it can't read an `mpi.h`.
    """
    wrapper = _resolve(mpicxx)
    environment: dict[str, str] = {}
    command = _output([str(wrapper), "-show"], environment).strip()
    if UNRELOCATED in command:
        environment["I_MPI_ROOT"] = str(wrapper.parent.parent)
        command = _output([str(wrapper), "-show"], environment).strip()
    preprocess = [str(wrapper), "-E", "-dM", "-x", "c++", "-c", "-"]
    macros = _macros(_output(preprocess, environment, "#include <mpi.h>\n"))
    kind, version = _kind_and_version(macros)
    if kind == "smpi":
        version = (
            _output([str(wrapper), "-version"], environment)
            .strip()
            .removeprefix("SimGrid version ")
        )
    return Mpi(
        kind=kind,
        version=version,
        mpicxx=wrapper,
        launcher=_launcher(wrapper.parent, kind),
        compiler=macros.get("__VERSION__", "").strip('"'),
        command=command,
        environment=environment,
    )


def _resolve(mpicxx: str) -> Path:
    path = shutil.which(mpicxx) or shutil.which(mpicxx, path=sysconfig.get_path("scripts"))
    if path is None:
        raise UsageError(
            f"--mpi: there is no program '{mpicxx}'; give an MPI's C++ compiler, such as mpicxx."
        )
    return Path(path).absolute()


def _wrappers() -> Iterator[Path]:
    directories = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    directories += os.environ.get("PATH", os.defpath).split(os.pathsep)
    for directory in dict.fromkeys(directories):
        for name in WRAPPER_NAMES:
            path = shutil.which(name, path=directory)
            if path is not None:
                yield Path(path)


def _output(command: list[str], environment: Mapping[str, str], given: str = "") -> str:
    try:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=IDENTIFY_SECONDS,
            env={**os.environ, **environment},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{command[0]} can't be run: {error}.") from error
    if done.returncode != 0:
        said = first_error(done.stderr or done.stdout)
        raise RunFailed(
            f"{command[0]} does not work as an MPI's C++ compiler: {said}.{_compiler_remedy()}"
        )
    return done.stdout


def _compiler_remedy() -> str:
    """What to do where this machine has no C++ compiler; "" where it has one."""
    if any(shutil.which(name) for name in COMPILER_NAMES):
        return ""
    return (
        " No C++20 compiler is on PATH: install one (apt-get install g++, or dnf install gcc-c++)."
    )


def first_error(log: str) -> str:
    """The line of a compiler's output that says what is wrong, else its first paragraph."""
    texts = [line.strip(" \t-") for line in log.splitlines()]
    lines = [line for line in texts if line]
    wrong = [line for line in lines if "error" in line.lower() or "not found" in line]
    paragraph = " ".join(takewhile(bool, dropwhile(lambda line: not line, texts)))
    return (wrong[0] if wrong else paragraph or "it says nothing").rstrip(".")


def _macros(preprocessed: str) -> dict[str, str]:
    return dict(re.findall(r"^#define (\w+) ?(.*)$", preprocessed, flags=re.MULTILINE))


def _kind_and_version(macros: Mapping[str, str]) -> tuple[str, str]:
    if "OMPI_MAJOR_VERSION" in macros:
        parts = (macros.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))
        return "openmpi", ".".join(parts)
    if "I_MPI_VERSION" in macros:
        return "intel", macros["I_MPI_VERSION"].strip('"')
    if "MPICH_VERSION" in macros:
        return "mpich", macros["MPICH_VERSION"].strip('"')
    if "SMPI_H" in macros:
        return "smpi", ""
    return "unknown", ""


def _launcher(directory: Path, kind: str) -> Path | None:
    others = {"openmpi", "mpich"} - {kind}
    for name in LAUNCHERS[kind]:
        path = directory / name
        if not os.access(path, os.X_OK):
            continue
        if any(path.resolve().name.endswith(f".{other}") for other in others):
            continue
        return path
    return None
