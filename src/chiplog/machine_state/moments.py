"""Which samples of a run were taken in a slower state of the machine, where each size was visited once.

A state belongs to the moment, so it goes on from the last samples of one record to the first of the next. That tells a
record that is slow as a whole from a size that takes longer; and within a protocol a time never falls with the size,
and never grows more than the size does. How much slower the state is, is read from records that met both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chiplog.statistics import BEYOND_DOUBT, DIFFERENCE_MEDIAN

Floats = NDArray[np.float64]

MOST_BLOCKS = 50
"""Derived: longer records are taken in blocks, so that a switch is placed to 2 % of a record."""
FEWEST_SAMPLES = 10
"""Derived: of a record in which a switch is looked for: five on each side."""
BESIDE = 3
"""Given: samples on each side of a switch, at least."""
SLOWEST = math.log(1.35)
"""Given: states differ by 5 to 25 %, and that is known to a third here; larger steps within a record are outliers."""
EXPLAINED = 3.0
"""Study (benchmarks/changes.py): factor by which two states must reduce the correlation of neighbouring samples. A
drift leaves a half or more, states next to nothing."""
SHUFFLES, FEWEST_BY_CHANCE = 5, 4.0
"""Derived: how often samples are shuffled, and steps by chance from which their number is known to a half."""
FAST = 0.2
"""Given: quantile of a record that lies within its faster state, unless most of its samples are slow."""


@dataclass(frozen=True)
class Moments:
    """Each record's samples without what the state of their moment added, in seconds."""

    records: tuple[Floats, ...]
    wanders: bool
    """Whether samples that follow one another are alike: states or a drift are part of the levels, too."""
    step: float = 0.0
    """By how much the logarithm steps within records, where no two states explain that; else 0."""


def without_states(message_bytes: Sequence[int], records: Sequence[Floats]) -> Moments:
    """The samples of records in the order of time, each of another size, freed of a slow state if there are two.

    Records with a sample that is not positive, or of fewer than ten samples, leave all as it is.
    """
    as_they_are = Moments(tuple(records), wanders=False)
    if (
        any(record.size < FEWEST_SAMPLES or np.min(record) <= 0.0 for record in records)
        or not records
    ):
        return as_they_are
    logs = [_blocks(np.log(record)) for record in records]
    noise = _noise(logs)
    centred = [_centred(values) for values in logs]
    before = _correlation(centred)
    step = _step(centred, noise)
    if step is None:
        by_chance = BEYOND_DOUBT / math.sqrt(sum(values.size for values in logs))
        return Moments(tuple(records), wanders=before > by_chance)
    slow = _slow_samples(np.log(np.maximum(message_bytes, 1)), logs, step, noise)
    freed = [values - step * state for values, state in zip(logs, slow, strict=True)]
    after = _correlation([_centred(values) for values in freed])
    if EXPLAINED * after > before:
        return Moments(tuple(records), wanders=True, step=step)
    ratio = math.exp(step)
    corrected = tuple(
        record / np.where(_of_samples(state, record.size), ratio, 1.0)
        for record, state in zip(records, slow, strict=True)
    )
    return Moments(corrected, wanders=True)


def _centred(values: Floats) -> Floats:
    """The logarithms about their median, drawn in to what a state may add."""
    return np.clip(values - np.median(values), -SLOWEST, SLOWEST)


def _blocks(logs: Floats) -> Floats:
    if logs.size <= MOST_BLOCKS:
        return logs
    return np.array([np.median(block) for block in np.array_split(logs, MOST_BLOCKS)])


def _of_samples(state: NDArray[np.bool_], samples: int) -> NDArray[np.bool_]:
    if state.size == samples:
        return state
    sizes = [block.size for block in np.array_split(np.empty(samples), state.size)]
    return np.repeat(state, sizes)


def _noise(logs: Sequence[Floats]) -> float:
    """Standard deviation of one sample within a state: that of neighbours' differences, over the root of two."""
    differences = np.concatenate([np.abs(np.diff(values)) for values in logs])
    return max(float(np.median(differences)) / DIFFERENCE_MEDIAN, 1e-4)


def _correlation(centred: Sequence[Floats]) -> float:
    total = sum(float(values @ values) for values in centred)
    return sum(float(values[1:] @ values[:-1]) for values in centred) / max(total, 1e-300)


