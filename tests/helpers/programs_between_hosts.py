"""The programs of communicating.cpp on hosts of known delay: run, traced by chiplog, and predicted from their traces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from barrier_programs import compile_program
from delayed_hosts import DelayedHosts

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi

PROGRAMS = (
    "ring",
    "halo",
    "allreduce",
    "master",
    "overlap",
    "heat",
    "communicators",
    "threads",
)
PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Predicted:
    """Seconds of a program from its first barrier on, as `chiplog app` says."""

    seconds: float
    low: float
    high: float


@dataclass(frozen=True)
class TracedProgram:
    """What `chiplog app` says of a trace."""

    traced_seconds: float
    mpi_seconds: float
    """Traced, the mean over the ranks."""
    replayed: Predicted
    changed: dict[str, Predicted]

    @property
    def replayed_mpi_seconds(self) -> float:
        """What is not computed; computing takes as long as it did."""
        return self.replayed.seconds - self.traced_seconds + self.mpi_seconds


@dataclass(frozen=True)
class Laboratory:
    """An MPI on hosts, the compiled programs, and where files go."""

    mpi: Mpi
    hosts: DelayedHosts
    directory: Path

    def compile(self) -> Path:
        """The programs, which are one file."""
        return compile_program(self.mpi, "communicating.cpp", self.directory / "programs")

    def run(self, name: str, ranks: int, rounds: int) -> float:
        """Seconds of a program, by itself."""
        printed = self._checked([*self._launch(ranks), name, str(rounds)])
        return float(printed.split(name)[-1])

    def median_seconds(self, name: str, ranks: int, rounds: int, runs: int = 3) -> float:
        """The median of some runs."""
        return median(self.run(name, ranks, rounds) for _ in range(runs))

    def trace(self, name: str, ranks: int, rounds: int) -> Path:
        """The folder of a program's trace."""
        folder = self.directory / f"{name}-{ranks}"
        shutil.rmtree(folder, ignore_errors=True)
        launch = [*self._launch(ranks), name, str(rounds)]
        self.chiplog("trace", "--mpi", self.mpi.mpicxx, "-o", folder, "--", *launch)
        return folder

    def measure_model(self, budget_seconds: int, sizes: str = "1:64KiB") -> Path:
        """A model of messages between the first two hosts, as fast as they are now."""
        run, model = self.directory / "run.jsonl", self.directory / "model.json"
        launcher = self.hosts.launcher(self.mpi, 2, self.directory)
        how = ["--mpi", self.mpi.mpicxx, "--launcher", launcher, "--budget", budget_seconds]
        what = ["--pattern", "prtt,exchange", "--sizes", sizes, "--no-refine"]
        self.chiplog("measure", "mpi", *how, *what, "-o", run)
        self.chiplog("fit", run, "-o", model)
        return model

    def predict(self, trace: Path, model: Path, changes: Sequence[str] = ()) -> TracedProgram:
        """The program's time by the model, now and with each of the changes."""
        out = self.directory / "app.json"
        asked = [word for change in changes for word in ("--change", change)]
        options = ["--anyway", "--json", out, *asked]
        out.unlink(missing_ok=True)
        self.chiplog("app", trace, "--model", model, *options)
        said = json.loads(out.read_text())
        around = sum(
            min(row["call_seconds"].get(call, 0.0) for row in said["rows"])
            for call in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
        )

        def predicted(answer: dict[str, Any]) -> Predicted:
            return Predicted(*(answer[end] - around for end in ("seconds", "low", "high")))

        in_mpi = [row["mpi_seconds"] - row["start_and_end_seconds"] for row in said["rows"]]
        changed = {each["what"]: predicted(each) for each in said.get("alternatives", [])}
        seconds = said["seconds"] - around
        mpi_seconds = sum(in_mpi) / len(in_mpi)
        return TracedProgram(seconds, mpi_seconds, predicted(said["replay"]), changed)

    def chiplog(self, *words: object) -> str:
        """What a command of chiplog's prints."""
        return self._checked([sys.executable, "-m", "chiplog", *map(str, words)])

    def _launch(self, ranks: int) -> list[str]:
        launcher = self.hosts.launcher(self.mpi, ranks, self.directory)
        return [str(launcher), str(self.directory / "programs")]

    def _checked(self, words: Sequence[str]) -> str:
        done = subprocess.run(
            words,
            env={**os.environ, **self.mpi.environment, **OPEN_MPI_AS_ROOT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)}: {(done.stderr or done.stdout)[-1000:]}"
        return done.stdout
