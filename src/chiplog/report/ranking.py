"""How far off each fit of a target is, on what, and which of them may be compared with each other.

An error on points that were held out and one on points that a model was fitted to are two quantities, and an error on
four points says nothing about fifty: fits are only ranked among those judged on the same points.
"""

from __future__ import annotations

from chiplog.comparison.result import ModelRow
from chiplog.fitting.result import Fit
from chiplog.report.input import TargetReport


def row_of(target: TargetReport, fit: Fit) -> ModelRow:
    """How the fit was judged on points held out; on those that it was fitted to, where it was not."""
    judged = next((row for row in target.comparison if row.judges(fit)), None)
    return in_sample_row(fit) if judged is None else judged


def in_sample_row(fit: Fit) -> ModelRow:
    """The fit as it was judged on the points that it was fitted to."""
    numbers = sum(
        parameter.identified
        for segment in fit.segments
        for parameter in segment.parameters.values()
    )
    return ModelRow(
        fit.model,
        fit.method,
        "",
        numbers,
        fit.error,
        fit.statistic,
        fit.operation,
        fit.posting,
    )
