"""How well a run repeats: what no model of it can beat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.machine_state.states import GRID, states_in


@dataclass(frozen=True)
class Repeatability:
    """Median relative differences of two visits of a size in one state of the machine; None where none are known."""

    half_round_trip: float | None
    train: float | None
    """Of undelayed trains, PRTT(n, 0, s) with n > 1."""


def repeatability(dataset: Dataset) -> Repeatability:
    """How far two visits of a size in the run's main state lie apart, |a - b| / mean, for medians of visits.

    Each size counts once, with the median over all pairs of its visits, of one launch or of two; the result is the
    median over the sizes. Only points of the grid count, unless the dataset names none.
    """
    state = states_in(dataset).of_record
    main = [series for series in dataset.series if state.get(series.record_id, 0) == 0]
    grid = [series for series in main if series.tag.get("purpose") == GRID] or main
    undelayed = [
        series
        for series in grid
        if series.pattern in ("prtt", "ping_pong") and series.delay_seconds == 0.0
    ]
    return Repeatability(
        _difference([series for series in undelayed if series.train == 1]),
        _difference([series for series in undelayed if series.train > 1]),
    )


def _difference(members: Sequence[Series]) -> float | None:
    visits: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for series in members:
        point = (
            series.pattern,
            series.operation,
            series.posting,
            series.message_bytes,
            series.train,
        )
        visits[point].append(series.median)
    of_sizes = [
        np.median([abs(a - b) / (0.5 * (a + b)) for a, b in combinations(medians, 2)])
        for medians in visits.values()
        if len(medians) > 1 and min(medians) > 0.0
    ]
    return float(np.median(of_sizes)) if of_sizes else None
