"""Which points of k pairs are held out, and what was measured there."""

from __future__ import annotations

from chiplog.comparison.expression import FEWEST_TRAINING_VALUES, Split, divide, parse_expression
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.pairs.fitting import round_trips
from chiplog.fitting.pairs.table import is_pair_point, pair_table
from chiplog.fitting.part import like_the_fit
from chiplog.fitting.predictions.predictor import MeasuredPoints
from chiplog.fitting.result import Fit


def pair_points(found: Fit, held: Dataset, statistic: str) -> MeasuredPoints:
    """The measured round trips of k pairs in `held`, in seconds, that `found` can predict."""
    return round_trips(pair_table(like_the_fit(held, found), statistic))


def pairs_held_out(dataset: Dataset, expression: str) -> Split:
    """The split by an expression; UsageError where it holds out no point of k pairs, or all of them."""
    split = divide(dataset, parse_expression(expression))
    training, held = (sum(map(is_pair_point, half.series)) for half in split)
    if not held:
        pairs = sorted({series.pairs for series in dataset.series if is_pair_point(series)})
        raise UsageError(
            f"--hold-out: '{expression}' holds out no point of the pattern pairs; "
            + (f"they have {pairs[0]} to {pairs[-1]} pairs." if pairs else "there are none.")
        )
    if not training:
        raise UsageError(
            f"--hold-out: '{expression}' leaves no point of the pattern pairs to fit to."
        )
    return split


def most_pair_folds(dataset: Dataset) -> int:
    """The most folds that each have some of the sizes or numbers of pairs, and leave some; 0 where there are none."""
    sizes, pairs = _dealt(dataset)
    if min(len(sizes), len(pairs)) < 2:
        return max(len(sizes) * len(pairs) - FEWEST_TRAINING_VALUES, 0)
    return max(len(sizes), len(pairs))


def pair_folds(dataset: Dataset, folds: int) -> list[Split]:
    """Each (size, k) in one of `folds` folds, so that each fold has all sizes and all k where there are enough."""
    sizes, pairs = _dealt(dataset)
    most = most_pair_folds(dataset)
    if not 2 <= folds <= most:
        raise UsageError(
            f"--folds: {folds} can't be met with {len(sizes)} sizes and {len(pairs)} numbers of pairs; "
            + (f"it accepts 2 to {most}." if most >= 2 else "there are too few to hold some out.")
        )
    fold_of = {
        (size, count): (row + column) % folds
        for row, size in enumerate(sizes)
        for column, count in enumerate(pairs)
    }
    return [
        divide(dataset, lambda point, k=fold: fold_of.get((point.message_bytes, point.pairs)) == k)  # type: ignore[misc]
        for fold in range(folds)
    ]


def _dealt(dataset: Dataset) -> tuple[list[int], list[int]]:
    """The sizes in bytes and the numbers of pairs, ascending."""
    measured = [series for series in dataset.series if is_pair_point(series)]
    return sorted({series.message_bytes for series in measured}), sorted(
        {series.pairs for series in measured}
    )
