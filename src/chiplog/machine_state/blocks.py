"""Blocks of records in one state of the machine, told from noisy indicators in the order of time.

A state outlasts its moment: records that follow each other mostly share it, while noise is new in each record. So the
run is cut into blocks where the indicators' level changes, and blocks of one level are joined to one state. The noise
is what neighbouring records differ by.

Source: R. Killick, P. Fearnhead, I. A. Eckley, "Optimal detection of changepoints with a linear computational cost",
JASA 107 (2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chiplog.statistics import BEYOND_DOUBT

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
AreApart = Callable[[Mask, Mask], bool]
"""Whether two groups of records, each a mask of shape (records,), differ by enough to be two states."""

SPIKE_WINDOW = 5
"""Study (decision 0037): records of the running median: a block is half of them and more."""
STEPS_OF_NOISE = 0.75
"""Given: the share of the steps from record to record that noise alone explains. States change less often than every
fourth record, and noise that has two modes has many steps between them, which a median would not see."""
MIN_NOISE = 0.01
"""Given: relative noise of any indicator; below, the steps of the clock would count."""


def noise_scale(logs: Floats) -> Floats:
    """The noise of each indicator from the differences of neighbours, shape (indicators,).

    `logs` are the logarithms of the indicators in the order of time, shape (records, indicators).
    """
    if len(logs) < 2:
        return np.full(logs.shape[1], MIN_NOISE)
    steps = np.quantile(np.abs(np.diff(logs, axis=0)), STEPS_OF_NOISE, axis=0)
    of_normal = NormalDist(sigma=np.sqrt(2.0)).inv_cdf((1.0 + STEPS_OF_NOISE) / 2.0)
    return np.asarray(np.maximum(steps / of_normal, MIN_NOISE))


def states_in_time(logs: Floats, are_apart: AreApart) -> NDArray[np.int64]:
    """The state of each record, numbers from 0 on, shape (records,).

    `logs` are the logarithms of the indicators in the order of time, shape (records, indicators), none missing. Levels
    that noise can tell apart are two states only where `are_apart` says so.
    """
    scaled = logs / noise_scale(logs)
    penalty = _penalty(scaled)
    ends = _block_ends(_without_spikes(scaled), penalty)
    block = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    return _joined(scaled, block, penalty, are_apart)


def _penalty(scaled: Floats) -> float:
    """By how much a change of state must lower the sum of squares: log(records) for its time and each of its levels.

    That is the Bayesian information criterion. Noise that indicators share counts in each of them, so the largest
    eigenvalue of their correlation (1 where they share none) stands for the time.
    """
    count, indicators = scaled.shape
    steps = np.clip(np.diff(scaled, axis=0), -BEYOND_DOUBT, BEYOND_DOUBT)
    shared = 1.0
    if indicators > 1 and len(steps) > 1 and np.all(np.std(steps, axis=0) > 0.0):
        shared = float(np.linalg.eigvalsh(np.corrcoef(steps, rowvar=False))[-1])
    return float((indicators + shared) * np.log(max(count, 2)))


def _without_spikes(scaled: Floats) -> Floats:
    """The values, drawn to within `BEYOND_DOUBT` of the running median."""
    reach = SPIKE_WINDOW // 2
    padded = np.pad(
        scaled, ((reach, reach), (0, 0)), mode="reflect" if len(scaled) > reach else "edge"
    )
    windows = np.lib.stride_tricks.sliding_window_view(padded, SPIKE_WINDOW, axis=0)
    centre = np.median(windows, axis=-1)
    return np.asarray(np.clip(scaled, centre - BEYOND_DOUBT, centre + BEYOND_DOUBT))


def _block_ends(values: Floats, penalty: float) -> list[int]:
    """The ends (exclusive) of the blocks with the least sum of squares about their means plus `penalty` a change."""
    count = len(values)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum(np.sum(values**2, axis=1))])
    best = np.zeros(count + 1)
    best[0] = -penalty
    last = np.zeros(count + 1, dtype=np.int64)
    starts = np.array([0])
    for end in range(1, count + 1):
        inside = sums[end] - sums[starts]
        cost = squares[end] - squares[starts] - np.sum(inside**2, axis=1) / (end - starts)
        total = best[starts] + cost
        winner = int(np.argmin(total))
        best[end], last[end] = total[winner] + penalty, starts[winner]
        starts = np.append(starts[total <= best[end]], end)
    ends = [count]
    while last[ends[-1]] > 0:
        ends.append(int(last[ends[-1]]))
    return ends[::-1]


def _joined(
    scaled: Floats, block: NDArray[np.int64], penalty: float, are_apart: AreApart
) -> NDArray[np.int64]:
    """The state of each record: blocks joined, the most alike first, until all that are left differ."""
    members = {number: block == number for number in np.unique(block).tolist()}
    levels = {number: np.median(scaled[mask], axis=0) for number, mask in members.items()}

    def rises(pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Of the sum of squares, where the two blocks of each pair are joined."""
        by_pair = {}
        for pair in pairs:
            sizes = [np.count_nonzero(members[number]) for number in pair]
            distance = levels[pair[0]] - levels[pair[1]]
            by_pair[pair] = float(sizes[0] * sizes[1] / sum(sizes) * (distance @ distance))
        return by_pair

    to_join = rises(combinations(members, 2))
    while to_join:
        first, second = pair = min(to_join, key=to_join.__getitem__)
        if to_join.pop(pair) > penalty and are_apart(members[first], members[second]):
            continue
        members[first] = members[first] | members.pop(second)
        levels[first] = np.median(scaled[members[first]], axis=0)
        to_join = {other: rise for other, rise in to_join.items() if not {*pair} & {*other}}
        to_join |= rises((first, other) for other in members if other != first)
    state = np.zeros(len(block), dtype=np.int64)
    for number, mask in enumerate(members.values()):
        state[mask] = number
    return state
