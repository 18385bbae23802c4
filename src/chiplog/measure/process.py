"""A child process in a process group of its own, which never outlives what started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 2.0
"""How long a group may take to end by itself before it is killed."""


class ProcessGroup:
    """The leader of a new session with pipes to its standard streams; leaving the context ends the whole group."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdout: IO[bytes] | int = subprocess.PIPE,
        stderr: IO[bytes] | int = subprocess.PIPE,
    ) -> None:
        libc = ctypes.CDLL(None, use_errno=True)

        def end_with_parent() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=dict(environment),
            bufsize=0,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def wait(self, seconds: float) -> int | None:
        """The leader's return code, or None where it has not ended within `seconds`."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Ask the group to end, kill what is left after a moment, and close the pipes."""
        if self._group_lives():
            self._signal(signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
            while self._group_lives() and time.monotonic() < deadline:
                time.sleep(0.01)
            self._signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _group_lives(self) -> bool:
        self.process.poll()  # collects the leader, so that it does not count as living
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
