"""Programs of tests/testbeds/programs under `chiplog trace`, and the trace that they leave."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.tracer import trace_command
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import KIND_OF, KINDS, RankTrace, Trace

PATIENCE_SECONDS = 120.0
DID_NOT_END = 124
"""What `timeout` ends with."""


def launch(mpi: Mpi, ranks: int) -> list[str]:
    """The launcher, for more ranks than there are cores."""
    crowd = ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"] if mpi.kind == "openmpi" else []
    return [str(mpi.launcher), "-n", str(ranks), *crowd]


def run_within(seconds: float, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The command's exit code; DID_NOT_END where it has not ended by then, and its launcher ends its ranks."""
    command = ["timeout", str(seconds), *command]
    environment = {**os.environ, **OPEN_MPI_AS_ROOT, **environment}
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


def run_traced(
    mpi: Mpi, ranks: int, folder: Path, *words: object, seconds: float = PATIENCE_SECONDS
) -> int:
    """The exit code of a program that writes its trace into the folder."""
    command = [*launch(mpi, ranks), *map(str, words)]
    traced = trace_command(command, folder, mpicxx=str(mpi.mpicxx))
    return run_within(seconds, traced.words, traced.environment)


def record(mpi: Mpi, ranks: int, folder: Path, *words: object) -> tuple[int, Trace]:
    """The program's exit code and its trace."""
    code = run_traced(mpi, ranks, folder, *words)
    return code, read_trace(folder)


def names(rank: RankTrace) -> list[str]:
    """The functions that a rank called, in order, without MPI_."""
    return [KINDS[kind] for kind in rank.calls["kind"]]


def rows(rank: RankTrace, name: str) -> np.ndarray:
    """The calls of a function."""
    return rank.calls[rank.calls["kind"] == KIND_OF[name]]
