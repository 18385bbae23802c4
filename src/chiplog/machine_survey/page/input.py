"""What a survey's page is made of. All of it has been computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from datetime import datetime

    from chiplog.machine_survey.pair_values import FloatArray, Kind
    from chiplog.machine_survey.result import SurveyResult

QUANTITY_UNIT: dict[Kind, Literal["B/s", "s"]] = {"bandwidth": "B/s", "latency": "s"}


@dataclass(frozen=True)
class ShiftRow:
    """What a history says of a node's figure, in words."""

    node: str
    quantity: Kind
    verdict: str
    text: str


@dataclass(frozen=True, eq=False)
class NodeLines:
    """The figures of all nodes over the runs of a history, as relative changes from the median node."""

    quantity: Kind
    nodes: tuple[str, ...]
    changes: FloatArray
    """(runs, nodes) such as -0.05; NaN where a run lacks a node."""


@dataclass(frozen=True, eq=False)
class Months:
    """A history: when its runs were, what is said of the nodes, the worst first, and their figures."""

    folder: str
    times: tuple[datetime, ...]
    rows: tuple[ShiftRow, ...]
    lines: tuple[NodeLines, ...]


@dataclass(frozen=True)
class SurveyPage:
    """A survey, and the history that it belongs to where one is given."""

    result: SurveyResult
    created: str
    """When the survey was made: ISO 8601."""
    months: Months | None = None
    command: tuple[str, ...] = ()


def change_of(kind: Kind, slow: FloatArray) -> FloatArray:
    """Returns relative changes of a bandwidth or a latency from slowness in logarithms."""
    return np.expm1(slow if kind == "latency" else -slow)
