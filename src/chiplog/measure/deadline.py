"""A time after which nothing goes on, however busy the machine is: what takes longer is stopped, not waited for."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_SECONDS = 1.0
"""Code that catches everything may swallow one exception, so another follows."""
SPIN_SECONDS = 0.01
"""Of CPU time: several time slices, so that each busy program has its turn meanwhile."""
LATE_SECONDS, LATE_SHARE = 2.7, 0.2
"""What a command may take beyond its budget, in seconds and as a share of it: loading, starting ranks, fits, files."""
STOPPING_SECONDS = 0.12
"""What it takes on an idle core to stop what still runs and to end this process: a part of what it may take."""


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
