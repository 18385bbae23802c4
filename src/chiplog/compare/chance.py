"""How far two runs of the same thing lie apart by chance: what a difference must exceed before it is one.

Samples are not the unit: a machine drifts from minute to minute, and ranks that are started anew find other memory. So
the difference over all rows is held against how far the records of a run wander in the order of time, by their slowest
waves, and against how far launches differ. A single row is held against its visits besides, at a level for all rows
together. The decision and what it was studied on are in docs/decisions/0032-when-two-runs-differ.md.

Source: E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson, "HAR inference: recommendations for practice", Journal of
Business and Economic Statistics 36 (2018): the variance of a mean from the first cosine transforms, by Student's t.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special, stats

from chiplog.compare.result import Compared
from chiplog.dataset.states import common_reference, same_state, states_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Reference, Series

ERROR_RATE = 0.0025
"""One-sided, of the whole, and as much of all single rows together: half a percent for `slower`, and for `faster`."""
WAVES = 5
"""Cosines of one half turn to five over a run: what its records have of them tells how far their mean is off."""
SLOWEST = 2
FASTEST = 10
"""Where the waves up to the first have more than those up to the second by chance has, a run wanders as slowly as it is
long, and tells nothing of the next."""
SLOW_BY_CHANCE = 0.01
"""How often that is said of records that know nothing of each other."""
RECORDS_A_WAVE = 4
"""Runs with few records are held against fewer waves: the faster ones would take chance for all there is."""
LEAST_LEFT = 0.5
"""Of a wave that the levels of the rows follow, such as one that repeats with each visit, less is left to tell by."""
FEWEST_RECORDS = 8
LAUNCHES_DIFFER = math.log(1.2)
"""As logarithm: so far apart single launches of one state may lie (docs/decisions/0019)."""
SHARED_FREEDOM = 10.0
"""Degrees of freedom, at most, that a row's spread over its visits takes from that of the other rows."""
LEAST_SPREAD = 1e-4
"""As logarithm: visits that lie less apart differ by rounding, and not by more or less of it."""
TELLS_NOTHING = math.log(1000.0)
"""A half width beyond is no better than none."""
FULL = 0.5
"""A launch with fewer records than this share of the fullest one's says little of the whole."""
SIMULATED = "sim"
CALL = "call"
"""The direction of times on one side alone. They depend on where a launch has its buffers, by several times."""
LAUNCHES_OF_CALLS = 3
"""Fewer launches of each run may all have their buffers in one kind of place, and the other run's in the other."""

Key = tuple[Compared, int]
"""What a series is compared as, and its size in bytes."""


@dataclass(frozen=True)
class Chance:
    """Half widths of intervals of log ratios: of the whole, and of each row, that of the whole included."""

    whole: float
    """Infinite where there are too few records to tell, or where the runs wander as slowly as they are long."""
    rows: dict[Key, float]
    weights: dict[Key, float]
    """Of each row in the whole: the less its visits or launches lie apart, the more; 1 in all."""
    launches_matter: bool
    """Whether the half widths would be smaller with more launches."""
    too_short: bool
    """Whether the whole is not known because the runs wander as slowly as they are long."""
    few_launches: frozenset[Key]
    """Rows whose difference between launches is not known, because a run has too few of them."""


def chance(a: Dataset, b: Dataset, key_of: Callable[[Series], Key], statistic: str) -> Chance:
    """How far the runs' times lie apart by chance; `key_of` tells what a series is compared as."""
    before, after = (_records(one, key_of, statistic) for one in (a, b))
    common = sorted(set(before) & set(after))
    both = [{key: of_run[key] for key in common} for of_run in (before, after)]
    simulated = _is_simulated(a) and _is_simulated(b)
    launches = min(map(_launches, both))
    several = not simulated and launches > 1
    own = _of_rows([_launch_means(one) for one in both] if several else both, common)
    calls = {key for key in common if key[0].direction == CALL}
    unknown = frozenset() if simulated or launches >= LAUNCHES_OF_CALLS else frozenset(calls)
    weights = _weights(own, unknown)
    powers = [_powers(both, weights, run) for run in range(len(both))]
    slowly = _wanders_slowly(powers)
    wander = math.inf if slowly else _wander(powers)
    if simulated:
        whole = wander
    else:
        alone = wander + LAUNCHES_DIFFER if len(unknown) < len(common) else math.inf
        whole = min(alone, _between_launches(both, weights))
    rows = {key: math.inf if key in unknown else whole + one for key, one in own.items()}
    return Chance(
        whole=whole,
        rows=rows,
        weights=weights,
        launches_matter=not simulated and whole == alone,
        too_short=math.isinf(whole) and slowly,
        few_launches=unknown,
    )


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

    key: Key
    place: int
    launch: int
    log: float


