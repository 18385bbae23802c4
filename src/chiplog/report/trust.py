"""Whether a target's model may be relied on: the line that stands above everything else, on screen and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chiplog.comparison.result import ModelRow
from chiplog.counts import counted
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import LINE_COEFFICIENTS
from chiplog.fitting.verdict import cause_text, rejection, train_error
from chiplog.report import format
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline
from chiplog.report.names import model_name
from chiplog.report.ranking import row_of

AS_IT_REPEATS = 1.5
"""Given: a model whose held-out errors are up to so many times what visits differ by is as good as it can be told."""
LEAST_SAID = 0.001
"""Given: errors below this are said to be within it."""

Level = Literal["usable", "limited", "not usable"]


@dataclass(frozen=True)
class Trust:
    """What a target's model may be used for, and why."""

    level: Level
    use: str
    """The first words: "usable", "usable for times within 6 %", "not usable"."""
    reason: str
    """A clause with its numbers; where the model is not usable with what to do, as far as that is known."""

    def sentence(self) -> str:
        """The line that is printed."""
        joint = ", because " if self.level == "not usable" else ": "
        return f"{self.use}{joint}{self.reason}."


def trust_of(target: TargetReport) -> Trust:
    """Judges the model that the target's report shows first.

    It is usable where it misses held-out sizes by no more than visits of a size differ (a median each, up to
    `AS_IT_REPEATS`), usable for times within its error where that is larger or where nothing was held out or repeated,
    usable for half round trips where its own check rejects it for trains alone, and else not usable where that rejects
    it.
    """
    fit = headline(target)
    if target.failure:
        return _not_usable(f"it failed: {target.failure.rstrip('.')}")
    if fit is None:
        return _not_usable("no model was fitted")
    name = model_name(fit.model)
    if rejection(fit) is not None and train_error(fit) is None:
        return _not_usable(cause_text(fit, name))
    row = row_of(target, fit)
    if not fit.segments or not row.error.points:
        return _not_usable(f"{name} predicts nothing here")
    numbers = max(row.parameters, LINE_COEFFICIENTS)  # the data may be too few to tell even those
    if row.in_sample and row.error.points <= numbers:
        points = counted(row.error.points, "point")
        return _not_usable(
            f"{points} can't check {name}, which has {numbers} numbers of its own; measure for longer"
        )
    return _by_error(target, fit, row)


def _not_usable(reason: str) -> Trust:
    return Trust("not usable", "not usable", reason)


def _by_error(target: TargetReport, fit: Fit, row: ModelRow) -> Trust:
    error, repeats = row.error.median_relative, row.repeatability
    is_as_it_repeats = (
        not row.in_sample and repeats is not None and error <= AS_IT_REPEATS * repeats
    )
    within = format.percent(max(error, LEAST_SAID))
    reason = "; ".join([_error_text(fit, row, within), *_caveats(target, fit)])
    trains = train_error(fit)
    level: Level = "usable" if is_as_it_repeats and trains is None else "limited"
    what = "times" if trains is None else "half round trips"
    if is_as_it_repeats:
        return Trust(level, "usable" if trains is None else f"usable for {what}", reason)
    return Trust(level, f"usable for {what} within {within}", reason)


def _error_text(fit: Fit, row: ModelRow, within: str) -> str:
    error = row.error
    basis = "fitted" if row.in_sample else "held-out"
    points = counted(error.points, f"{basis} point")
    worst = format.percent(max(error.max_relative, LEAST_SAID))
    words = f"{model_name(fit.model)} misses {points} by {within} in the median ({worst} at worst)"
    if row.in_sample:
        return f"{words}; none were held out"
    if row.repeatability is None:
        return f"{words}; none was visited twice"
    return f"{words}, where visits differ by {format.percent(max(row.repeatability, LEAST_SAID))}"


def _caveats(target: TargetReport, fit: Fit) -> list[str]:
    """What else a reader should know before using the numbers."""
    caveats = [] if target.dataset.complete else ["the run is not complete"]
    trains = train_error(fit)
    if trains is not None:
        caveats.append(f"messages sent back to back are off by {format.percent(trains)} on average")
    if fit.busy is not None:
        caveats.append(f"the machine was busy ({fit.busy})")
    return caveats
