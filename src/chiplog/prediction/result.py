"""Predictions, and their JSON of the schema chiplog.prediction/1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chiplog.json_values import plain
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import Correction
from chiplog.prediction.error_table import ErrorShare

SCHEMA = "chiplog.prediction/1"
LOWER_BOUND = "lower-bound"


@dataclass(frozen=True)
class Prediction:
    """How long one algorithm takes, in seconds, with a 95 % interval from that of the fit's parameters."""

    operation: str
    algorithm: str
    """Its name, or `lower-bound`."""
    ranks: int
    bytes: int
    peers: int | None
    seconds: float
    low: float
    high: float
    extrapolated: bool
    reason: str | None
    """What was not measured, where it is extrapolated."""
    model: str
    method: str
    """`closed-form`, `simulation`, or `bound`."""
    verdict: str
    """`fastest`, `unclear` where several may be that, `slower`; `same` where all surely take the same time, `only`
    where there is no other algorithm to compare with; `bound` of the lower bound.
    """
    rejected: str | None = None
    """Why the fit's own check rejects it, where it was used all the same; None of a fit that stands."""
    convention: TimeConvention = TimeConvention.COMMON_START
    """Which time it is."""
    longest_seconds: float | None = None
    """Where the time is a mean over ranks: the longest of them."""
    correction: Correction | None = None
    """What anchors made of the model's time."""
    errors: ErrorShare | None = None
    """What a table of errors added to the interval."""


def with_verdicts(rows: Sequence[Prediction], slower: Sequence[bool]) -> list[Prediction]:
    """The rows with `slower` for those that lose; what remains is fastest if it is alone, else unclear.

    A row without another is `only`, and rows that take no time, as those of a single rank, are the `same`.
    """
    if len(rows) == 1 or not any(row.high for row in rows):
        return [replace(row, verdict="only" if len(rows) == 1 else "same") for row in rows]
    verdict = "fastest" if sum(slower) == len(rows) - 1 else "unclear"
    return [
        replace(row, verdict="slower" if is_slower else verdict)
        for row, is_slower in zip(rows, slower, strict=True)
    ]


def predictions_to_json(rows: Sequence[Prediction]) -> dict[str, Any]:
    """The object of the schema chiplog.prediction/1."""
    return {"schema": SCHEMA, "rows": [_row_to_json(row) for row in rows]}


def _row_to_json(row: Prediction) -> dict[str, Any]:
    """The members by their names; `as` is the convention."""
    members: dict[str, Any] = plain(row)
    return {"as" if name == "convention" else name: value for name, value in members.items()}
