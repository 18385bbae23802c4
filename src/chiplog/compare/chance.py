"""How far two runs of the same thing lie apart by chance: what a difference must exceed before it is one.

Samples are not the unit: a machine drifts from minute to minute, and ranks that are started anew find other memory. So
the difference over all rows is held against how far the records of a run wander in the order of time, by their slowest
waves, and against how far launches differ. A single row is held against its visits besides, at a level for all rows
together. The decision and what it was studied on are in docs/decisions/0032-when-two-runs-differ.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.compare.points import (
    Key,
    Point,
    Rows,
    launch_means,
    launches_of,
    less_levels,
    records,
    weighted,
)
from chiplog.compare.spread import ERROR_RATE, half_widths, student
from chiplog.compare.waves import powers_of, wander_of, wanders_slowly
from chiplog.machine_state.states import common_reference, same_state, states_of

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset, Reference, Series

LAUNCHES_DIFFER = math.log(1.2)
"""As logarithm: so far apart single launches of one state may lie (docs/decisions/0019)."""
FULL = 0.5
"""A launch with fewer records than this share of the fullest one's says little of the whole."""
SIMULATED = "sim"
CALL = "call"
"""The direction of times on one side alone. They depend on where a launch has its buffers, by several times."""
LAUNCHES_OF_CALLS = 3
"""Fewer launches of each run may all have their buffers in one kind of place, and the other run's in the other."""


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
    before, after = (records(one, key_of, statistic) for one in (a, b))
    common = sorted(set(before) & set(after))
    both = [{key: of_run[key] for key in common} for of_run in (before, after)]
    simulated = _is_simulated(a) and _is_simulated(b)
    launches = min(map(launches_of, both))
    several = not simulated and launches > 1
    own = half_widths([launch_means(one) for one in both] if several else both, common)
    calls = {key for key in common if key[0].direction == CALL}
    unknown = frozenset() if simulated or launches >= LAUNCHES_OF_CALLS else frozenset(calls)
    weights = _weights(own, unknown)
    powers = [powers_of(both, weights, run) for run in range(len(both))]
    slowly = wanders_slowly(powers)
    wander = math.inf if slowly else wander_of(powers, ERROR_RATE)
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


def _weights(own: Mapping[Key, float], unknown: frozenset[Key]) -> dict[Key, float]:
    """The rows' weights in the whole by the half widths of their own; the same where these tell none.

    Rows of which nothing is known have none, unless that is all rows.
    """
    squares = np.array(list(own.values())) ** 2
    told = bool(np.any(np.isfinite(squares)) and np.all(squares > 0.0))
    inverse = 1.0 / squares if told else np.ones(squares.size)
    known = np.array([key not in unknown for key in own])
    if np.any(inverse[known] > 0.0):
        inverse *= known
    return dict(zip(own, (inverse / inverse.sum()).tolist(), strict=True))


def _between_launches(both: Sequence[Rows], weights: Mapping[Key, float]) -> float:
    """The half width by how far the launches of a run lie apart; infinite with less than two in each."""
    means = [_of_launches(points, weights) for points in less_levels(both)]
    return student(means, ERROR_RATE) if min(map(len, means)) > 1 else math.inf


def _of_launches(points: Sequence[Point], weights: Mapping[Key, float]) -> list[float]:
    """The level of each launch that has enough records."""
    launches: dict[int, list[float]] = defaultdict(list)
    for one, log in zip(points, weighted(points, weights), strict=True):
        launches[one.launch].append(log)
    full = max(map(len, launches.values()))
    return [float(np.mean(mine)) for mine in launches.values() if len(mine) >= FULL * full]


def _reference_of(run: Dataset, records: frozenset[int]) -> Reference | None:
    return common_reference([one for one in run.series if one.record_id in records])


def _only(run: Dataset, records: frozenset[int]) -> Dataset:
    return replace(run, series=tuple(one for one in run.series if one.record_id in records))


def _is_simulated(run: Dataset) -> bool:
    return str(run.header.get("target", "")).split(":")[0] == SIMULATED