_Rows = dict[Key, list[_Point]]


def _records(run: Dataset, key_of: Callable[[Series], Key], statistic: str) -> _Rows:
    found: _Rows = defaultdict(list)
    for place, one in enumerate(run.series):
        value = float(_STATISTICS[statistic](one.seconds))
        if value > 0.0:
            key = key_of(one)
            found[key].append(_Point(key, place, one.launch, math.log(value)))
    return found


_STATISTICS: dict[str, Callable[[NDArray[np.float64]], np.floating]] = {
    "median": np.median,
    "mean": np.mean,
    "minimum": np.min,
}


def _less_levels(both: Sequence[_Rows]) -> list[list[_Point]]:
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


def _weights(half_widths: Mapping[Key, float], unknown: frozenset[Key]) -> dict[Key, float]:
    """The rows' weights in the whole by the half widths of their own; the same where these tell none.

    Rows of which nothing is known have none, unless that is all rows.
    """
    squares = np.array(list(half_widths.values())) ** 2
    told = bool(np.any(np.isfinite(squares)) and np.all(squares > 0.0))
    inverse = 1.0 / squares if told else np.ones(squares.size)
    known = np.array([key not in unknown for key in half_widths])
    if np.any(inverse[known] > 0.0):
        inverse *= known
    return dict(zip(half_widths, (inverse / inverse.sum()).tolist(), strict=True))


def _wander(powers: Sequence[NDArray[np.float64]]) -> float:
    """The half width by how far the records of each run wander in time; infinite with too few records to tell.

    Records that know nothing of each other have as much of one wave as of another, and their mean is as far off. What
    wanders slowly has more of the slow waves, and moves the mean further.
    """
    told = [one[:WAVES] for one in powers]
    if min(one.size for one in told) == 0:
        return math.inf
    of_means = sum(float(np.mean(one)) for one in told)
    return float(stats.t.isf(ERROR_RATE, sum(one.size for one in told))) * math.sqrt(of_means)


