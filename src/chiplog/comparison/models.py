"""Models on points that they were not fitted to: `chiplog compare RUN` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.comparison.changes_left import changes_left
from chiplog.comparison.expression import (
    FEWEST_TRAINING_VALUES,
    Split,
    most_pair_folds,
    pair_folds,
    pair_points,
    pairs_held_out,
    parse_expression,
    part,
)
from chiplog.comparison.judged import (
    HeldOutPoints,
    default_models,
    fitted_part,
    in_shown_state,
    judged_on,
)
from chiplog.comparison.result import ModelRow, ModelRows
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.choice import like_the_fit, of_pairs
from chiplog.fitting.estimates.parameters import is_fixed
from chiplog.fitting.fit import fit_all
from chiplog.fitting.predictions.predictor import (
    HALF_ROUND_TRIP,
    NO_POINTS,
    MeasuredPoints,
    count_numbers,
    has_tables,
    log_misses,
    predictor,
    relative_errors,
)
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.settings import REPLICATES
from chiplog.fitting.request import Boundaries, FitRequest, LeftOut
from chiplog.fitting.result import FREE, Fit, Segment, summarise
from chiplog.machine_state.repeatability import repeatability
from chiplog.machine_state.states import states_in
from chiplog.models.registry import load_model
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes

DEFAULT_FOLDS = 5
"""Given: as is usual."""
SUMS = {"L_half": {"L"}, "G_half": {"G", "O_s", "O_r"}}
"""Parameters that are sums, and which others, where they are identified, tell that it was taken apart."""


@dataclass(frozen=True)
class _Judgement:
    """What models are judged on: the dataset, how points are held out, and what was measured of these."""

    dataset: Dataset
    held_out: Callable[[Dataset, str], Split]
    folds: Callable[[Dataset, int], list[Split]]
    most_folds: Callable[[Dataset], int]
    dealt: str
    """What is dealt out to the folds."""
    points: Callable[[Fit, Dataset, str], MeasuredPoints]
    """Of what was held out, by the statistic: what the fit is asked for."""
    replicates: int = REPLICATES
    by_size: bool = False
    """Whether points are half round trips over the size, so that protocol changes of one pair's messages matter."""
    _asked: dict[tuple[object, ...], MeasuredPoints] = field(default_factory=dict)

    @cached_property
    def repeatability(self) -> float | None:
        """Of half round trips over the size; None for other points."""
        return repeatability(self.dataset).half_round_trip if self.by_size else None

    def asked(self, found: Fit, held: Dataset, statistic: str) -> MeasuredPoints:
        """What a fit is asked for of what was held out; the same for all models."""
        of_what = (found.operation, found.posting, found.placement, found.between, found.convention)
        key = (id(held), of_what)
        if key not in self._asked:
            self._asked[key] = self.points(found, held, statistic)
        return self._asked[key]

    def splits(self, hold_out: str | int | None) -> tuple[str, list[Split]]:
        """What is held out, in words, and the splits: one by the expression, or one for each of so many folds.

        By default there are as many folds as there can be, five at most; none are held out where two are too many.
        """
        if isinstance(hold_out, str):
            return hold_out, [self.held_out(self.dataset, hold_out)]
        most = self.most_folds(self.dataset)
        if hold_out is None and most < 2:
            return "", [(self.dataset, self.dataset)]
        count = min(DEFAULT_FOLDS, most) if hold_out is None else hold_out
        label = f"each of {count} folds of {self.dealt} in turn"
        return label, self.folds(self.dataset, count)

    def boundaries(self, boundaries: Boundaries) -> Callable[[Dataset], Boundaries]:
        """The boundaries that a fit to a part of the dataset may know, from those of the whole."""
        if boundaries == "auto" and self.by_size and len(self.dataset.by_way()) == 1:
            consensus = find_changes(self.dataset).consensus
            boundaries = tuple(change for change in consensus if change.kind != "slope")
        if boundaries is None or boundaries == "auto":
            return lambda _: boundaries
        changes = [boundary for boundary in boundaries if isinstance(boundary, Change)]
        if not changes:
            return lambda _: boundaries
        return lambda training: changes_left(changes, self.dataset, training)


@dataclass(frozen=True)
class _HeldOut:
    """A fit to what one fold leaves, and what was held out."""

    fold: int
    fit: Fit
    held: Dataset

    @property
    def part(self) -> object:
        """Which points it is judged on: the same for all models."""
        return self.fold, self.fit.placement, self.fit.between, self.fit.convention


def compare_models(
    dataset: Dataset, models: Sequence[str] | None = None, **options: Any
) -> tuple[ModelRow, ...]:
    """The rows of `judge_models`, with its options: a model that has nothing to say has none.

    Raises UsageError as `judge_models` does, and where no model has anything to say.
    """
    judged = judge_models(dataset, models, **options)
    if not judged.rows:
        raise nothing_to_compare(dataset, judged)
    return judged.rows


