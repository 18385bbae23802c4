"""Which points are held out: expressions such as `message_bytes>65536` or `message_bytes>=64KiB and train==1`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
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


def parse_expression(text: str, option: str = "--hold-out") -> Callable[[Series], bool]:
    """What accepts a series if all terms of the expression hold for it.

    Raises UsageError, naming `option` and what it accepts, for anything else.

    >>> accepts = parse_expression("message_bytes>64KiB")
    """
    if len(text) > LONGEST:
        raise UsageError(
            f"{option}: the expression is longer than {LONGEST} characters; give a shorter one."
        )
    terms = [_term(part, text, option) for part in re.split(r"\band\b|,|&&?", text)]
    return lambda series: all(holds(series) for holds in terms)


def _term(part: str, text: str, option: str) -> Callable[[Series], bool]:
    match = _TERM.fullmatch(part)
    number = as_float(match[3]) if match else None
    if (
        match is None
        or number is None
        or match[1] not in (*FIELDS, *TAGS)
        or match[4].upper() not in UNITS
    ):
        raise UsageError(
            f"{option}: '{text}' is not understood at '{part.strip()}'; it accepts terms such as "
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
