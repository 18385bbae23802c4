"""The series of two runs as points: what is compared, when it was measured, and the logarithm of what it took."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.compare.result import Compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Series

Key = tuple[Compared, int]
"""What a series is compared as, and its size in bytes."""


@dataclass(frozen=True)
class Point:
    """One series of a row: its place in the order of time, and the natural logarithm of its duration in seconds."""

    key: Key
    place: int
    launch: int
    log: float


Rows = dict[Key, list[Point]]
"""The points of a run, each row's in the order of time."""


def records(run: Dataset, key_of: Callable[[Series], Key], statistic: str) -> Rows:
    """The points of a run by what they are compared as; `statistic` names how a series becomes one value."""
    found: Rows = defaultdict(list)
    for place, one in enumerate(run.series):
        value = float(_STATISTICS[statistic](one.seconds))
        if value > 0.0:
            key = key_of(one)
            found[key].append(Point(key, place, one.launch, math.log(value)))
    return found


_STATISTICS: dict[str, Callable[[NDArray[np.float64]], np.floating]] = {
    "median": np.median,
    "mean": np.mean,
    "minimum": np.min,
}


def less_levels(both: Sequence[Rows]) -> list[list[Point]]:
    """Each run's points in the order of time, each less its row's level.

    The level is the run's own where rows were visited twice in both runs, so that a row that has changed beside one
    that has not does not count as chance. Else it is the middle of both runs, moved alike for rows of one kind.
    """
    own = [{key: _mean(points) for key, points in of_run.items()} for of_run in both]
    middle = {key: float(np.mean([of_run[key] for of_run in own])) for key in own[0]}
    of_kind: dict[Compared, list[Key]] = defaultdict(list)
    for key in middle:
        of_kind[key[0]].append(key)
    found = []
    for of_run, mine in zip(both, own, strict=True):
        moved = {
            kind: float(np.mean([mine[key] - middle[key] for key in keys]))
            for kind, keys in of_kind.items()
        }
        points = []
        for key, of_row in of_run.items():
            twice = min(len(other[key]) for other in both) > 1
            level = mine[key] if twice else middle[key] + moved[key[0]]
            points += [replace(one, log=one.log - level) for one in of_row]
        found.append(sorted(points, key=lambda one: one.place))
    return found


def _mean(points: Sequence[Point]) -> float:
    return float(np.mean([one.log for one in points]))


def launch_means(of_run: Rows) -> Rows:
    """Each launch of a row as one point: its visits have in common what the launch has found."""
    means: Rows = {}
    for key, points in of_run.items():
        launches: dict[int, list[Point]] = defaultdict(list)
        for one in points:
            launches[one.launch].append(one)
        means[key] = [replace(mine[0], log=_mean(mine)) for mine in launches.values()]
    return means


def launches_of(of_run: Rows) -> int:
    """The number of launches that a run's points are from."""
    return len({one.launch for points in of_run.values() for one in points})


def weighted(points: Sequence[Point], weights: Mapping[Key, float]) -> list[float]:
    """The points' logs, each multiplied by its weight in the whole over the weight that it had if all had the same."""
    of_row = Counter(one.key for one in points)
    return [one.log * weights[one.key] * len(points) / of_row[one.key] for one in points]
