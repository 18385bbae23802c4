"""Models on points that they were not fitted to: `chiplog compare RUN` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.compare.expression import parse_expression
from chiplog.compare.judged import Judged, fitted_part, judged_on
from chiplog.compare.result import ModelRow
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.fit.measured import Measured
from chiplog.fit.predictions import (
    HALF_ROUND_TRIP,
    fitted_predictor,
    relative_errors,
    summarise,
)
from chiplog.fit.result import Fit
from chiplog.fit.run import Boundaries, fit

DEFAULT_FOLDS = 5
FEWEST_TRAINING_VALUES = 3

Split = tuple[Dataset, Dataset]


def compare_models(
    dataset: Dataset,
    models: Sequence[str],
    *,
    hold_out: str | None = None,
    folds: int | None = None,
    method: str | None = None,
    boundaries: Boundaries = "auto",
    statistic: str = "median",
    seed: int = 0,
) -> tuple[ModelRow, ...]:
    """The error of each model on half round trips, or round trips to many peers, that it was not fitted to.

    `hold_out` is an expression (`message_bytes>65536`, `peers>8`); else the sizes are dealt out to `folds` folds (5),
    each held out in turn, and the errors of all folds make one row. Protocol changes are looked for in what is left
    only. All models are judged on the same quantity, the half round trip, since not all speak of more. Where peers are
    held out, or a model speaks of one process to many only, that quantity is RTT(p) instead, the folds are of numbers
    of peers, and all models are fitted to RTT(p) and post times only.

    Raises UsageError for an expression that can't be read, holds out nothing or leaves too little, and as `fit` does.
    """
    if hold_out is not None and folds is not None:
        raise UsageError("--hold-out and --folds exclude each other; give one of them.")
    judged = judged_on(dataset, models, hold_out)
    dataset = fitted_part(dataset, judged)
    if hold_out is not None:
        splits, label = [_held_out(dataset, judged, hold_out)], hold_out
    else:
        count = DEFAULT_FOLDS if folds is None else folds
        splits = _folds(dataset, judged, count)
        label = f"each of {count} folds of {judged.values_text} in turn"
    collected: dict[tuple[str, str], list[tuple[Fit, Dataset]]] = {}
    for training, held in splits:
        fits = fit(
            training, models, method=method, boundaries=boundaries, statistic=statistic, seed=seed
        )
        for found in fits:
            collected.setdefault((found.model, found.method), []).append((found, held))
    return tuple(
        _row(judged, model, name, label, pairs, statistic, seed)
        for (model, name), pairs in collected.items()
    )


def _row(
    judged: Judged,
    model: str,
    method: str,
    label: str,
    pairs: Sequence[tuple[Fit, Dataset]],
    statistic: str,
    seed: int,
) -> ModelRow:
    errors = [_errors(judged, found, held, statistic, seed) for found, held in pairs]
    return ModelRow(
        model,
        method,
        label,
        max(fitted_numbers(found) for found, _ in pairs),
        summarise(
            np.concatenate([relative for relative, _ in errors]),
            np.concatenate([logarithmic for _, logarithmic in errors]),
        ),
    )


def _errors(
    judged: Judged, found: Fit, held: Dataset, statistic: str, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    chosen = held.select(operation=found.operation)
    if not judged.values(chosen):
        return np.empty(0), np.empty(0)
    measured = Measured(chosen, statistic, seed, replicates=2)
    return relative_errors(fitted_predictor(found), judged.points(measured, found.operation))


def fitted_numbers(found: Fit) -> int:
    """How many numbers stand behind a fit's half round trips and trains, over all protocols."""
    if found.model == "plogp":
        return 1 + sum(
            one.message_bytes.size for one in found.curves if one.quantity != HALF_ROUND_TRIP
        )
    derived = {"L_half", "n_half", "EEL", "f_argmin"}
    return sum(
        parameter.identified and symbol not in derived
        for segment in found.segments
        for symbol, parameter in segment.parameters.items()
    )


def _part(dataset: Dataset, wanted: Callable[[Series], bool]) -> Dataset:
    chosen = tuple(one for one in dataset.series if wanted(one))
    return Dataset(dataset.header, chosen, dataset.complete, dataset.source)


def _held_out(dataset: Dataset, judged: Judged, expression: str) -> Split:
    accepts = parse_expression(expression)
    held = _part(dataset, accepts)
    training = _part(dataset, lambda one: not accepts(one))
    values, left = judged.values(dataset), judged.values(training)
    if not judged.values(held):
        raise UsageError(
            f"--hold-out: '{expression}' holds out no round trip; there are {len(values)} {judged.values_text}"
            + (f" from {values[0]} to {values[-1]}{judged.unit}." if values else ".")
        )
    if len(left) < FEWEST_TRAINING_VALUES:
        raise UsageError(
            f"--hold-out: '{expression}' leaves round trips of {len(left)} {judged.values_text}; "
            f"a fit needs {FEWEST_TRAINING_VALUES}."
        )
    return training, held


def _folds(dataset: Dataset, judged: Judged, folds: int) -> list[Split]:
    values, text = judged.values(dataset), judged.values_text
    most = len(values) - FEWEST_TRAINING_VALUES
    if not 2 <= folds <= max(most, 1):
        raise UsageError(
            f"--folds: {folds} can't be met with round trips of {len(values)} {text}; it accepts 2 to {most}."
            if most >= 2
            else f"--folds: round trips of {len(values)} {text} are too few to hold some out; 5 are needed."
        )
    fold_of = {value: number % folds for number, value in enumerate(values)}
    return [
        (
            _part(dataset, lambda one, k=fold: fold_of.get(judged.value(one)) != k),  # type: ignore[misc]
            _part(dataset, lambda one, k=fold: fold_of.get(judged.value(one)) == k),  # type: ignore[misc]
        )
        for fold in range(folds)
    ]
