"""Ranks that crash before their first word are started again, a bounded number of times.

MPIs crash in MPI_Init now and then. Nothing has been measured by then, so a further start changes no result. What ends
later, or is killed or refused, is never repeated here.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from typing import TypeVar

from chiplog.counts import counted
from chiplog.errors import RunFailed
from chiplog.measurement.process import SHELL_SIGNAL
from chiplog.messages import note

MOST_STARTS = 5
"""Given: starts of one launch. Where a third of all starts crash, five in a row do so once in 243 launches."""
TRYING_SECONDS = 60.0
"""Given: after a launch's first start, when it is not started again: what takes long to fail may never start."""

CRASHES = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV")
"""Given: signals by which programs end of their own errors; whoever sends another one wants an end."""

Started = TypeVar("Started")
Ended = TypeVar("Ended")


_KILLED_RANK = re.compile(r"(?:exited on |\()signal (\d+)\b")
"""What Open MPI's and MPICH's launchers say of a rank that a signal has ended."""


class NoStart(RunFailed):
    """Ranks crashed before their first word; the sentence says how."""


def signal_of(code: int | None) -> str | None:
    """The name of the signal that ended a process, or one below a launcher or a shell (128 + its number)."""
    number = -code if code is not None and code < 0 else (code or 0) - SHELL_SIGNAL
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def signal_of_rank(words: str) -> str | None:
    """The name of the signal that ended a rank, as its launcher says; None where it says nothing of one."""
    killed = _KILLED_RANK.search(words)
    return signal_of(-int(killed[1])) if killed else None


def has_crashed(code: int | None, words: str) -> bool:
    """Whether a launch with this exit code and these words ended by an error of its programs' own, such as SIGSEGV."""
    return bool({signal_of(code), signal_of_rank(words)} & set(CRASHES))


def has_spoken(program: str, *texts: str) -> bool:
    """Whether ranks of `program` said something: a line of JSON, or a sentence with its name."""
    return any('{"type":"' in text or f"{program}: " in text for text in texts)


def start_again(
    start: Callable[[], Started],
    tell: Callable[[str], None] = note,
    clock: Callable[[], float] = time.monotonic,
) -> Started:
    """Returns what `start` returns, which is called again where it raises NoStart.

    `tell` is told how many starts failed, and how the last of them did, once one succeeds. Raises the last NoStart,
    with how many there were, after MOST_STARTS, or where one fails TRYING_SECONDS after the first began.
    """
    began = clock()
    failures = 0
    last = ""
    while True:
        try:
            started = start()
        except NoStart as error:
            failures, last = failures + 1, str(error).rstrip(".")
            if failures < MOST_STARTS and clock() - began < TRYING_SECONDS:
                continue
            if failures == 1:
                raise
            raise NoStart(f"{last} ({failures} starts in a row failed).") from error
        if failures:
            tell(
                f"{counted(failures, 'start')} of the ranks failed before one succeeded; the last: {last}."
            )
        return started


def run_again(
    run: Callable[[], Ended],
    no_start: Callable[[Ended], str | None],
    tell: Callable[[str], None] = note,
) -> tuple[Ended, str | None]:
    """Returns how the last start of `run` ended, and why none of them counts; None where it does.

    `no_start` says of an end why it is one before the ranks' first word.
    """
    ends: list[Ended] = []

    def start() -> Ended:
        ends.append(run())
        if reason := no_start(ends[-1]):
            raise NoStart(reason)
        return ends[-1]

    try:
        return start_again(start, tell), None
    except NoStart as error:
        return ends[-1], str(error).rstrip(".")
