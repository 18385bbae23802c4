"""The best of several models on one run: what the screen, the page, the JSON and `compare` all show.

It is the model with the least error on held-out points where that is sure, else the simplest of those that are alike.
Sure is a difference whose 95 % interval excludes 0: the mean over the points that both predict of the difference of
their |ln(predicted / measured)|, paired point by point, with Student's t.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from chiplog.comparison.result import ModelRow
from chiplog.fitting.verdict import quality_of
from chiplog.models.registry import find_model
from chiplog.statistics import TAILS

ENOUGH = 0.9
"""Given: share of the points that some model predicts, from which a model is ranked with the others."""


def most_points(rows: Sequence[ModelRow]) -> int:
    """The most points that one of the rows predicts."""
    return max((row.error.points for row in rows), default=0)


def predicts_enough(row: ModelRow, rows: Sequence[ModelRow]) -> bool:
    """Whether a model predicts so many of the points that its error may be ranked with the others'."""
    return row.error.points > 0 and row.error.points >= ENOUGH * most_points(rows)


def ranked(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """The rows, the least factor first; those that predict too few of the points last."""
    return sorted(rows, key=lambda row: (not predicts_enough(row, rows), _factor(row)))


def best_row(rows: Sequence[ModelRow]) -> ModelRow | None:
    """The best of rows that were judged on the same points; None where none was judged on held-out points.

    Of models that are alike, one whose errors reject it comes last, and one that describes fewer of the measured
    patterns is no simpler form of one that describes more. Then the fewest fitted numbers decide, then a model's own
    method, then the lesser error.
    """
    judged = [row for row in rows if not row.in_sample and predicts_enough(row, rows)]
    if not judged:
        return None
    closest = min(judged, key=lambda row: (_factor(row), _mean_miss(row)))
    alike = [row for row in judged if row is closest or not is_surely_closer(closest, row)]
    return min(
        alike,
        key=lambda row: (
            quality_of(row.error) == "rejected",
            -row.patterns,
            row.parameters,
            _by_other(row),
            _factor(row),
        ),
    )


def best_rows(rows: Sequence[ModelRow]) -> tuple[ModelRow, ...]:
    """The best of each group of rows that were judged on the same points by the same statistic."""
    groups: dict[object, list[ModelRow]] = defaultdict(list)
    for row in rows:
        key = (row.operation, row.posting, row.statistic, row.held_out, frozenset(row.misses))
        groups[key].append(row)
    best = (best_row(group) for group in groups.values())
    return tuple(row for row in best if row is not None)


def is_surely_closer(row: ModelRow, other: ModelRow) -> bool:
    """Whether `row` predicts better than `other` on the points that both predict, beyond chance."""
    differences = np.concatenate(
        [
            other.misses[part] - row.misses[part]
            for part in row.misses
            if part in other.misses and other.misses[part].shape == row.misses[part].shape
        ]
        or [np.empty(0)]
    )
    known = differences[np.isfinite(differences)]
    if known.size < 2:
        return False
    error = float(known.std(ddof=1)) / math.sqrt(known.size)
    reach = float(stdtrit(known.size - 1, TAILS[1])) * error
    return float(known.mean()) > reach


def _factor(row: ModelRow) -> float:
    return row.error.mean_factor if row.error.points else math.inf


def _mean_miss(row: ModelRow) -> float:
    known = [miss[np.isfinite(miss)] for miss in row.misses.values()]
    return float(np.concatenate(known).mean()) if any(miss.size for miss in known) else math.inf


def _by_other(row: ModelRow) -> bool:
    """Whether another method than the model's own first one made the fit."""
    model = find_model(row.model)
    return model is None or row.method != next(iter(model.estimators), row.method)