def nothing_to_compare(dataset: Dataset, judged: ModelRows) -> UsageError:
    """The error where no model has anything to say about what was measured."""
    if judged.left_out:
        return UsageError(judged.left_out[0].sentence)
    patterns = ", ".join(dict.fromkeys(series.pattern for series in dataset.series)) or "nothing"
    return UsageError(f"{dataset.source}: no model predicts what was measured ({patterns}).")


def judge_models(
    dataset: Dataset,
    models: Sequence[str] | None = None,
    *,
    hold_out: str | int | None = None,
    method: str | None = None,
    boundaries: Boundaries = "auto",
    statistic: str = "median",
) -> ModelRows:
    """The error of each model on half round trips, or round trips to many peers, that it was not fitted to.

    `models` None takes all that describe something in the dataset. `hold_out` is an expression
    (`message_bytes>65536`, `peers>8`, `pairs>8`), or the number of folds that the sizes are dealt out to, each held out
    in turn; the errors of all folds make one row. By default there are 5, or as many as there are points for; where
    even two are too many, models are judged on the points that they were fitted to, and the rows say so. Fits know the
    protocol changes that are certain without what is held out (`changes_left`); `boundaries` are those of the whole
    dataset, which "auto" finds.

    All models of one pair are judged on the same quantity, the half round trip, since not all describe more. Where
    peers are held out, or a model describes one process to many only, that quantity is RTT(p) instead, the folds are of
    numbers of peers, and these models are fitted to RTT(p) and post times only. Models of k pairs are judged on the
    half round trips of k pairs, of which sizes and numbers of pairs are dealt out.

    A model that has nothing to say about what is left is left out, with the reason.

    Raises UsageError for an expression that can't be read, holds out nothing or leaves too little, and for an unknown
    model or method.
    """
    dataset = replace(dataset, states=states_in(dataset))
    chosen = default_models(dataset) if models is None else models
    judgements, left_out = _judgements(dataset, chosen, hold_out)
    rows: list[ModelRow] = []
    for names, judgement in judgements:
        request = FitRequest(names, method, boundaries, statistic, replicates=judgement.replicates)
        judged = _judged(judgement, request, hold_out)
        rows += judged.rows
        known = {(row.model, row.method) for row in rows}
        left_out += [row for row in judged.left_out if (row.model, row.method) not in known]
    described = (replace(row, patterns=_described(dataset, row.model)) for row in rows)
    return ModelRows(tuple(described), tuple(left_out))


def _judged(judgement: _Judgement, request: FitRequest, hold_out: str | int | None) -> ModelRows:
    """The rows of the models of `request`, and those that one fold or another left out, each once."""
    label, splits = judgement.splits(hold_out)
    boundaries_left = judgement.boundaries(request.boundaries)
    by_model: dict[tuple[str, ...], list[_HeldOut]] = {}
    refused: dict[tuple[str, str | None], LeftOut] = {}
    for fold, (training, held) in enumerate(splits):
        outcome = fit_all(training, replace(request, boundaries=boundaries_left(training)))
        refused |= {(refusal.model, refusal.method): refusal for refusal in outcome.left_out}
        for fit in outcome.fits:
            key = (fit.model, fit.method, fit.operation, fit.posting)
            by_model.setdefault(key, []).append(_HeldOut(fold, fit, held))
    rows = (_row(judgement, label, fits, request.statistic) for fits in by_model.values())
    return ModelRows(tuple(rows), tuple(refused.values()))


def _judgements(
    dataset: Dataset, models: Sequence[str], hold_out: str | int | None
) -> tuple[list[tuple[list[str], _Judgement]], list[LeftOut]]:
    """The models of one process pair or of one to many, and those of k pairs, each with what they are judged on.

    Also the models that say nothing about it.
    """
    pairs = [name for name in models if of_pairs(name)]
    others = [name for name in models if name not in pairs]
    judgements = []
    left_out: list[LeftOut] = []
    if others:
        judged, others, left_out = judged_on(
            dataset, others, hold_out if isinstance(hold_out, str) else None
        )
    if others:
        judgement = _Judgement(
            fitted_part(dataset, judged),
            partial(_held_out, judged),
            partial(_folds, judged),
            partial(_most_folds, judged),
            judged.values_text,
            partial(_points, judged),
            judged.replicates,
            judged.by_size,
        )
        judgements.append((others, judgement))
    if pairs:
        judgement = _Judgement(
            dataset, pairs_held_out, pair_folds, most_pair_folds, "sizes and pairs", pair_points
        )
        judgements.append((pairs, judgement))
    return judgements, left_out


