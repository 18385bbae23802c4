"""How far two runs of the same thing lie apart by chance: what a difference must exceed before it is one.

Samples are not the unit: a machine drifts from minute to minute, and ranks that are started anew find other memory. So
the difference over all rows is held against how far the records of a run wander in the order of time, by a
self-normalized statistic that asks for no length of that memory, and against how far launches differ. A single row is
held against its visits besides, at a level for all rows together. The decision and what it was studied on are in
docs/decisions/0032-when-two-runs-differ.md.

Source: I. N. Lobato, "Testing that a dependent process is uncorrelated", JASA 96 (2001); X. Shao, "A self-normalized
approach to confidence interval construction in time series", JRSS B 72 (2010).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from chiplog.compare.result import Compared
from chiplog.dataset.states import common_reference, same_state, states_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Reference, Series

ERROR_RATE = 0.0025
"""One-sided, of the whole, and as much of all single rows together: half a percent for `slower`, and for `faster`."""
SELF_NORMALIZED = 10.0
"""The quantile at 1 - ERROR_RATE of a difference of means over sqrt(w_A + w_B), from 400,000 simulated pairs: 9.6 where
both runs wander alike, 10.6 where one has nine tenths of it; 16 and 200 records differ by 3 %."""
FEWEST_RECORDS = 8
LAUNCHES_DIFFER = math.log(1.2)
"""As logarithm: so far apart single launches of one state may lie (docs/decisions/0019)."""
SHARED_FREEDOM = 10.0
"""Degrees of freedom that a row's spread over its visits takes from that of the other rows, which is much the same."""
FULL = 0.5
"""A visit or a launch with fewer records than this share of the fullest one's says little of the whole."""
SIMULATED = "sim"
CALL = "call"
"""The direction of times on one side alone. They depend on where a launch has its buffers, by several times."""

Key = tuple[Compared, int]
"""What a series is compared as, and its size in bytes."""


@dataclass(frozen=True)
class Chance:
    """Half widths of intervals of log ratios: of the whole, and of each row, that of the whole included."""

    whole: float
    """Infinite where there are too few records to tell."""
    rows: dict[Key, float]
    launches_matter: bool
    """Whether the half widths would be smaller with more launches."""
    one_launch: frozenset[Key]
    """Rows whose difference between launches is not known, because a run has one launch."""


def chance(a: Dataset, b: Dataset, key_of: Callable[[Series], Key], statistic: str) -> Chance:
    """How far the runs' times lie apart by chance; `key_of` tells what a series is compared as."""
    before, after = (_records(one, key_of, statistic) for one in (a, b))
    common = sorted(set(before) & set(after))
    both = [{key: of_run[key] for key in common} for of_run in (before, after)]
    levels = [_levels(of_run, both) for of_run in both]
    wander = _wander(*levels)
    if _is_simulated(a) and _is_simulated(b):
        rows = {key: wander + one for key, one in _of_rows(both, common).items()}
        return Chance(wander, rows, False, frozenset())
    alone = wander + LAUNCHES_DIFFER
    whole = min(alone, _between_launches(*levels))
    several = min(len({one.launch for one in points}) for points in levels) > 1
    of_rows = _of_rows([_launch_means(one) for one in both] if several else both, common)
    unknown = frozenset(key for key in common if not several and key[0].direction == CALL)
    rows = {key: math.inf if key in unknown else whole + one for key, one in of_rows.items()}
    return Chance(whole, rows, whole == alone, unknown)


def in_common_state(a: Dataset, b: Dataset) -> tuple[Dataset, Dataset]:
    """The records of the two runs in one state of the machine: the one that most of both met; all where none is told.

    Where no state of one is a state of the other, each run is taken in its main state.
    """
    states = [states_of(one.series) for one in (a, b)]
    if max(len(one.met) for one in states) < 2:
        return a, b
    references = [
        [_reference_of(run, one.records(state)) for state in range(len(one.met))]
        for run, one in zip((a, b), states, strict=True)
    ]
    alike = [
        (min(states[0].met[i], states[1].met[j]), i, j)
        for i, before in enumerate(references[0])
        for j, after in enumerate(references[1])
        if before is not None and after is not None and same_state(before, after)
    ]
    _, *chosen = max(alike, default=(0.0, 0, 0))
    kept = [
        _only(run, one.records(state)) if one.met else run
        for run, one, state in zip((a, b), states, chosen, strict=True)
    ]
    return kept[0], kept[1]


@dataclass(frozen=True)
class _Point:
    """One series of a row: where it was in time, and the logarithm of its duration."""

    place: int
    launch: int
    visit: int
    log: float


_Rows = dict[Key, list[_Point]]


def _records(run: Dataset, key_of: Callable[[Series], Key], statistic: str) -> _Rows:
    found: _Rows = defaultdict(list)
    for place, one in enumerate(run.series):
        value = float(_STATISTICS[statistic](one.seconds))
        if value > 0.0:
            found[key_of(one)].append(_Point(place, one.launch, one.visit, math.log(value)))
    return found


_STATISTICS: dict[str, Callable[[NDArray[np.float64]], np.floating]] = {
    "median": np.median,
    "mean": np.mean,
    "minimum": np.min,
}


