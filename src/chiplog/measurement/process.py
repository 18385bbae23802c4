"""A child process, with all that it starts; none of them outlives what started it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from chiplog.measurement import members

_numbers = itertools.count()

PROBE_NAME = "chiplog-probe"
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHELL_SIGNAL = 128
"""Given: what shells add to the number of the signal that ended a program."""
RANK_VARIABLES = (
    "CHIPLOG_RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
)
"""What launchers call a rank's number, in the order in which the probe itself looks for it."""


def output_in_memory() -> IO[bytes]:
    """What takes a program's output, whether or not the folder for temporary files has room."""
    return os.fdopen(os.memfd_create("chiplog-output"), "w+b")


@dataclass(frozen=True)
class StoppedProcess:
    """A process that something has suspended: its id, its name, and its rank where a launcher's variable tells it."""

    number: int
    name: str
    rank: int | None

    def __str__(self) -> str:
        process = f"process {self.number} ({self.name})"
        return process if self.rank is None else f"rank {self.rank}, {process},"


class ProcessGroup:
    """The leader of a new session with pipes to its standard streams; leaving the context ends all that it started."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdout: IO[bytes] | int = subprocess.PIPE,
        stderr: IO[bytes] | int = subprocess.PIPE,
    ) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        parent = os.getpid()

        def end_with_parent() -> None:
            libc.prctl(members.PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

        self._mark = f"{_watched_mark(parent)}{next(_numbers)}."
        self._members = members.Members(self._mark)
        self._stopped_since: dict[int, float] = {}
        # Python drops what a signal's handler raises while it forks.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env={**environment, members.MARK_VARIABLE: self._mark},
                bufsize=0,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def wait(self, seconds: float) -> int | None:
        """The leader's return code, or None where it has not ended within `seconds`."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def stopped(self, seconds: float, begin: float) -> StoppedProcess | None:
        """The process that every call since `begin` has found stopped for `seconds`, or None.

        `begin` is a time of `time.monotonic`.
        """
        now = time.monotonic()
        states = self._members.states()
        stopped = [number for number, state in states.items() if state in members.STOPPED]
        self._stopped_since = {number: self._stopped_since.get(number, now) for number in stopped}
        for process, since in self._stopped_since.items():
            if now - max(since, begin) >= seconds:
                return _stopped_process(process)
        return None

    def end(self) -> None:
        """Ask all that the command has started to end, kill what is left after a moment, and close the pipes."""
        members.end_members(self._mark)
        self.process.kill()  # it may have given its environment away
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


@functools.cache
def _watched_mark(parent: int) -> str:
    """What the marks of this process, `parent`, begin with; a watcher ends all that carry them when it has ended."""
    mark = f"{secrets.token_hex(8)}."
    _watchers[parent] = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(members.__file__)), mark, str(parent)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    return mark


_watchers: dict[int, subprocess.Popen[bytes]] = {}


def _stopped_process(number: int) -> StoppedProcess:
    try:
        name = Path(f"/proc/{number}/comm").read_text(errors="replace").strip()
        entries = Path(f"/proc/{number}/environ").read_text(errors="replace").split("\0")
    except OSError:
        return StoppedProcess(number, "ended meanwhile", None)
    # A launcher may itself be a rank of what has started it, as srun is within a batch script.
    environment = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    known = [environment[variable] for variable in RANK_VARIABLES if variable in environment]
    is_rank = name == PROBE_NAME and bool(known) and known[0].isdecimal()
    return StoppedProcess(number, name, int(known[0]) if is_rank else None)
