"""Until when a run may measure, on the wall clock: starting ranks and all else between records counts."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

MOST_START_SECONDS = 2.0
"""Given: of the first start of the ranks, what does not count: a budget of a second is for measuring, not for
`mpirun`."""
LOADING_SECONDS = 0.3
"""Given: what loading NumPy, SciPy and the search for protocol changes takes on an idle core."""
REFINEMENT_SHARE = 0.2
"""Given: of the time for measuring, what is kept for measuring again around protocol changes."""


@dataclass(frozen=True)
class Limits:
    """Times of `time.monotonic` in seconds."""

    visits: float = math.inf
    """After it, no size is visited once more, and no ranks are started once more."""
    end: float = math.inf
    """After it, nothing is measured but the first visit of each size."""
    last: float = math.inf
    """After it, nothing is measured at all: sizes that were not reached are missing."""
    least_seconds: float | None = None
    """For measuring, however late the ranks begin; None where up to MOST_START_SECONDS of their start do not count."""
    stop: float = math.inf
    """Then what still runs is stopped: the start of ranks and the record that is being taken, too."""
    loading_seconds: float = LOADING_SECONDS
    """What loading takes that decides what the visits lead to: more on a busy machine."""

    @property
    def seconds_for_visits(self) -> float:
        """How long sizes may still be visited once more; infinite without a limit, not below 0."""
        return max(0.0, self.visits - time.monotonic())

    def later(self, seconds: float) -> Limits:
        """The same limits, so many seconds later."""
        return replace(
            self,
            visits=self.visits + seconds,
            end=self.end + seconds,
            last=self.last + seconds,
        )

    def after_start(self, seconds: float) -> Limits:
        """The limits once the ranks have begun for the first time, which took so many seconds."""
        if self.least_seconds is None:
            return self.later(min(seconds, MOST_START_SECONDS))
        return self.later(max(0.0, self.least_seconds - (self.last - time.monotonic())))

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return time.monotonic() >= self.end

    @property
    def has_time_for_more(self) -> bool:
        """Whether there is time for what the visits lead to: loading what decides that takes a while, too."""
        return self.end - time.monotonic() >= self.loading_seconds

    @property
    def is_past_last(self) -> bool:
        """Whether not even first visits may begin any more."""
        return time.monotonic() >= self.last


def within(seconds: float, stop: float = math.inf, slow: float = 1.0) -> Limits:
    """Limits that end everything after so many seconds from now: a fifth of them is kept for what the grid leads to.

    `slow` says how many times as long as on an idle core this process's work takes.
    """
    now = time.monotonic()
    return Limits(
        now + (1.0 - REFINEMENT_SHARE) * seconds,
        now + seconds,
        now + seconds,
        stop=stop,
        loading_seconds=slow * LOADING_SECONDS,
    )


NO_LIMITS = Limits()


AGAIN_SECONDS = 1.0
"""Given: code that catches everything may swallow one exception, so another follows."""
SPIN_SECONDS = 0.01
"""Given: of CPU time: several time slices, so that each busy program has its turn meanwhile."""
LATE_SECONDS, LATE_SHARE = 2.7, 0.2
"""Given: what a command may take beyond its budget, in seconds and as a share of it: loading, starting ranks, fits,
files."""
STOPPING_SECONDS = 0.12
"""Given: what it takes on an idle core to stop what still runs and to end this process: a part of what it may take."""


class OutOfTime(BaseException):
    """A deadline has passed; like KeyboardInterrupt, it is no error that code on the way may handle."""

    def __str__(self) -> str:
        return "the time for it was over"


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """A block that raises OutOfTime once the time `at` of `time.monotonic` has passed; infinite: it never does.

    Within a block of another deadline, the earlier one holds. Outside the main thread, where Python lets nobody handle
    signals, the time is checked at the block's beginning only.
    """
    if time.monotonic() >= at:
        raise OutOfTime
    if math.isinf(at) or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, raise_out_of_time)
    left_before, again_before = signal.setitimer(
        signal.ITIMER_REAL, _earlier(at - time.monotonic()), AGAIN_SECONDS
    )
    began = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous if previous is not None else signal.SIG_DFL)
        if left_before > 0.0:
            seconds_left = left_before - (time.monotonic() - began)
            signal.setitimer(signal.ITIMER_REAL, max(seconds_left, 1e-6), again_before)


@contextmanager
def outside_deadlines() -> Iterator[None]:
    """A block whose time does not count for the deadlines around it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seconds_left, again = signal.setitimer(signal.ITIMER_REAL, 0.0)
    try:
        yield
    finally:
        if seconds_left > 0.0:
            signal.setitimer(signal.ITIMER_REAL, seconds_left, again)


def _earlier(seconds: float) -> float:
    """`seconds`, or what is left of the timer that runs already; above 0, which would stop it."""
    seconds_left, _ = signal.getitimer(signal.ITIMER_REAL)
    return max(min(seconds, seconds_left) if seconds_left > 0.0 else seconds, 1e-6)


def raise_out_of_time(number: int, frame: FrameType | None) -> None:
    """Handles SIGALRM."""
    raise OutOfTime


def slowness() -> float:
    """How many times as long as on an idle core this process's work takes now, at least 1: a few milliseconds of it."""
    began, worked = time.perf_counter(), time.thread_time()
    while time.thread_time() - worked < SPIN_SECONDS:
        pass
    return max(1.0, (time.perf_counter() - began) / (time.thread_time() - worked))


def latest_end(began: float, budget: float, slow: float) -> float:
    """When what a command still does is stopped, a time of `time.monotonic`.

    `began` is when the command began, `budget` the seconds that it was given, `slow` what `slowness` says.
    """
    late = LATE_SECONDS + LATE_SHARE * budget - slow * STOPPING_SECONDS
    return began + budget + max(0.0, late)


STAT = Path("/proc/self/stat")
FIRST_FIELD, START_FIELD = 3, 22
"""Given: of /proc/PID/stat, counted from 1: what follows the name, and the start in clock ticks since the machine was
booted (proc(5))."""
READINGS = 5
"""Given: of both clocks; the two that are closest together count."""


def process_start() -> float:
    """The start of this process as a time of `time.monotonic` in seconds; now, where the kernel does not tell it."""
    try:
        after_name = STAT.read_text().rpartition(")")[2].split()
        since_boot = int(after_name[START_FIELD - FIRST_FIELD]) / os.sysconf("SC_CLK_TCK")
        # Another process may run between the two clocks' readings, which makes the difference smaller.
        difference = max(
            time.monotonic() - time.clock_gettime(time.CLOCK_BOOTTIME) for _ in range(READINGS)
        )
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic()
    return min(time.monotonic(), since_boot + difference)
