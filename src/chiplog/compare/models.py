"""Models on points that they were not fitted to: `chiplog compare RUN` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.compare.expression import parse_expression
from chiplog.compare.pairs import pair_errors, pair_folds, pairs_held_out
from chiplog.compare.result import ModelRow
from chiplog.compare.split import Errors, Split, part
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.measured import Measured, is_round_trip
from chiplog.fit.pairs.run import is_pair_model
from chiplog.fit.predictions import (
    HALF_ROUND_TRIP,
    fitted_predictor,
    measured_points,
    relative_errors,
    summarise,
)
from chiplog.fit.result import Fit
from chiplog.fit.run import Boundaries, fit
from chiplog.models.registry import load_model

DEFAULT_FOLDS = 5
FEWEST_TRAINING_SIZES = 3


@dataclass(frozen=True)
class _Judgement:
    """What models are judged on: how points are held out, and the errors there."""

    held_out: Callable[[Dataset, str], Split]
    folds: Callable[[Dataset, int], list[Split]]
    dealt: str
    """What is dealt out to the folds."""
    errors: Callable[[Fit, Dataset, str, int], Errors]

    def splits(self, dataset: Dataset, hold_out: str | None, folds: int) -> list[Split]:
        """The one split by the expression, or one for each fold."""
        return (
            [self.held_out(dataset, hold_out)]
            if hold_out is not None
            else self.folds(dataset, folds)
        )


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
    """The error of each model on half round trips that it was not fitted to.

    `hold_out` is an expression (`message_bytes>65536`, `pairs>8`); else the sizes are dealt out to `folds` folds (5),
    each held out in turn, and the errors of all folds make one row. Protocol changes are looked for in what is left
    only. All models of one pair are judged on the same quantity, the half round trip, since not all speak of more;
    models of k pairs on the half round trips of k pairs, of which sizes and numbers of pairs are dealt out.

    Raises UsageError for an expression that can't be read, holds out nothing or leaves too little, and as `fit` does.
    """
    if hold_out is not None and folds is not None:
        raise UsageError("--hold-out and --folds exclude each other; give one of them.")
    of_pairs = [name for name in models if is_pair_model(load_model(name))]
    of_one_pair = [name for name in models if name not in of_pairs]
    collected: dict[tuple[str, str], tuple[_Judgement, list[tuple[Fit, Dataset]]]] = {}
    count = DEFAULT_FOLDS if folds is None else folds
    for names, judgement in ((of_one_pair, _ONE_PAIR), (of_pairs, _PAIRS)):
        if not names:
            continue
        for training, held in judgement.splits(dataset, hold_out, count):
            for found in fit(
                training,
                names,
                method=method,
                boundaries=boundaries,
                statistic=statistic,
                seed=seed,
            ):
                key = (found.model, found.method)
                collected.setdefault(key, (judgement, []))[1].append((found, held))
    return tuple(
        _row(
            judgement,
            hold_out or f"each of {count} folds of {judgement.dealt} in turn",
            fits,
            statistic,
            seed,
        )
        for judgement, fits in collected.values()
    )


def _row(
    judgement: _Judgement,
    label: str,
    fits: Sequence[tuple[Fit, Dataset]],
    statistic: str,
    seed: int,
) -> ModelRow:
    errors = [judgement.errors(found, held, statistic, seed) for found, held in fits]
    return ModelRow(
        fits[0][0].model,
        fits[0][0].method,
        label,
        max(fitted_numbers(found) for found, _ in fits),
        summarise(
            np.concatenate([relative for relative, _ in errors]),
            np.concatenate([logarithmic for _, logarithmic in errors]),
        ),
    )


def _errors(found: Fit, held: Dataset, statistic: str, seed: int) -> Errors:
    measured = Measured(held.select(operation=found.operation), statistic, seed, replicates=2)
    return relative_errors(fitted_predictor(found), measured_points(measured, HALF_ROUND_TRIP))


def fitted_numbers(found: Fit) -> int:
    """How many numbers stand behind a fit's half round trips and trains, over all protocols."""
    if found.model == "plogp":
        return 1 + sum(
            one.message_bytes.size for one in found.curves if one.quantity != HALF_ROUND_TRIP
        )
    derived = {"L_half", "n_half", "EEL", "k_sat"}
    return sum(
        parameter.identified and symbol not in derived
        for segment in found.segments
        for symbol, parameter in segment.parameters.items()
    )


def _round_trip_sizes(dataset: Dataset) -> list[int]:
    return sorted({one.message_bytes for one in dataset.series if is_round_trip(one)})


def _held_out(dataset: Dataset, expression: str) -> Split:
    accepts = parse_expression(expression)
    held = part(dataset, accepts)
    training = part(dataset, lambda one: not accepts(one))
    sizes = _round_trip_sizes(dataset)
    if not _round_trip_sizes(held):
        raise UsageError(
            f"--hold-out: '{expression}' holds out no round trip; there are {len(sizes)} sizes"
            + (f" from {sizes[0]} to {sizes[-1]} B." if sizes else ".")
        )
    if len(_round_trip_sizes(training)) < FEWEST_TRAINING_SIZES:
        raise UsageError(
            f"--hold-out: '{expression}' leaves round trips of {len(_round_trip_sizes(training))} sizes; "
            f"a fit needs {FEWEST_TRAINING_SIZES}."
        )
    return training, held


def _folds(dataset: Dataset, folds: int) -> list[Split]:
    sizes = _round_trip_sizes(dataset)
    most = len(sizes) - FEWEST_TRAINING_SIZES
    if not 2 <= folds <= max(most, 1):
        raise UsageError(
            f"--folds: {folds} can't be met with round trips of {len(sizes)} sizes; it accepts 2 to {most}."
            if most >= 2
            else f"--folds: round trips of {len(sizes)} sizes are too few to hold some out; 5 are needed."
        )
    fold_of = {size: number % folds for number, size in enumerate(sizes)}
    return [
        (
            part(dataset, lambda one, k=fold: fold_of.get(one.message_bytes) != k),  # type: ignore[misc]
            part(dataset, lambda one, k=fold: fold_of.get(one.message_bytes) == k),  # type: ignore[misc]
        )
        for fold in range(folds)
    ]


_ONE_PAIR = _Judgement(_held_out, _folds, "sizes", _errors)
_PAIRS = _Judgement(pairs_held_out, pair_folds, "sizes and pairs", pair_errors)
