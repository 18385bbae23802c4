"""All processes of a run and how they are ended: whatever a run starts inherits a mark in its environment.

A process group would miss the ranks that launchers put into groups of their own. As a program, `members.py MARK PARENT`
outlives the process PARENT, which started it, and then ends all that carry the mark. It imports nothing of chiplog, so
that it starts at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

MARK_VARIABLE = "CHIPLOG_PROCESS_MARK"
GRACE_SECONDS = 0.7
"""Given: how long processes may take to end by themselves before they are killed."""
KILL_SECONDS = 5.0
"""Given: how long killed processes may take to vanish; one that hangs in the kernel would take for ever."""
PAUSE_SECONDS = 0.02
"""Given: from one look at the processes to the next."""
PR_SET_PDEATHSIG = 1
"""Given: the number of this option of prctl(2)."""
STOPPED = "Tt"


class Members:
    """The processes of this host that carry a mark, or one that begins with it."""

    def __init__(self, mark: str) -> None:
        self._entry = f"{MARK_VARIABLE}={mark}".encode()
        self._carries: dict[int, bool] = {}

    def states(self) -> dict[int, str]:
        """The state letter (proc(5)) of each one that has not ended; what is known of a process is not read again."""
        known = self._carries
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        self._carries = {
            number: known[number] if number in known else self._is_member(number)
            for number in numbers
        }
        states = {process: _state(process) for process, carries in self._carries.items() if carries}
        return {process: state for process, state in states.items() if state not in ("", "Z", "X")}

    def _is_member(self, process: int) -> bool:
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                return b"\0" + self._entry in b"\0" + file.read()
        except OSError:
            return False


def _state(process: int) -> str:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""


def end_members(mark: str) -> None:
    """Ask all that carry `mark` to end, let those that are stopped hear it, and kill what is left after a moment."""
    if not _signal(mark, signal.SIGTERM, signal.SIGCONT):
        return
    deadline = time.monotonic() + GRACE_SECONDS
    while Members(mark).states() and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    deadline = time.monotonic() + KILL_SECONDS
    while _signal(mark, signal.SIGKILL) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)


def _signal(mark: str, *numbers: int) -> bool:
    """Whether there was a process to send the signals to."""
    processes = Members(mark).states()
    for process in processes:
        for number in numbers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
    return bool(processes)


def _outlive(mark: str, parent: int) -> None:
    """End all that carry `mark` once `parent` has ended; by then SIGCONT has woken this process, were it stopped."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)
    while os.getppid() == parent:
        signal.sigwait({signal.SIGCONT})
    end_members(mark)


if __name__ == "__main__":
    _outlive(sys.argv[1], int(sys.argv[2]))
