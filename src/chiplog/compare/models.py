"""Models on points that they were not fitted to: `chiplog compare RUN` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chiplog.compare.expression import parse_expression
from chiplog.compare.judged import Judged, fitted_part, judged_on
from chiplog.compare.pairs import pair_errors, pair_folds, pairs_held_out
from chiplog.compare.result import ModelRow
from chiplog.compare.split import Errors, Split, part
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.choice import of_pairs
from chiplog.fit.measured import REPLICATES, Measured
from chiplog.fit.parameters import is_fixed
from chiplog.fit.part import like_the_fit
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


@dataclass(frozen=True)
class _Judgement:
    """What models are judged on: the dataset, how points are held out, and the errors there."""

    dataset: Dataset
    held_out: Callable[[Dataset, str], Split]
    folds: Callable[[Dataset, int], list[Split]]
    dealt: str
    """What is dealt out to the folds."""
    errors: Callable[[Fit, Dataset, str, int], Errors]
    replicates: int = REPLICATES

    def splits(self, hold_out: str | None, folds: int) -> list[Split]:
        """The one split by the expression, or one for each fold."""
        if hold_out is not None:
            return [self.held_out(self.dataset, hold_out)]
        return self.folds(self.dataset, folds)


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

    `hold_out` is an expression (`message_bytes>65536`, `peers>8`, `pairs>8`); else the sizes are dealt out to `folds`
    folds (5), each held out in turn, and the errors of all folds make one row. Protocol changes are looked for in what
    is left only. All models of one pair are judged on the same quantity, the half round trip, since not all speak of
    more. Where peers are held out, or a model speaks of one process to many only, that quantity is RTT(p) instead, the
    folds are of numbers of peers, and these models are fitted to RTT(p) and post times only. Models of k pairs are
    judged on the half round trips of k pairs, of which sizes and numbers of pairs are dealt out.

    Raises UsageError for an expression that can't be read, holds out nothing or leaves too little, and as `fit` does.
    """
    if hold_out is not None and folds is not None:
        raise UsageError("--hold-out and --folds exclude each other; give one of them.")
    count = DEFAULT_FOLDS if folds is None else folds
    collected: dict[tuple[str, ...], tuple[_Judgement, list[tuple[Fit, Dataset]]]] = {}
    for names, judgement in _judgements(dataset, models, hold_out):
        for training, held in judgement.splits(hold_out, count):
            for found in fit(
                training,
                names,
                method=method,
                boundaries=boundaries,
                statistic=statistic,
                seed=seed,
                replicates=judgement.replicates,
            ):
                key = (found.model, found.method, found.operation, found.posting)
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


def _judgements(
    dataset: Dataset, models: Sequence[str], hold_out: str | None
) -> list[tuple[list[str], _Judgement]]:
    """The models of one process pair or of one to many, and those of k pairs, each with what they are judged on."""
    pairs = [name for name in models if of_pairs(name)]
    others = [name for name in models if name not in pairs]
    found = []
    if others:
        judged = judged_on(dataset, others, hold_out)
        judgement = _Judgement(
            fitted_part(dataset, judged),
            partial(_held_out, judged),
            partial(_folds, judged),
            judged.values_text,
            partial(_errors, judged),
            judged.replicates,
        )
        found.append((others, judgement))
    if pairs:
        judgement = _Judgement(dataset, pairs_held_out, pair_folds, "sizes and pairs", pair_errors)
        found.append((pairs, judgement))
    return found


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
        fits[0][0].operation,
        fits[0][0].posting,
    )


def _errors(judged: Judged, found: Fit, held: Dataset, statistic: str, seed: int) -> Errors:
    chosen = like_the_fit(held, found)
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
    derived = {"L_half", "n_half", "EEL", "f_argmin", "k_sat"}
    return sum(
        parameter.identified and symbol not in derived and not is_fixed(parameter)
        for segment in found.segments
        for symbol, parameter in segment.parameters.items()
    )


def _held_out(judged: Judged, dataset: Dataset, expression: str) -> Split:
    accepts = parse_expression(expression)
    held = part(dataset, accepts)
    training = part(dataset, lambda one: not accepts(one))
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


def _folds(judged: Judged, dataset: Dataset, folds: int) -> list[Split]:
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
            part(dataset, lambda one, k=fold: fold_of.get(judged.value(one)) != k),  # type: ignore[misc]
            part(dataset, lambda one, k=fold: fold_of.get(judged.value(one)) == k),  # type: ignore[misc]
        )
        for fold in range(folds)
    ]