def _wanders_slowly(powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the slowest waves have so much more than the others that a run says little of the next."""
    slow = np.concatenate([one[:SLOWEST] for one in powers])
    fast = np.concatenate([one[SLOWEST:] for one in powers])
    if not fast.size:
        return False
    by_chance = float(stats.f.isf(SLOW_BY_CHANCE, slow.size, fast.size))
    return bool(np.mean(slow) > np.mean(fast) * by_chance)


def _powers(both: Sequence[_Rows], weights: Mapping[Key, float], run: int) -> NDArray[np.float64]:
    """What a run's records have of each wave, slowest first, each as a variance of their mean.

    Empty where either run has too few records. Left out are waves that the levels of the rows follow: those that
    repeat with each visit.
    """
    fewest = min(sum(map(len, of_run.values())) for of_run in both)
    if fewest < FEWEST_RECORDS:
        return np.array([])
    points = _less_levels(both)[run]
    logs = np.array(_weighted(points, weights))
    found = []
    for wave in range(1, min(FASTEST, fewest // RECORDS_A_WAVE) + 1):
        left = _left_of(both, run, wave)
        if left >= LEAST_LEFT:
            found.append(float(logs @ _cosine(logs.size, wave)) ** 2 / left / logs.size)
    return np.array(found)


def _weighted(points: Sequence[_Point], weights: Mapping[Key, float]) -> list[float]:
    """The points' logs, each so many times as its part in the whole is larger than if all had the same."""
    of_row = Counter(one.key for one in points)
    return [one.log * weights[one.key] * len(points) / of_row[one.key] for one in points]


def _cosine(count: int, wave: int) -> NDArray[np.float64]:
    """`wave` half turns over `count` records, of length 1."""
    turns = (np.arange(count) + 0.5) / count
    return np.cos(np.pi * wave * turns) * math.sqrt(2.0 / count)


def _left_of(both: Sequence[_Rows], run: int, wave: int) -> float:
    """What is left of a wave's square where the levels of the rows are taken off: 1 if the levels don't follow it."""
    places = sorted(one.place for points in both[run].values() for one in points)
    height = dict(zip(places, _cosine(len(places), wave), strict=True))
    as_waves = [
        {
            key: [
                replace(one, log=float(height[one.place]) if index == run else 0.0)
                for one in points
            ]
            for key, points in of_run.items()
        }
        for index, of_run in enumerate(both)
    ]
    return sum(one.log**2 for points in _less_levels(as_waves) for one in points)


def _launches(of_run: _Rows) -> int:
    return len({one.launch for points in of_run.values() for one in points})


def _between_launches(both: Sequence[_Rows], weights: Mapping[Key, float]) -> float:
    """The half width by how far the launches of a run lie apart; infinite with less than two in each."""
    means = [_of_launches(points, weights) for points in _less_levels(both)]
    return _student(means, ERROR_RATE) if min(map(len, means)) > 1 else math.inf


def _student(groups: Sequence[Sequence[float]], error_rate: float) -> float:
    freedom = sum(len(one) - 1 for one in groups)
    spread = sum(float(np.var(one)) * len(one) for one in groups) / freedom
    of_mean = math.sqrt(spread * sum(1.0 / len(one) for one in groups))
    return float(stats.t.ppf(1.0 - error_rate, freedom)) * of_mean


def _of_launches(points: Sequence[_Point], weights: Mapping[Key, float]) -> list[float]:
    """The level of each launch that has enough records."""
    launches: dict[int, list[float]] = defaultdict(list)
    for one, log in zip(points, _weighted(points, weights), strict=True):
        launches[one.launch].append(log)
    full = max(map(len, launches.values()))
    return [float(np.mean(mine)) for mine in launches.values() if len(mine) >= FULL * full]


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
    shared = _shared(
        [(squares[key] / freedom[key], freedom[key]) for key in common if freedom[key]]
    )
    half_widths = {}
    for key in common:
        degrees = freedom[key] + shared.freedom
        spread = (squares[key] + shared.freedom * shared.variance) / degrees
        of_mean = math.sqrt(spread * sum(1.0 / len(of_run[key]) for of_run in both))
        quantile = float(stats.t.isf(ERROR_RATE / len(common), degrees))
        half_width = quantile * of_mean
        half_widths[key] = half_width if half_width < TELLS_NOTHING else math.inf
    return half_widths


@dataclass(frozen=True)
class _Shared:
    """The variance that a row's own is joined with, and how many degrees of freedom that counts for."""

    variance: float
    freedom: float


def _shared(of_rows: Sequence[tuple[float, int]]) -> _Shared:
    """What the rows have in common, from each one's variance and degrees of freedom: little if they are unlike.

    The variances behind the rows' own are taken for scaled inverse chi-squared, with the freedom that the spread of the
    rows' logarithms leaves once chance is taken off.

    Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2.
    """
    variances, freedom = np.array(of_rows).T
    halves = freedom / 2.0
    logs = np.log(np.maximum(variances, LEAST_SPREAD**2)) - special.digamma(halves) + np.log(halves)
    spread = float(np.var(logs, ddof=1)) if logs.size > 1 else 0.0
    unlike = spread - float(np.mean(special.polygamma(1, halves)))
    half = SHARED_FREEDOM / 2.0
    if unlike > float(special.polygamma(1, half)):
        half = optimize.brentq(lambda one: special.polygamma(1, one) - unlike, 1e-6, half)
    variance = float(np.exp(np.mean(logs) + special.digamma(half) - np.log(half)))
    return _Shared(variance, 2.0 * half)


def _reference_of(run: Dataset, records: frozenset[int]) -> Reference | None:
    return common_reference([one for one in run.series if one.record_id in records])


def _only(run: Dataset, records: frozenset[int]) -> Dataset:
    return replace(run, series=tuple(one for one in run.series if one.record_id in records))


def _is_simulated(run: Dataset) -> bool:
    return str(run.header.get("target", "")).split(":")[0] == SIMULATED
