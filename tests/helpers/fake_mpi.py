"""An MPI that is only a shell script, and sources that its compiler makes a probe of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chiplog.measurement import probes

COMPILER = shutil.which("c++") or shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler, c++ or g++")

OPEN_MPI_H = """
#define OMPI_MAJOR_VERSION 9
#define OMPI_MINOR_VERSION 8
#define OMPI_RELEASE_VERSION 7
"""


def make_executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def make_mpi(root: Path, header: str, *launchers_there: str, wrapper: str = "mpicxx") -> Path:
    """An MPI of one header and a wrapper that can only compile."""
    (root / "include").mkdir(parents=True)
    (root / "include" / "mpi.h").write_text(header)
    for name in launchers_there:
        make_executable(root / "bin" / name, "#!/bin/sh\n")
    return make_executable(
        root / "bin" / wrapper,
        f'#!/bin/sh\n[ "$1" = -show ] && {{ echo c++ -I{root}/include; exit; }}\n'
        f'[ "$1" = -version ] && {{ echo "SimGrid version 3.99"; exit; }}\n'
        f'exec {COMPILER} -I{root}/include "$@"\n',
    )


def make_sources(root: Path, main: str) -> Path:
    for layer in probes.LAYERS:
        (root / "src" / layer).mkdir(parents=True)
    for name in probes.REGISTRY:
        (root / "src" / name).write_text("")
    (root / "include").mkdir()
    (root / "apps" / probes.PROBE_NAME).mkdir(parents=True)
    (root / "apps" / probes.PROBE_NAME / "main.cpp").write_text(main)
    (root / "src" / "transports" / "mpi" / "part.cpp").write_text("int part() { return 7; }\n")
    return root
