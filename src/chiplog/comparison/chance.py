"""How far two runs of the same thing lie apart by chance as a whole: what all their rows may have in common.

Samples are not the unit: a machine drifts from minute to minute, and ranks that are started anew find other memory. So
the difference over all rows is held against how far the records of a run drift in the order of time, by their slowest
waves, and against how far launches differ. Where a run does not repeat what tells that, the sizes that are given for
any machine bound it (`chiplog.machine_state.noise`).

Source: E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson, "HAR inference: recommendations for practice", Journal of
Business and Economic Statistics 36 (2018): the variance of a mean from the first cosine transforms, by Student's t.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from chiplog.comparison.points import Key, Rows, SeriesPoint, launches_of, less_levels, weighted
from chiplog.comparison.row_noise import ERROR_RATE
from chiplog.machine_state.noise import LAUNCHES_DIFFER
from chiplog.machine_state.states import common_reference, same_state, states_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Reference

SIMULATED = "sim"
IMPORTED = "import"


@dataclass(frozen=True)
class Common:
    """The half width, as log ratio, of what all rows have in common, and what it comes from."""

    half_width: float
    is_drift_known: bool
    """Whether it was seen in the order of time or between launches, so that the rows' noise is in it."""
    is_slow: bool
    """Whether the runs drift as slowly as they are long, so that the given size of a state bounds it."""
    is_given: bool
    """Whether the given difference of two launches is in it, so that more launches may tell less."""


def common_chance(
    runs: Sequence[Dataset],
    both: Sequence[Rows],
    weights: Mapping[Key, float],
    range_of: Mapping[Key, Hashable],
) -> Common:
    """How far the weighted means of the rows of two runs lie apart by chance, beyond the rows' own noise.

    `range_of` names the range of each row, whose rows share a difference.
    """
    drift, is_slow = math.inf, False
    if not are_imported(runs):
        powers = [powers_of(both, weights, range_of, run) for run in range(len(both))]
        drift, is_slow = drift_of(powers, ERROR_RATE), drifts_slowly(powers)
    simulated, is_known = is_simulated(runs), math.isfinite(drift)
    given = LAUNCHES_DIFFER if is_slow or not simulated else 0.0
    alone = (drift if is_known else 0.0) + given
    between = math.inf if simulated else _between_launches(both, weights, range_of)
    is_given = not simulated and alone < between
    return Common(
        min(alone, between), is_known or between <= alone, is_slow and alone < between, is_given
    )


def are_imported(runs: Sequence[Dataset]) -> bool:
    """Whether one of the runs is another tool's table, whose values are means of many iterations."""
    return IMPORTED in map(kind_of, runs)


def is_simulated(runs: Sequence[Dataset]) -> bool:
    """Whether all runs are of `sim`, whose launches are alike."""
    return all(kind_of(run) == SIMULATED for run in runs)


def kind_of(run: Dataset) -> str:
    """The first word of a run's target: `sim`, `tcp`, `import`, ..."""
    return str(run.header.get("target", "")).split(":")[0]


def in_common_state(a: Dataset, b: Dataset) -> tuple[Dataset, Dataset]:
    """The records of the two runs in one state of the machine: the one that most of both met; all where none is told.

    Where no state of one is a state of the other, each run is taken in its main state.
    """
    states = [states_of(run.series) for run in (a, b)]
    if max(len(of_run.met) for of_run in states) < 2:
        return a, b
    references = [
        [_reference_of(run, of_run.records(state)) for state in range(len(of_run.met))]
        for run, of_run in zip((a, b), states, strict=True)
    ]
    alike = [
        (min(states[0].met[i], states[1].met[j]), i, j)
        for i, before in enumerate(references[0])
        for j, after in enumerate(references[1])
        if before is not None and after is not None and same_state(before, after)
    ]
    _, *chosen = max(alike, default=(0.0, 0, 0))
    kept = [
        _only(run, of_run.records(state)) if of_run.met else run
        for run, of_run, state in zip((a, b), states, chosen, strict=True)
    ]
    return kept[0], kept[1]


def _between_launches(
    both: Sequence[Rows], weights: Mapping[Key, float], range_of: Mapping[Key, Hashable]
) -> float:
    """The half width by how far the launches of a run lie apart; infinite with less than two in each."""
    if min(map(launches_of, both)) < 2:
        return math.inf
    means = [_of_launches(points, weights) for points in less_levels(both, range_of)]
    if min(map(len, means)) < 2:
        return math.inf
    freedom = sum(len(levels) - 1 for levels in means)
    spread = sum(float(np.var(levels)) * len(levels) for levels in means) / freedom
    of_mean = math.sqrt(spread * sum(1.0 / len(levels) for levels in means))
    return float(stats.t.isf(ERROR_RATE, freedom)) * of_mean


