"""Progress with the time left, on standard error; drawn between points only, so that no measurement pays for it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from chiplog.dataset.series import Series
from chiplog.messages import note

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID

REDRAW_SECONDS = 0.1
"""Given: from one drawing of the bar to the next."""
LINE_SECONDS = 10.0
"""Given: between two lines where standard error is no terminal."""


class Watcher(Protocol):
    """Is told what is planned and what is done, in predicted seconds."""

    def expect(self, *seconds: float) -> None:
        """Records that are predicted to take so long are planned."""

    def ends_by(self, end: float, later_share: float) -> None:
        """The end comes by `end`, a time of `time.monotonic`; this share of the plan is to be added later."""

    def done(self, seconds: float, what: str, took: float | None = None) -> None:
        """A record that was predicted to take `seconds` is finished; it took `took`, or all since the one before."""

    def measured(self, series: Sequence[Series]) -> None:
        """These are the series of the record that is finished."""


class Silent:
    """Shows nothing."""

    def expect(self, *seconds: float) -> None:
        """Ignored."""

    def ends_by(self, end: float, later_share: float) -> None:
        """Ignored."""

    def done(self, seconds: float, what: str, took: float | None = None) -> None:
        """Ignored."""

    def measured(self, series: Sequence[Series]) -> None:
        """Ignored."""


class ProgressBar:
    """A bar with the time left, as a context manager; where standard error is no terminal, a line every LINE_SECONDS.

    A measurement that is shorter than that prints no line. Lines come between records only, so a long record delays
    the next one. The time left follows from what the records so far took (`TimeLeft`).
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._left = TimeLeft()
        self._end = math.inf
        self._later_share = 0.0
        self._began = self._last = time.monotonic()
        self._drawn = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        if sys.stderr.isatty():
            self._bar = _bar_below(self)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=1.0, left="")
        self._began = self._drawn = self._last = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def measured(self, series: Sequence[Series]) -> None:
        """Ignored: the bar shows how much is done, not what was measured."""

    def above(self, lines: int) -> Iterable[RenderableType]:
        """What stands above the bar, where it is drawn on a terminal of so many lines: nothing."""
        return ()

    def expect(self, *seconds: float) -> None:
        """Records that are predicted to take so long are planned."""
        self._left.expect(seconds)

    def ends_by(self, end: float, later_share: float) -> None:
        """The end comes by `end`, a time of `time.monotonic`; this share of the plan is to be added later."""
        self._end = end
        self._later_share = later_share

    def done(self, seconds: float, what: str, took: float | None = None) -> None:
        """A record that was predicted to take `seconds` is finished; it took `took`, or all since the one before."""
        now = time.monotonic()
        self._left.done(seconds, now - self._last if took is None else took)
        self._last = now
        if now - self._drawn < (LINE_SECONDS if self._bar is None else REDRAW_SECONDS):
            return
        self._drawn = now
        seconds_left = self.seconds_left(now)
        over = now - self._began
        share = over / max(over + seconds_left, 1e-9)
        left_text = f"{seconds_left:.0f} s left"
        if self._bar is None or self._task is None:
            note(f"{self._title} {what}: {share:.0%} done, {left_text}")
            return
        self._bar.update(
            self._task, completed=share, description=f"{self._title} {what}", left=left_text
        )
        self._bar.refresh()

    def seconds_left(self, now: float) -> float:
        """Predicted time left, corrected by how the predictions fared so far, and not beyond the end."""
        planned = self._left.seconds * (1.0 + self._later_share)
        later = self._later_share * self._left.took
        return max(0.0, min(planned + later, self._end - now))


def _bar_below(shown: ProgressBar) -> Progress:
    """A bar on standard error that vanishes at its end, with what `shown` wants above it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)

    class _Bar(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            yield from shown.above(console.height)
            yield from super().get_renderables()

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    return _Bar(*columns, console=console, auto_refresh=False, transient=True)


class TimeLeft:
    """Predicts the time left from predictions for each record, corrected by the times of those that are finished.

    A record takes `a` + `b` * (its prediction): `a` is what starting and ending a record costs, which the prediction
    knows nothing of, and `b` is by how much messages are slower than predicted. Both are least squares over the
    finished records, not below 0; `b` begins at 1, which counts as much as one planned record. Least squares keep the
    sum of all times, and records come in shuffled order, so that the finished ones stand for the others.
    """

    def __init__(self) -> None:
        self._planned = 0
        self._planned_seconds = 0.0
        self._planned_squares = 0.0
        self._finished = 0
        self._predicted = 0.0
        self._squares = 0.0
        self._took = 0.0
        self._products = 0.0

    def expect(self, predictions: Sequence[float]) -> None:
        """Records with these predictions, in seconds, are planned."""
        self._planned += len(predictions)
        self._planned_seconds += sum(predictions)
        self._planned_squares += sum(prediction * prediction for prediction in predictions)

    def done(self, predicted: float, took: float) -> None:
        """A record is finished; both times in seconds."""
        self._finished += 1
        self._predicted += predicted
        self._squares += predicted * predicted
        self._took += took
        self._products += predicted * took

    @property
    def seconds(self) -> float:
        """The time left in seconds for what is planned."""
        per_record, factor = self._line()
        records = max(0, self._planned - self._finished)
        predicted = max(0.0, self._planned_seconds - self._predicted)
        return per_record * records + factor * predicted

    @property
    def took(self) -> float:
        """What the finished records took together, in seconds."""
        return self._took

    def _line(self) -> tuple[float, float]:
        """Seconds a record, and the factor on its prediction."""
        if not self._finished:
            return 0.0, 1.0
        mean, mean_took = self._predicted / self._finished, self._took / self._finished
        prior = self._planned_squares / max(1, self._planned)
        spread = self._squares - self._finished * mean * mean + prior
        common = self._products - self._finished * mean * mean_took + prior
        factor = max(0.0, common / spread) if spread > 0.0 else 0.0
        if factor * mean > mean_took:
            factor = mean_took / mean
        return mean_took - factor * mean, factor