def _levels(of_run: _Rows, both: Sequence[_Rows]) -> list[_Point]:
    """A run's points in the order of time, each less its row's level.

    The level is the run's own where rows were visited twice in both runs, so that a row that has changed beside one
    that has not does not count as chance. Else it is the middle of both runs, moved alike for rows of one kind.
    """
    own = {key: _mean(mine) for key, mine in of_run.items()}
    middle = {key: float(np.mean([_mean(other[key]) for other in both])) for key in of_run}
    of_kind: dict[Compared, list[float]] = defaultdict(list)
    for key in of_run:
        of_kind[key[0]].append(own[key] - middle[key])
    points = []
    for key, mine in of_run.items():
        twice = min(len(other[key]) for other in both) > 1
        level = own[key] if twice else middle[key] + float(np.mean(of_kind[key[0]]))
        points += [replace(one, log=one.log - level) for one in mine]
    return sorted(points, key=lambda one: one.place)


def _mean(points: Sequence[_Point]) -> float:
    return float(np.mean([one.log for one in points]))


def _launch_means(of_run: _Rows) -> _Rows:
    """Each launch of a row as one point: its visits have in common what the launch has found."""
    means: _Rows = {}
    for key, points in of_run.items():
        launches: dict[int, list[_Point]] = defaultdict(list)
        for one in points:
            launches[one.launch].append(one)
        means[key] = [replace(mine[0], log=_mean(mine)) for mine in launches.values()]
    return means


def _wander(a: Sequence[_Point], b: Sequence[_Point]) -> float:
    """The half width by how far the records of each run wander in time, and by how far their visits lie apart."""
    if min(len(a), len(b)) < FEWEST_RECORDS:
        return math.inf
    squares = 0.0
    for points in (a, b):
        logs = np.array([one.log for one in points])
        squares += float(np.sum(np.cumsum(logs - logs.mean()) ** 2)) / logs.size**3
    visits = [_means(points, lambda one: (one.launch, one.visit)) for points in (a, b)]
    by_visit = _student(visits, ERROR_RATE) if min(map(len, visits)) > 1 else 0.0
    return max(SELF_NORMALIZED * math.sqrt(squares), by_visit)


def _between_launches(a: Sequence[_Point], b: Sequence[_Point]) -> float:
    """The half width by how far the launches of a run lie apart; infinite with less than two in each."""
    means = [_means(points, lambda one: one.launch) for points in (a, b)]
    if min(map(len, means)) < 2:
        return math.inf
    return _student(means, ERROR_RATE)


def _student(groups: Sequence[Sequence[float]], error_rate: float) -> float:
    freedom = sum(len(one) - 1 for one in groups)
    spread = sum(float(np.var(one)) * len(one) for one in groups) / freedom
    of_mean = math.sqrt(spread * sum(1.0 / len(one) for one in groups))
    return float(stats.t.ppf(1.0 - error_rate, freedom)) * of_mean


def _means(points: Sequence[_Point], group_of: Callable[[_Point], Hashable]) -> list[float]:
    """The level of each group of records, of visits or of launches, that has enough of them."""
    groups: dict[Hashable, list[_Point]] = defaultdict(list)
    for one in points:
        groups[group_of(one)].append(one)
    full = max(map(len, groups.values()))
    return [_mean(mine) for mine in groups.values() if len(mine) >= FULL * full]


def _of_rows(both: Sequence[_Rows], common: Sequence[Key]) -> dict[Key, float]:
    """The half width of each row by how far its visits or launches lie apart, at a level for all rows together.

    Infinite where a run hardly visited a row twice: what disturbed the machine for a moment, disturbed all samples of a
    visit, and nothing in the run tells that from a change.
    """
    squares, freedom = {}, {}
    for key in common:
        visits = [np.array([one.log for one in of_run[key]]) for of_run in both]
        squares[key] = sum(float(np.var(one)) * one.size for one in visits)
        freedom[key] = sum(one.size - 1 for one in visits)
    of_each_run = [sum(len(of_run[key]) - 1 for key in common) for of_run in both]
    if min(of_each_run) < SHARED_FREEDOM:
        return dict.fromkeys(common, math.inf)
    shared = sum(squares.values()) / sum(freedom.values())
    half_widths = {}
    for key in common:
        degrees = freedom[key] + SHARED_FREEDOM
        spread = (squares[key] + SHARED_FREEDOM * shared) / degrees
        of_mean = math.sqrt(spread * sum(1.0 / len(of_run[key]) for of_run in both))
        quantile = float(stats.t.ppf(1.0 - ERROR_RATE / len(common), degrees))
        half_widths[key] = quantile * of_mean
    return half_widths


def _reference_of(run: Dataset, records: frozenset[int]) -> Reference | None:
    return common_reference([one for one in run.series if one.record_id in records])


def _only(run: Dataset, records: frozenset[int]) -> Dataset:
    return replace(run, series=tuple(one for one in run.series if one.record_id in records))


def _is_simulated(run: Dataset) -> bool:
    return str(run.header.get("target", "")).split(":")[0] == SIMULATED
