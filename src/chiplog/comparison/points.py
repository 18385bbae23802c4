"""The series of two runs as points: what is compared, when it was measured, and the logarithm of what it took."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.comparison.result import Compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Series

Key = tuple[Compared, int]
"""What a row compares, and its size in bytes."""


@dataclass(frozen=True)
class SeriesPoint:
    """One series of a row: its place in the order of time, and the natural logarithm of its duration in seconds."""

    key: Key
    place: int
    launch: int
    log: float


Rows = dict[Key, list[SeriesPoint]]
"""The points of a run, each row's in the order of time."""


def rows_of(run: Dataset, key_of: Callable[[Series], Key], statistic: str) -> Rows:
    """The points of a run by what they are compared as; `statistic` names how a series becomes one value."""
    rows: Rows = defaultdict(list)
    for place, series in enumerate(run.series):
        value = float(_STATISTICS[statistic](series.seconds))
        if value > 0.0:
            key = key_of(series)
            rows[key].append(SeriesPoint(key, place, series.launch, math.log(value)))
    return rows


_STATISTICS: dict[str, Callable[[NDArray[np.float64]], np.floating]] = {
    "median": np.median,
    "mean": np.mean,
    "minimum": np.min,
}


def mean_log(points: Sequence[SeriesPoint]) -> float:
    """The mean of the points' logarithms."""
    return float(np.mean([point.log for point in points]))


def less_levels(both: Sequence[Rows], range_of: Mapping[Key, Hashable]) -> list[list[SeriesPoint]]:
    """Each run's points in the order of time, each less its row's level.

    The level is the run's own where rows were visited twice in both runs, so that a row that has changed beside one
    that has not does not count as chance. Else it is the middle of both runs, moved alike for rows of one range.
    """
    levels = [{key: mean_log(points) for key, points in rows.items()} for rows in both]
    middle = {key: float(np.mean([means[key] for means in levels])) for key in levels[0]}
    members: dict[Hashable, list[Key]] = defaultdict(list)
    for key in middle:
        members[range_of[key]].append(key)
    points_of_runs = []
    for rows, means in zip(both, levels, strict=True):
        moved = {
            name: float(np.mean([means[key] - middle[key] for key in keys]))
            for name, keys in members.items()
        }
        points = []
        for key, of_row in rows.items():
            is_repeated = min(len(other[key]) for other in both) > 1
            level = means[key] if is_repeated else middle[key] + moved[range_of[key]]
            points += [replace(point, log=point.log - level) for point in of_row]
        points_of_runs.append(sorted(points, key=lambda point: point.place))
    return points_of_runs


def launch_means(rows: Rows) -> Rows:
    """Each launch of a row as one point: its visits have in common what the launch has found."""
    means: Rows = {}
    for key, points in rows.items():
        launches: dict[int, list[SeriesPoint]] = defaultdict(list)
        for point in points:
            launches[point.launch].append(point)
        means[key] = [replace(of[0], log=mean_log(of)) for of in launches.values()]
    return means


def launches_of(rows: Rows) -> int:
    """The number of launches that a run's points are from."""
    return len({point.launch for points in rows.values() for point in points})


def weighted(points: Sequence[SeriesPoint], weights: Mapping[Key, float]) -> list[float]:
    """The points' logs, each multiplied by its weight in the whole over the weight that it had if all had the same."""
    count = Counter(point.key for point in points)
    return [point.log * weights[point.key] * len(points) / count[point.key] for point in points]
