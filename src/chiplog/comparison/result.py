"""What comparisons return, and its JSON (chiplog.comparison/1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.request import LeftOut
from chiplog.fitting.result import Fit, FitError
from chiplog.json_values import members, plain

SCHEMA = "chiplog.comparison/1"
IN_SAMPLE = "nothing (in-sample)"
"""What is printed where nothing was held out."""


@dataclass(frozen=True)
class ModelRow:
    """How far off one model is on half round trips, or round trips to many peers, that it was not fitted to.

    `held_out` says which points these are; it is empty where there were too few to hold some out, so that the model
    was judged on the points that it was fitted to. `parameters` counts the numbers that were fitted, over all regimes
    (of folds: the most).
    """

    model: str
    method: str
    held_out: str
    parameters: int
    error: FitError
    statistic: str = "median"
    """What stands for a series, on both sides: median, minimum or mean."""
    operation: str = "send"
    posting: str = "normal"
    repeatability: float | None = None
    """Median relative difference of two visits of a size in one state of the machine; None where it is unknown."""
    inside_prediction_interval: float | None = None
    """Share of the measured medians within the 95 % prediction interval; None for a model that has none."""
    patterns: int = 0
    """How many of the measured kinds of exchange (messages alone, trains, post times, ...) the model describes."""
    misses: Mapping[object, NDArray[np.float64]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """|ln(predicted / measured)| of each held-out point, by fold and part of the run; NaN without a prediction."""

    def judges(self, fit: Fit) -> bool:
        """Whether the row is about that fit."""
        judged = (self.model, self.method, self.statistic, self.operation, self.posting)
        return judged == (fit.model, fit.method, fit.statistic, fit.operation, fit.posting)

    @property
    def in_sample(self) -> bool:
        """Whether the model was judged on the points that it was fitted to."""
        return not self.held_out


@dataclass(frozen=True)
class ModelRows:
    """A comparison of models: a row each, and the models that have nothing to say, with the reason."""

    rows: tuple[ModelRow, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, order=True)
class Compared:
    """What the times of one row have in common, beside the size."""

    pattern: str
    operation: str
    posting: str = "normal"
    direction: str = "round-trip"
    train: int = 1
    pairs: int = 1
    peers: int = 1
    placement: str = ""
    """How the ranks were bound; empty where both runs know of one way only."""

    @property
    def label(self) -> str:
        """The pattern with what is not usual about it.

        >>> Compared("pairs", "send", direction="one-way").label
        'pairs, one-way'
        >>> Compared("allreduce", "in-place", direction="call").label
        'allreduce, in-place'
        """
        operation = "" if self.operation == "send" else self.operation
        posting = "" if self.posting == "normal" else self.posting
        one_way = self.direction if (self.pattern, self.direction) == ("pairs", "one-way") else ""
        parts = (self.pattern, operation, posting, one_way, self.placement)
        return ", ".join(filter(None, parts))


@dataclass(frozen=True)
class RatioRange:
    """Sizes that differ alike between two runs: their common ratio with its interval."""

    first_bytes: int
    last_bytes: int
    rows: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class RunRow:
    """How one time of run B compares with that of run A.

    `ratio` is B's time over A's, the geometric mean of each over visits. The interval and the `verdict` are those of
    the `range` of sizes that the row follows, if there is one, else its own; `verdict` is about B: `faster`, `slower`,
    `same` or `unclear`. `message_bytes` is None in the last row, over all patterns and sizes.
    """

    what: Compared
    message_bytes: int | None
    ratio: float
    low: float
    high: float
    verdict: str
    reason: str
    range: RatioRange | None = None

    @property
    def level(self) -> float:
        """The ratio that the verdict is about: that of the range, if there is one."""
        return self.ratio if self.range is None else self.range.ratio


def model_row_to_json(row: ModelRow, best: Sequence[ModelRow] = ()) -> dict[str, object]:
    """One row of `compare RUN --json`; `best` are the best of all rows."""
    errors = members(row.error, "mean_relative", "median_relative", "max_relative")
    return {
        **members(row, "model", "method", "operation", "posting"),
        "held_out": row.held_out or None,
        "points": row.error.points,
        **{f"{name}_error": error for name, error in errors.items()},
        **members(row.error, "mean_factor"),
        **members(row, "repeatability", "inside_prediction_interval", "parameters"),
        "best": any(row is model_row for model_row in best),
    }


def run_row_to_json(row: RunRow) -> dict[str, object]:
    """One row of `compare RUN_A RUN_B --json`."""
    about: dict[str, object] = plain(row)
    return {**plain(row.what), **{name: about[name] for name in about if name != "what"}}


def comparison_to_json(
    rows: Sequence[ModelRow | RunRow],
    left_out: Sequence[LeftOut] = (),
    best: Sequence[ModelRow] = (),
) -> dict[str, object]:
    """The document of either comparison.

    `left_out` are models that have nothing to say, `best` the best of the rows.
    """
    return {
        "schema": SCHEMA,
        "rows": [
            model_row_to_json(row, best) if isinstance(row, ModelRow) else run_row_to_json(row)
            for row in rows
        ],
        "left_out": plain(left_out),
    }
