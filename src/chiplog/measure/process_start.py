"""When this process began: loading Python and packages is part of the time that a user waits."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/self/stat")
START_FIELD = 22
"""Of /proc/PID/stat, counted from 1: the start in clock ticks since the machine was booted (proc(5))."""


def process_start() -> float:
    """The start of this process as a time of `time.monotonic` in seconds; now, where the kernel does not tell it."""
    try:
        after_name = STAT.read_text().rpartition(")")[2].split()
        since_boot = int(after_name[START_FIELD - 3]) / os.sysconf("SC_CLK_TCK")
        # Another process may run between the two clocks' readings, which makes the difference smaller.
        difference = max(
            time.monotonic() - time.clock_gettime(time.CLOCK_BOOTTIME) for _ in range(5)
        )
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic()
    return min(time.monotonic(), since_boot + difference)