def _of_launches(points: Sequence[SeriesPoint], weights: Mapping[Key, float]) -> list[float]:
    """The level of each launch that has half as many records as the fullest one, or more."""
    launches: dict[int, list[float]] = defaultdict(list)
    for point, log in zip(points, weighted(points, weights), strict=True):
        launches[point.launch].append(log)
    full = max(map(len, launches.values()))
    return [float(np.mean(logs)) for logs in launches.values() if len(logs) >= 0.5 * full]


def _reference_of(run: Dataset, records: frozenset[int]) -> Reference | None:
    return common_reference([series for series in run.series if series.record_id in records])


def _only(run: Dataset, records: frozenset[int]) -> Dataset:
    return replace(
        run, series=tuple(series for series in run.series if series.record_id in records)
    )


WAVES = 5
"""Study (decision 0037): the number of cosines, of one to five half turns over a run, that tell how far the mean of its
records is off."""
SLOWEST = 2
"""Study (decision 0037): waves that are held against the others. If they have more than chance allows, the run drifts
as slowly as it is long, and tells little of the next run."""
SLOW_BY_CHANCE = 0.01
"""Given: how often that is said of independent records."""
RECORDS_A_WAVE = 4
"""Given: a run has a wave for so many records at least, since fast waves in few records show only chance."""
MIN_LEFT = 0.5
"""Given: the least part of a wave that taking off each row's level must leave. Of one that repeats with each visit, it
leaves none, and the wave is not used."""


def drift_of(powers: Sequence[NDArray[np.float64]], error_rate: float) -> float:
    """The half width of the difference of two runs' means, as log ratio; infinite with too few records to tell.

    `powers` are those of `powers_of`, one array a run; `error_rate` is one-sided. Independent records have equal power
    in all waves, and that is the variance of their mean. Slow drift has more power in the slow waves, and moves the
    mean further. Source: see the module.
    """
    slow = [of_run[:WAVES] for of_run in powers]
    if min(of_run.size for of_run in slow) == 0:
        return math.inf
    of_means = sum(float(np.mean(of_run)) for of_run in slow)
    freedom = sum(of_run.size for of_run in slow)
    return float(stats.t.isf(error_rate, freedom)) * math.sqrt(of_means)


def drifts_slowly(powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the slowest waves have so much more power than the others that a run says little of the next (F test)."""
    slow = np.concatenate([of_run[:SLOWEST] for of_run in powers])
    fast = np.concatenate([of_run[SLOWEST:] for of_run in powers])
    if not fast.size:
        return False
    by_chance = float(stats.f.isf(SLOW_BY_CHANCE, slow.size, fast.size))
    return bool(np.mean(slow) > np.mean(fast) * by_chance)


def powers_of(
    both: Sequence[Rows],
    weights: Mapping[Key, float],
    range_of: Mapping[Key, Hashable],
    run: int,
) -> NDArray[np.float64]:
    """The power of each wave in the records of run number `run`, slowest first, shape (waves,).

    Each is an estimate of the variance of the records' mean, a squared log ratio. The array is empty where either run
    has too few records. Waves that repeat with each visit are left out, as the levels of the rows follow them.
    """
    fewest = min(sum(map(len, rows.values())) for rows in both)
    count = min(2 * WAVES, fewest // RECORDS_A_WAVE)
    if count < SLOWEST:
        return np.array([])
    points = less_levels(both, range_of)[run]
    logs = np.array(weighted(points, weights))
    powers = []
    for wave in range(1, count + 1):
        share_left = _left_of(both, range_of, run, wave)
        if share_left >= MIN_LEFT:
            powers.append(float(logs @ _cosine(logs.size, wave)) ** 2 / share_left / logs.size)
    return np.array(powers)


def _cosine(count: int, wave: int) -> NDArray[np.float64]:
    """`wave` half turns over `count` records, of length 1."""
    turns = (np.arange(count) + 0.5) / count
    return np.cos(np.pi * wave * turns) * math.sqrt(2.0 / count)


def _left_of(both: Sequence[Rows], range_of: Mapping[Key, Hashable], run: int, wave: int) -> float:
    """What is left of a wave's square where the levels of the rows are taken off: 1 if the levels don't follow it."""
    places = sorted(point.place for points in both[run].values() for point in points)
    height = dict(zip(places, _cosine(len(places), wave).tolist(), strict=True))
    as_waves = [
        {
            key: [
                replace(point, log=height[point.place] if index == run else 0.0) for point in points
            ]
            for key, points in rows.items()
        }
        for index, rows in enumerate(both)
    ]
    return sum(point.log**2 for points in less_levels(as_waves, range_of) for point in points)
