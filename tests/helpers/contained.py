"""Commands with a limit of time, of which no process is left."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BECOME_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
GRACE_SECONDS = 60.0
"""How long killed processes may take to vanish: on a busy machine more than ten seconds were seen."""


@dataclass(frozen=True)
class Contained:
    """What a command left behind; `code` is None where it ran past its limit."""

    code: int | None
    output: str
    seconds: float


def run_contained(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path,
    limit_seconds: float,
) -> Contained:
    """Runs the command there, with these variables only and no input, and ends all that it has started.

    Every process that this one has started ends, whatever started it: call it from a process of its own.
    """
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            seconds = time.monotonic() - began
            _end_descendants()
            process.wait(GRACE_SECONDS)
        output.seek(0)
        return Contained(code, output.read().decode(errors="replace"), seconds)


def _end_descendants() -> None:
    deadline = time.monotonic() + GRACE_SECONDS
    while (living := _descendants()) and time.monotonic() < deadline:
        for process in living:
            try:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.01)


def _descendants() -> list[int]:
    """The living processes below this one: orphans come to it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z" or int(parent) == os.getpid():
            children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
