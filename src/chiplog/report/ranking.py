"""How far off each fit of a target is, on what, and which of them may be compared with each other.

An error on points that were held out and one on points that a model was fitted to are two quantities, and an error on
four points says nothing about fifty: fits are only ranked among those judged on the same points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chiplog.compare.result import ModelRow
from chiplog.fit.result import Fit
from chiplog.report.input import TargetReport

ENOUGH = 0.9
"""Share of the points that some model predicts, from which a model is ranked with the others."""
CLEARLY = 0.9
"""Ratio of two mean log errors from which the smaller one is said to be smaller."""


def row_of(target: TargetReport, fit: Fit) -> ModelRow:
    """How the fit was judged on points held out; on those that it was fitted to, where it was not."""
    for row in target.comparison:
        mine = (row.model, row.method, row.statistic, row.operation, row.posting)
        if mine == (fit.model, fit.method, fit.statistic, fit.operation, fit.posting):
            return row
    return in_sample_row(fit)


def in_sample_row(fit: Fit) -> ModelRow:
    """The fit as it was judged on the points that it was fitted to."""
    numbers = sum(
        parameter.identified for one in fit.segments for parameter in one.parameters.values()
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


def most_points(rows: Sequence[ModelRow]) -> int:
    """The most points that one of the rows predicts."""
    return max((row.error.points for row in rows), default=0)


def predicts_enough(row: ModelRow, rows: Sequence[ModelRow]) -> bool:
    """Whether a model predicts so many of the points that its error may be ranked with the others'."""
    return row.error.points > 0 and row.error.points >= ENOUGH * most_points(rows)


def ranked(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """The rows, the least factor first; those that predict too few of the points last."""
    return sorted(rows, key=lambda row: (not predicts_enough(row, rows), _factor(row)))


def clearly_better(row: ModelRow, other: ModelRow) -> bool:
    """Whether a model is closer than another one, over all points and at the median one."""
    mine, others = row.error, other.error
    over_all = math.log(mine.mean_factor) < CLEARLY * math.log(others.mean_factor)
    return over_all and mine.median_relative <= others.median_relative


def _factor(row: ModelRow) -> float:
    return row.error.mean_factor if row.error.points else math.inf
