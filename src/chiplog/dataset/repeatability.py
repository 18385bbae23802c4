"""How well a run repeats: what no model of it can beat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.dataset.states import GRID, states_in


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
    mine = [one for one in dataset.series if state.get(one.record_id, 0) == 0]
    grid = [one for one in mine if one.tag.get("purpose") == GRID] or mine
    undelayed = [one for one in grid if one.pattern in _ROUND_TRIPS and one.delay_seconds == 0.0]
    return Repeatability(
        _difference([one for one in undelayed if one.train == 1]),
        _difference([one for one in undelayed if one.train > 1]),
    )


_ROUND_TRIPS = ("prtt", "ping_pong")


def _difference(series: Sequence[Series]) -> float | None:
    visits: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for one in series:
        visits[one.pattern, one.operation, one.posting, one.message_bytes, one.train].append(
            one.median
        )
    of_sizes = [
        np.median([abs(a - b) / (0.5 * (a + b)) for a, b in combinations(medians, 2)])
        for medians in visits.values()
        if len(medians) > 1 and min(medians) > 0.0
    ]
    return float(np.median(of_sizes)) if of_sizes else None