def _step(centred: Sequence[Floats], noise: float) -> float | None:
    """By how much the logarithm steps within records that meet both states; None where none shows a step.

    Outliers that happen to lie together are no step: shuffled samples show as many.
    """
    samples = sum(values.size for values in centred)
    clear = (math.sqrt(2.0 * math.log(samples)) + 1.0) * noise
    steps = _clear_steps(centred, clear)
    random = np.random.default_rng(samples)
    shuffled = [random.permutation(values) for _ in range(SHUFFLES) for values in centred]
    by_chance = len(_clear_steps(shuffled, clear)) / SHUFFLES
    if not steps or (by_chance >= FEWEST_BY_CHANCE and len(steps) <= 2.0 * by_chance):
        return None
    return float(np.median(steps))


def _clear_steps(centred: Sequence[Floats], clear: float) -> list[float]:
    splits = [_best_split(values) for values in centred]
    return [abs(step) for step, strength in splits if strength > clear]


def _best_split(values: Floats) -> tuple[float, float]:
    """The difference of the means after and before the best place, and it times the root of its weight."""
    count = values.size
    before = np.arange(BESIDE, count - BESIDE + 1)
    sums = np.cumsum(values)
    step = (sums[-1] - sums[before - 1]) / (count - before) - sums[before - 1] / before
    strength = np.abs(step) * np.sqrt(before * (count - before) / count)
    best = int(np.argmax(strength))
    return float(step[best]), float(strength[best])


def _slow_samples(
    sizes: Floats, logs: Sequence[Floats], step: float, noise: float
) -> list[NDArray[np.bool_]]:
    """Which samples were slow: the likeliest path through the two states and the levels of the sizes.

    The level of a size is that of the faster samples of its record or, where nearly all are in one state, its median or
    a step below it. All but the records are logarithms. Source: A. J. Viterbi's algorithm over the samples of all
    records.
    """
    totals = np.zeros((1, 2))
    levels = np.array([logs[0].min() - SLOWEST])
    kept: list[tuple[NDArray[np.intp], list[_Path]]] = []
    for k, values in enumerate(logs):
        middle = float(np.median(values))
        low = min(float(np.quantile(values, FAST)) - NormalDist().inv_cdf(FAST) * noise, middle)
        before, levels = levels, np.array([low, middle, middle - step])
        growth = float(sizes[k] - sizes[k - 1]) if k else math.inf
        error = noise * math.sqrt(2.0 / values.size)
        change = _change_cost(before, levels, growth, error, len(logs))
        entered = totals[:, np.newaxis, :] + change[..., np.newaxis]
        paths = [
            _path(values - candidate, step, noise, (float(costs[0]), float(costs[1])))
            for candidate, costs in zip(levels, np.min(entered, axis=0), strict=True)
        ]
        kept.append((np.argmin(entered, axis=0), paths))
        totals = np.array([path.total for path in paths])
    level, state = (int(place) for place in np.unravel_index(np.argmin(totals), totals.shape))
    slow_samples = []
    for came_from_level, paths in reversed(kept):
        path = np.empty(len(paths[level].came_from), dtype=np.bool_)
        for k in range(path.size - 1, -1, -1):
            path[k] = state == 1
            state = paths[level].came_from[k][state]
        level = int(came_from_level[level, state])
        slow_samples.append(path)
    return slow_samples[::-1]


def _change_cost(
    before: Floats, after: Floats, growth: float, error: float, records: int
) -> Floats:
    """What it costs that a level follows another, shape (before, after), where the size grows by `growth`.

    Nothing within one protocol, whose levels differ by their `error`; at most what one of the `records` costs that
    begins another one.
    """
    rise = after - before[:, np.newaxis]
    beyond = rise - np.clip(rise, min(growth, 0.0), max(growth, 0.0))
    return np.minimum((beyond / error) ** 2, 2.0 * math.log(records))


@dataclass(frozen=True)
class _Path:
    """The least costs of a record that ends in the fast and in the slow state, and the state before each sample."""

    total: tuple[float, float]
    came_from: list[tuple[int, int]]


def _path(off: Floats, step: float, noise: float, entered: tuple[float, float]) -> _Path:
    switch = 2.0 * math.log(off.size)
    in_fast, in_slow = entered
    came_from = []
    for off_fast, off_slow in zip(
        _far(off, noise).tolist(), _far(off - step, noise).tolist(), strict=True
    ):
        came_from.append((int(in_slow + switch < in_fast), int(in_slow <= in_fast + switch)))
        in_fast, in_slow = (
            min(in_fast, in_slow + switch) + off_fast,
            min(in_slow, in_fast + switch) + off_slow,
        )
    return _Path((in_fast, in_slow), came_from)


def _far(off: Floats, noise: float) -> Floats:
    return np.minimum((off / noise) ** 2, BEYOND_DOUBT**2)
