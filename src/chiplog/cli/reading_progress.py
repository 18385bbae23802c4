"""How far a long reading has got, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from chiplog.messages import note

LINE_SECONDS = 5.0
"""Between two lines, and before the first."""


def reading_progress(
    path: Path, clock: Callable[[], float] = time.monotonic
) -> Callable[[float], None]:
    """Takes the share of a file or folder that has been read, and says it with the time left, for long ones."""
    began = clock()
    next_line = began + LINE_SECONDS

    def progress(share: float) -> None:
        nonlocal next_line
        now = clock()
        if now < next_line or not 0.0 < share < 1.0:
            return
        next_line = now + LINE_SECONDS
        seconds_left = (now - began) * (1.0 - share) / share
        note(f"reading {path}: {100 * share:.0f} %, {seconds_left:.0f} s left.")

    return progress
