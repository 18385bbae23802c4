"""The run file of ranks that measure: every record goes to the file before anything else is done with it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from chiplog.configuration import as_member
from chiplog.dataset.run_file import RunWriter, refuse_existing
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.measurement.progress import Silent, Watcher
from chiplog.measurement.session import Launch, Session
from chiplog.measurement.time_budget import NO_LIMITS, Limits, OutOfTime


@dataclass(frozen=True)
class RunConditions:
    """What holds while a run is measured, besides its plan."""

    resume: bool = False
    """Whether exactly the missing records are measured, by the plan that the file was begun with."""
    watcher: Watcher = field(default_factory=Silent)
    limits: Limits = NO_LIMITS
    """When their time is over, the rest is left to `--resume`."""


NO_CONDITIONS = RunConditions()


class RunRecorder:
    """A run file that grows, as a context manager: within it, interruptions arrive where they do no harm.

    `limits` begin with the ranks' first start; `watcher` is for whoever knows what records are predicted to take.
    """

    def __init__(self, target: str, out: Path, launch: Launch, conditions: RunConditions) -> None:
        self.target = target
        self.out = out
        self.watcher = conditions.watcher
        self.limits = conditions.limits
        self.header: Mapping[str, Any] = {}
        self.series: list[Series] = []
        self.has_started = False
        self._launch = launch
        self._resume = conditions.resume
        self._guard = InterruptGuard()
        self._writer: RunWriter | None = None

    def __enter__(self) -> RunRecorder:
        self._guard.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._guard.__exit__(*raised)

    @property
    def has_file(self) -> bool:
        """Whether the file is open, or was."""
        return self._writer is not None

    @property
    def is_complete(self) -> bool:
        """Whether the file was complete when it was opened."""
        return self._writer is not None and self._writer.complete

    @property
    def records(self) -> int:
        """How many records are in the file."""
        return self._writer.records if self._writer else 0

    @property
    def finished(self) -> frozenset[int]:
        """The ids of the requests whose records are in the file."""
        return self._writer.finished if self._writer else frozenset()

    def begin(self, read_plan: Callable[[object], object]) -> None:
        """Opens the file that is there and lets its plan be read, or makes sure that there is no file.

        UsageError where it is there already, or is another target's.
        """
        if not self._resume:
            refuse_existing(self.out)
            return
        self._writer = RunWriter.resume(self.out)
        kept = self._writer.kept
        assert kept is not None
        self.series, self.header = list(kept.series), kept.header
        try:
            if self.header["target"] != self.target:
                raise UsageError(
                    f"--resume: {self.out} was measured on {self.header['target']}, not on {self.target}."
                )
            read_plan(self.header.get("plan"))
        except BaseException:
            self._writer.close()
            raise
        if self._writer.complete:
            self._writer.close()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A block that an error ends with a footer that says so; a file without a record, refused at once, goes."""
        try:
            yield
        except BaseException as error:
            if self._writer is not None:
                self._writer.__exit__(type(error), error, error.__traceback__)
                if isinstance(error, UsageError) and not self.records:
                    self.out.unlink(missing_ok=True)
            raise

    @contextmanager
    def ranks(self, launch: int) -> Iterator[Session]:
        """The ranks of the launch of that number; how long the first ones take to start moves the limits."""
        began = time.monotonic()
        with ExitStack() as stack:
            with self._guard.waiting():
                session = stack.enter_context(self._launch(launch))
            if not self.has_started:
                self.has_started = True
                self.limits = self.limits.after_start(time.monotonic() - began)
            yield session

    def create(self, header: Mapping[str, Any]) -> None:
        """Makes the file, before anything is measured."""
        self.header = {**header, **as_member()}
        self._writer = RunWriter.create(self.out, self.header)

    def record(self, answer: Callable[[], str]) -> tuple[Series, ...]:
        """Waits for a record's line, writes it, and returns its series."""
        assert self._writer is not None
        with self._guard.waiting():
            line = answer()
        series = self._writer.append_raw(line)
        self.series += series
        return series

    def finish(
        self, *, unreached: str | None = None, changes: Mapping[str, object] | None = None
    ) -> None:
        """Writes the footer; `unreached` are what the time did not suffice for all of, such as sizes."""
        assert self._writer is not None
        reason = "done" if unreached is None else f"time did not suffice for all {unreached}"
        self._writer.finish(complete=unreached is None, reason=reason, changes=changes)

    def dataset(self, *, complete: bool = False) -> Dataset:
        """All that is in the file so far."""
        return Dataset(self.header, tuple(self.series), complete, str(self.out))


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
