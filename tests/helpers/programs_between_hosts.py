"""The programs of communicating.cpp on hosts of known delay: run, traced, and predicted from their traces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from barrier_programs import compile_program
from delayed_hosts import DelayedHosts

import chiplog
from chiplog.application.result import Alternative, Replay
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.tracer import trace_command
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import kinds

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
PROGRAM_SECONDS = 30
"""The programs take a second; one that hangs must not keep the processors for long, which others need, too."""


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
    takes_turns: bool
    """Is it said that there are more ranks than processors?"""

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
        words = [*self._launch(ranks), name, str(rounds)]
        return _printed_seconds(self._checked(words, PROGRAM_SECONDS), name)

    def median_seconds(self, name: str, ranks: int, rounds: int, runs: int = 3) -> float:
        """The median of some runs."""
        return median(self.run(name, ranks, rounds) for _ in range(runs))

    def trace(self, name: str, ranks: int, rounds: int) -> tuple[Path, float]:
        """The folder of a program's trace, and the seconds that it took under the tracer."""
        folder = self.directory / f"{name}-{ranks}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        words = [*self._launch(ranks), name, str(rounds)]
        traced = trace_command(words, folder, mpicxx=str(self.mpi.mpicxx))
        printed = self._checked(traced.words, PROGRAM_SECONDS, **traced.environment)
        return folder, _printed_seconds(printed, name)

    def measure_model(self, budget_seconds: int, sizes: str = "1:64KiB") -> Path:
        """A model of messages between the first two hosts, as fast as they are now."""
        run, model = self.directory / "run.jsonl", self.directory / "model.json"
        launcher = self.hosts.launcher(self.mpi, 2, self.directory)
        how = ["--mpi", self.mpi.mpicxx, "--launcher", launcher, "--budget", budget_seconds]
        what = ["--pattern", "prtt,exchange", "--sizes", sizes, "--no-refine"]
        run.unlink(missing_ok=True)
        self._chiplog("measure", "mpi", *how, *what, "-o", run)
        self._chiplog("fit", run, "--models", "loggp,loggps", "-o", model)
        return model

    def predict(
        self, traced: tuple[Path, float], model: Path, changes: Sequence[str] = ()
    ) -> TracedProgram:
        """The time of a traced program by the model, now and with each of the changes."""
        trace, seconds = traced
        said = chiplog.app(trace, model, changes=list(changes), anyway=True)
        assert said.replay is not None
        around = _seconds_around(trace)

        def predicted(answer: Replay | Alternative) -> Predicted:
            return Predicted(answer.seconds - around, answer.low - around, answer.high - around)

        in_mpi = [row.mpi_seconds - row.start_and_end_seconds for row in said.rows]
        changed = {each.what: predicted(each) for each in said.replay.alternatives}
        mpi_seconds = sum(in_mpi) / len(in_mpi)
        takes_turns = "take turns" in (said.replay.extrapolated or "")
        return TracedProgram(seconds, mpi_seconds, predicted(said.replay), changed, takes_turns)

    def _chiplog(self, *words: object) -> str:
        """What a command of chiplog's prints."""
        return self._checked([sys.executable, "-m", "chiplog", *map(str, words)])

    def _launch(self, ranks: int) -> list[str]:
        launcher = self.hosts.launcher(self.mpi, ranks, self.directory)
        return [str(launcher), str(self.directory / "programs")]

    def _checked(
        self, words: Sequence[str], limit_seconds: int = PATIENCE_SECONDS, **variables: str
    ) -> str:
        done = subprocess.run(
            ["timeout", "--signal=KILL", str(limit_seconds), *words],
            env={**os.environ, **self.mpi.environment, **OPEN_MPI_AS_ROOT, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)}: {(done.stderr or done.stdout)[-1000:]}"
        assert self.hosts.relay.poll() is None, "the relay has ended"
        return done.stdout


def _printed_seconds(printed: str, name: str) -> float:
    return next(
        float(line.split()[1]) for line in printed.splitlines() if line.startswith(f"{name} ")
    )


def _seconds_around(folder: Path) -> float:
    """What a replay has before the programs' first barrier and behind their last MPI_Reduce.

    In a replay MPI_Init and MPI_Finalize take on each rank what they took on the quickest.
    """
    ranks = [rank.calls for rank in read_trace(folder).ranks]
    origin = min(int(calls["begin_ns"].min()) for calls in ranks)
    init, barrier, reduce, finalize = (
        [calls[np.isin(calls["kind"], kinds(*names))] for calls in ranks]
        for names in (("Init", "Init_thread"), ("Barrier",), ("Reduce",), ("Finalize",))
    )
    shortest = [
        min(int(calls["end_ns"][0] - calls["begin_ns"][0]) for calls in of_ranks)
        for of_ranks in (init, finalize)
    ]
    before = [
        int(first["begin_ns"][0]) - origin + int(meets["begin_ns"][0] - first["end_ns"][0])
        for first, meets in zip(init, barrier, strict=True)
    ]
    behind = [
        int(last["begin_ns"][0] - sums["begin_ns"][-1])
        for sums, last in zip(reduce, finalize, strict=True)
    ]
    return (max(before) + max(behind) + sum(shortest)) / 1e9