def _row(
    judgement: _Judgement,
    label: str,
    fits: Sequence[_HeldOut],
    statistic: str,
) -> ModelRow:
    asked = [(fit.fit, judgement.asked(fit.fit, fit.held, statistic)) for fit in fits]
    errors = [relative_errors(predictor(fit), points) for fit, points in asked]
    relative, logarithmic = (np.concatenate(column) for column in zip(*errors, strict=True))
    inside = (
        [_inside(*fit_and_points) for fit_and_points in asked]
        if judgement.by_size and label
        else []
    )
    known = np.concatenate(inside) if inside else np.empty(0)
    first = fits[0].fit
    return ModelRow(
        first.model,
        first.method,
        label,
        max(fitted_numbers(fit.fit) for fit in fits),
        summarise(relative, logarithmic),
        statistic,
        first.operation,
        first.posting,
        repeatability=judgement.repeatability,
        inside_prediction_interval=float(known.mean()) if known.size else None,
        misses={
            fit.part: log_misses(predictor(fitted), points)
            for fit, (fitted, points) in zip(fits, asked, strict=True)
        },
    )


def _described(dataset: Dataset, name: str) -> int:
    """How many of the measured kinds of exchange a model describes."""
    model = load_model(name)
    measured = {(series.pattern, series.train > 1) for series in dataset.series}
    return sum(
        pattern in model.patterns and not (is_train and model.single_messages)
        for pattern, is_train in measured
    )


def _inside(fit: Fit, asked: MeasuredPoints) -> NDArray[np.float64]:
    """1 for each held-out half round trip within its prediction interval, 0 for the others; empty without intervals."""
    band = fit.band(HALF_ROUND_TRIP)
    if band is None or not asked.seconds.size:
        return np.empty(0)
    predicted = predictor(fit)(asked.points)
    known = np.isfinite(predicted) & (predicted > 0)
    off = np.abs(asked.seconds[known] / predicted[known] - 1.0)
    return np.asarray(off <= band.at(asked.points.message_bytes[known]), dtype=np.float64)


def _points(judged: HeldOutPoints, fit: Fit, held: Dataset, statistic: str) -> MeasuredPoints:
    chosen = like_the_fit(part(held, judged.is_point), fit)
    if not chosen.series:
        return NO_POINTS
    measured = MeasuredSeries(
        chosen, statistic, seed=0, replicates=2
    )  # its values alone are asked for
    return judged.points(measured, fit.operation)


def fitted_numbers(found: Fit) -> int:
    """How many numbers stand behind a fit's half round trips and trains, over all protocols."""
    model = load_model(found.model)
    if has_tables(model):
        return count_numbers(model, found.curves)
    return sum(len(_fitted_symbols(segment)) for segment in found.segments)


def _fitted_symbols(segment: Segment) -> set[str]:
    """What was fitted: not what follows from other parameters, which are known then."""
    known = {
        symbol
        for symbol, parameter in segment.parameters.items()
        if parameter.identified and not is_fixed(parameter)
    }
    follows = {symbol for symbol, parts in SUMS.items() if parts <= known}
    if segment.form == FREE:
        follows.discard("G_half")
    return known - follows - {"n_half", "EEL", "f_argmin", "k_sat"}


def _held_out(judged: HeldOutPoints, dataset: Dataset, expression: str) -> Split:
    accepts = parse_expression(expression)
    held = part(in_shown_state(dataset), accepts)
    training = part(dataset, lambda series: not accepts(series))
    values, training_values = judged.values(dataset), judged.values(training)
    if not judged.values(held):
        raise UsageError(
            f"--hold-out: '{expression}' holds out no round trip; there are {len(values)} {judged.values_text}"
            + (f" from {values[0]} to {values[-1]}{judged.unit}." if values else ".")
        )
    if len(training_values) < FEWEST_TRAINING_VALUES:
        raise UsageError(
            f"--hold-out: '{expression}' leaves round trips of {len(training_values)} {judged.values_text}; "
            f"a fit needs {FEWEST_TRAINING_VALUES}."
        )
    return training, held


def _most_folds(judged: HeldOutPoints, dataset: Dataset) -> int:
    return len(judged.values(dataset)) - FEWEST_TRAINING_VALUES


def _folds(judged: HeldOutPoints, dataset: Dataset, folds: int) -> list[Split]:
    values, text = judged.values(dataset), judged.values_text
    most = _most_folds(judged, dataset)
    if not 2 <= folds <= max(most, 1):
        raise UsageError(
            f"--folds: {folds} can't be met with round trips of {len(values)} {text}; it accepts 2 to {most}."
            if most >= 2
            else f"--folds: round trips of {len(values)} {text} are too few to hold some out; 5 are needed."
        )
    fold_of = {value: number % folds for number, value in enumerate(values)}
    shown = in_shown_state(dataset)
    return [
        (
            part(dataset, lambda series, k=fold: fold_of.get(judged.value(series)) != k),  # type: ignore[misc]
            part(shown, lambda series, k=fold: fold_of.get(judged.value(series)) == k),  # type: ignore[misc]
        )
        for fold in range(folds)
    ]
