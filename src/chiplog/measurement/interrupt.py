"""Interruptions that arrive only where they do no harm: while waiting for the probe, not while writing a record.

A deadline's signal (`chiplog.measurement.time_budget`) is one of them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from chiplog.measurement.time_budget import OutOfTime

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InterruptGuard:
    """Turns SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt, and SIGALRM into OutOfTime.

    They are raised within `waiting` and at its borders only.

    Outside the main thread, where Python lets nobody handle signals, it does nothing.
    """

    def __init__(self) -> None:
        self.requested: type[BaseException] | None = None
        self._is_waiting = False
        self._previous: dict[
            signal.Signals, Callable[[int, FrameType | None], Any] | int | None
        ] = {}

    def __enter__(self) -> InterruptGuard:
        if threading.current_thread() is threading.main_thread():
            for number in (*SIGNALS, signal.SIGALRM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A block that may be interrupted."""
        self._is_waiting = True
        try:
            self.check()
            yield
        finally:
            self._is_waiting = False

    def check(self) -> None:
        """Raise KeyboardInterrupt or OutOfTime if a signal has come since the guard began."""
        if self.requested is not None:
            raise self.requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = OutOfTime if number == signal.SIGALRM else KeyboardInterrupt
        if self._is_waiting:
            self._is_waiting = False  # once: cleaning up may take its time
            raise self.requested
