"""Runs a launcher's command to its end, in a process group of its own that never outlives this call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chiplog.errors import RunFailed
from chiplog.measurement.process import ProcessGroup, output_in_memory


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def run_to_end(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> Finished:
    """The command with `environment` added to this process's; RunFailed where it can't start or takes too long."""
    with output_in_memory() as stdout, output_in_memory() as stderr:
        try:
            group = ProcessGroup(
                command, {**os.environ, **environment}, stdout=stdout, stderr=stderr
            )
        except OSError as error:
            raise RunFailed(
                f"{command[0]} can't be run: {error.strerror}. Is it installed, and on the PATH?"
            ) from error
        with group:
            if group.process.stdin is not None:
                group.process.stdin.close()
            code = group.wait(seconds)
        if code is None:
            raise RunFailed(f"{command[0]} did not end within {seconds:g} s; it was stopped.")
        texts = []
        for stream in (stdout, stderr):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", errors="replace"))
    return Finished(code, *texts)


def preloaded(command: Sequence[str], program: str, library: str) -> list[str]:
    """The command whose ranks, not whose launcher, load `library` before all others."""
    words = list(command)
    at = words.index(program)
    return [*words[:at], "env", f"LD_PRELOAD={library}", *words[at:]]
