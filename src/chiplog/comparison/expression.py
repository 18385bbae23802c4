"""Which points are held out: by an expression such as `message_bytes>=64KiB and train==1`, or of k pairs by folds."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.fitting.choice import like_the_fit
from chiplog.fitting.pairs.fitting import round_trips
from chiplog.fitting.pairs.table import is_pair_point, pair_table
from chiplog.fitting.predictions.predictor import MeasuredPoints
from chiplog.fitting.result import Fit
from chiplog.outside import as_float

FEWEST_TRAINING_VALUES = 3
"""Derived: a line and its scatter need three."""
Split = tuple[Dataset, Dataset]
"""What is left for the fit, and what is held out."""


def part(dataset: Dataset, wanted: Callable[[Series], bool]) -> Dataset:
    """The series that `wanted` accepts, without the decision on changes that is stored with the whole run."""
    kept = tuple(series for series in dataset.series if wanted(series))
    return replace(dataset, series=kept, changes=None)


def divide(dataset: Dataset, held: Callable[[Series], bool]) -> Split:
    """The dataset without the series that `held` accepts, and these."""
    return part(dataset, lambda series: not held(series)), part(dataset, held)


FIELDS = ("message_bytes", "pairs", "peers", "train", "launch", "visit")
TAGS = ("hops", "distance")
"""What an imported record's tag says of how far the nodes of its pairs are apart."""
OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
LONGEST = 500
"""Given: characters of an expression."""
_TERM = re.compile(r"\s*([a-z_]+)\s*(<=|>=|==|!=|<|>)\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_expression(text: str) -> Callable[[Series], bool]:
    """What accepts a series if all terms of the expression hold for it.

    Raises UsageError that says what is accepted, for anything else.

    >>> accepts = parse_expression("message_bytes>64KiB")
    """
    if len(text) > LONGEST:
        raise UsageError(
            f"--hold-out: the expression is longer than {LONGEST} characters; give a shorter one."
        )
    terms = [_term(part, text) for part in re.split(r"\band\b|,|&&?", text)]
    return lambda series: all(holds(series) for holds in terms)


def _term(part: str, text: str) -> Callable[[Series], bool]:
    match = _TERM.fullmatch(part)
    number = as_float(match[3]) if match else None
    if (
        match is None
        or number is None
        or match[1] not in (*FIELDS, *TAGS)
        or match[4].upper() not in UNITS
    ):
        raise UsageError(
            f"--hold-out: '{text}' is not understood at '{part.strip()}'; it accepts terms such as "
            f"message_bytes>64KiB, joined by 'and', of {', '.join((*FIELDS, *TAGS))} with "
            f"{', '.join(OPERATORS)} and a number."
        )
    field, compare = match[1], OPERATORS[match[2]]
    value = number * UNITS[match[4].upper()]
    if field in FIELDS:
        return lambda series: compare(float(getattr(series, field)), value)
    return lambda series: _tag_holds(series.tag.get(field), compare, value)


def _tag_holds(tag: object, compare: Callable[[Any, Any], bool], value: float) -> bool:
    """Is a tag a number that compares so with `value`?"""
    return isinstance(tag, int | float) and compare(tag, value)


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
    """The largest number of folds that each hold out some sizes or numbers of pairs and leave others; it may be 0."""
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
