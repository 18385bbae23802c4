"""Runs one barrier under an MPI's launcher, with settings in the environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from chiplog.errors import RunFailed, UsageError
from chiplog.measure.launchers import launch_command
from chiplog.measure.probes import BuiltProbe
from chiplog.tune.check.marks import MARKED_RANKS

RANKS = 4
SECONDS = 60.0


@dataclass(frozen=True)
class Ended:
    """How a run ended; `said` is the last that it said."""

    is_done: bool
    said: str
    output: str


@dataclass(frozen=True)
class Runner:
    """Starts the program that does one barrier of 3 ranks."""

    program: BuiltProbe
    launcher: tuple[str, ...] = ()

    def run(self, settings: Mapping[str, str]) -> Ended:
        """With `settings` added to the environment; RunFailed where the launcher can't be started or hangs."""
        command, own = self._command()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=SECONDS,
                env={**os.environ, **own, **settings},
            )
        except OSError as error:
            raise RunFailed(f"{command[0]} can't be run: {error.strerror}.") from error
        except subprocess.TimeoutExpired as error:
            raise RunFailed(f"{command[0]} did not end within {SECONDS:g} s.") from error
        for line in done.stdout.splitlines():
            if line.startswith("ranks "):
                raise UsageError(
                    f"--launcher: it starts {line.split()[1]} ranks; the proof needs {MARKED_RANKS} or more."
                )
        is_done = done.returncode == 0 and f"barrier {MARKED_RANKS} ok" in done.stdout
        output = done.stdout + done.stderr
        return Ended(is_done, _what_was_said(output), output)

    def _command(self) -> tuple[list[str], Mapping[str, str]]:
        arguments = [str(MARKED_RANKS)]
        if self.launcher:
            return [*self.launcher, str(self.program.path), *arguments], {}
        started = launch_command(self.program, RANKS, arguments)
        return list(started.command), started.environment


def _what_was_said(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or "ssert" in line or "bort" in line]
    return (telling or lines or ["nothing"])[0]
