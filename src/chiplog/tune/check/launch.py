"""Runs one barrier under an MPI's launcher, with settings in the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chiplog.errors import UsageError
from chiplog.measurement.launchers import launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.run_to_end import preloaded, run_to_end

RANKS = 4
MARKED_RANKS = 3
"""Ranks of the barrier that a marked copy makes fail."""
SECONDS = 60.0


@dataclass(frozen=True)
class ProofEnded:
    """How a run ended; `said` is the last that it said."""

    is_done: bool
    said: str
    output: str


@dataclass(frozen=True)
class Runner:
    """Starts the program that does one barrier of 3 ranks."""

    program: BuiltProbe
    launcher: tuple[str, ...] = ()

    def run(self, settings: Mapping[str, str], preload: str | None = None) -> ProofEnded:
        """With `settings` in the environment and the library `preload`; RunFailed where the launcher fails or hangs."""
        arguments = [str(MARKED_RANKS)]
        started = launch_command(self.program, RANKS, arguments, launcher=self.launcher)
        command: Sequence[str] = started.command
        if preload is not None:
            command = preloaded(command, str(self.program.path), preload)
        done = run_to_end(command, {**started.environment, **settings}, SECONDS)
        for line in done.stdout.splitlines():
            if line.startswith("ranks "):
                raise UsageError(
                    f"--launcher: it starts {line.split()[1]} ranks; the proof needs {MARKED_RANKS} or more."
                )
        is_done = done.code == 0 and f"barrier {MARKED_RANKS} ok" in done.stdout
        output = done.stdout + done.stderr
        return ProofEnded(is_done, _what_was_said(output), output)


def _what_was_said(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or "ssert" in line or "bort" in line]
    return (telling or lines or ["nothing"])[0]
