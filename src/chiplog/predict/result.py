"""Predictions, and their JSON of the schema chiplog.prediction/1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
    """`fastest`, `unclear` where several may be that, `slower`; `bound` of the lower bound."""
    rejected: str | None = None
    """Why the fit's own check rejects it, where it was used all the same; None of a fit that stands."""


def predictions_to_json(rows: Sequence[Prediction]) -> dict[str, Any]:
    """The object of the schema chiplog.prediction/1."""
    return {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}
