"""Spells of a machine's states: which stretches of a run are alike, told from noisy witnesses in the order of time.

A state outlasts its moment: records that follow each other mostly share it, while noise is new in each record. So the
witnesses are cut into spells where their level changes, spells of one level are joined to one state, and each record
then gets the state of the likeliest path. Noise is known from the differences of neighbours, not from a fixed factor.

Sources: R. Killick, P. Fearnhead, I. A. Eckley, "Optimal detection of changepoints with a linear computational cost",
JASA 107 (2012), for the spells; G. D. Forney, "The Viterbi algorithm", Proc. IEEE 61 (1973), for the path.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Apart = Callable[[NDArray[np.bool_], NDArray[np.bool_]], bool]
"""Whether two groups of records, each a mask of shape (records,), differ by enough to be two states."""

SPIKE = 3.0
"""Noise scales around the running median up to which a value counts when spells are sought: a spike is no spell."""
SPIKE_WINDOW = 5
"""Records of the running median: a spell is half of them and more."""
MANY = 20
"""Records from which a correlation of witnesses means something."""
FAR = 5.0
"""Noise scales beyond which a record is no less like a state."""
LARGE_STEP, LARGE_STEP_NORMAL = 0.75, 1.150
"""Share of the steps from record to record that noise alone explains, and that quantile of |N(0, 1)|.

States change less often than every fourth record. Noise that has two modes has many steps between them, which a median
would not see.
"""
LEAST_NOISE = 0.01
"""Relative noise that witnesses have at least: below, the steps of the clock would count."""


def noise_scale(logs: Floats) -> Floats:
    """The noise of each witness from the differences of neighbours, shape (witnesses,).

    `logs` are the logarithms of the witnesses in the order of time, shape (records, witnesses).
    """
    if len(logs) < 2:
        return np.full(logs.shape[1], LEAST_NOISE)
    steps = np.quantile(np.abs(np.diff(logs, axis=0)), LARGE_STEP, axis=0)
    return np.asarray(np.maximum(steps / (LARGE_STEP_NORMAL * np.sqrt(2.0)), LEAST_NOISE))


def states_in_time(logs: Floats, apart: Apart) -> NDArray[np.int64]:
    """The state of each record, numbers from 0 on, shape (records,).

    `logs` are the logarithms of the witnesses in the order of time, shape (records, witnesses), none missing. Levels
    that noise can tell apart are two states only where `apart` says so.
    """
    scaled = logs / noise_scale(logs)
    penalty = _penalty(scaled)
    ends = _spell_ends(_without_spikes(scaled), penalty)
    spell = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    path = _likeliest(scaled, _joined(scaled, spell, penalty, apart), penalty)
    return _joined(scaled, path, penalty, apart)  # which levels the path moved together


def _penalty(scaled: Floats) -> float:
    """By how much a change of state must lower the sum of squares: log(records) for its time and each of its levels.

    That is the Bayesian information criterion. Noise that witnesses share counts in each of them, so the largest
    eigenvalue of their correlation (1 where they share none) stands for the time.
    """
    count, witnesses = scaled.shape
    shared = 1.0
    if witnesses > 1 and count > MANY:
        steps = np.clip(np.diff(scaled, axis=0), -SPIKE, SPIKE)
        shared = float(np.linalg.eigvalsh(np.atleast_2d(_correlation(steps)))[-1])
    return float((witnesses + shared) * np.log(max(count, 2)))


def _correlation(steps: Floats) -> Floats:
    spread = np.maximum(steps.std(axis=0), 1e-12)
    centred = (steps - steps.mean(axis=0)) / spread
    return np.asarray(centred.T @ centred / len(steps))


def _without_spikes(scaled: Floats) -> Floats:
    """The values, drawn to within `SPIKE` of the running median."""
    reach = SPIKE_WINDOW // 2
    padded = np.pad(
        scaled, ((reach, reach), (0, 0)), mode="reflect" if len(scaled) > reach else "edge"
    )
    windows = np.lib.stride_tricks.sliding_window_view(padded, SPIKE_WINDOW, axis=0)
    centre = np.median(windows, axis=-1)
    return np.asarray(np.clip(scaled, centre - SPIKE, centre + SPIKE))


def _spell_ends(values: Floats, penalty: float) -> list[int]:
    """The ends (exclusive) of the spells with the least sum of squares about their means plus `penalty` a change."""
    count = len(values)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum(np.sum(values**2, axis=1))])
    best = np.zeros(count + 1)
    best[0] = -penalty
    last = np.zeros(count + 1, dtype=np.int64)
    open_starts = np.array([0])
    for end in range(1, count + 1):
        inside = sums[end] - sums[open_starts]
        cost = squares[end] - squares[open_starts] - np.sum(inside**2, axis=1) / (end - open_starts)
        total = best[open_starts] + cost
        winner = int(np.argmin(total))
        best[end], last[end] = total[winner] + penalty, open_starts[winner]
        open_starts = np.append(open_starts[total <= best[end]], end)
    ends = [count]
    while last[ends[-1]] > 0:
        ends.append(int(last[ends[-1]]))
    return ends[::-1]


def _joined(
    scaled: Floats, labels: NDArray[np.int64], penalty: float, apart: Apart
) -> NDArray[np.int64]:
    """The state of each record: what has one label, joined, the most alike first, until all that are left differ."""
    groups = [labels == number for number in np.unique(labels)]
    weights = np.array([float(np.sum(group)) for group in groups])
    levels = np.array([np.median(scaled[group], axis=0) for group in groups])
    kept_apart: set[tuple[int, int]] = set()
    alive = list(range(len(groups)))
    while len(alive) > 1:
        mine, w = levels[alive], weights[alive]
        share = w[:, None] * w[None, :] / (w[:, None] + w[None, :])
        rise = share * np.sum((mine[:, None, :] - mine[None, :, :]) ** 2, axis=2)
        rise[np.tril_indices(len(alive))] = np.inf
        for one, other in kept_apart:
            if one in alive and other in alive:
                rise[alive.index(one), alive.index(other)] = np.inf
        if not np.isfinite(rise.min()):
            break
        row, column = np.unravel_index(int(np.argmin(rise)), rise.shape)
        first, second = alive[row], alive[column]
        if rise[row, column] > penalty and apart(groups[first], groups[second]):
            kept_apart.add((first, second))
            continue
        groups[first] = groups[first] | groups[second]
        levels[first] = np.median(scaled[groups[first]], axis=0)
        weights[first] += weights[second]
        alive.remove(second)
        kept_apart = {pair for pair in kept_apart if first not in pair}
    state = np.zeros(len(labels), dtype=np.int64)
    for number, group in enumerate(alive):
        state[groups[group]] = number
    return state


def _likeliest(scaled: Floats, state: NDArray[np.int64], penalty: float) -> NDArray[np.int64]:
    """The likeliest path through the states, which now have known levels."""
    numbers = np.unique(state)
    levels = np.array([np.median(scaled[state == number], axis=0) for number in numbers])
    misfit = np.sum(np.minimum(np.abs(scaled[:, None, :] - levels[None, :, :]), FAR) ** 2, axis=2)
    total = misfit[0].copy()
    came_from = np.zeros(misfit.shape, dtype=np.int64)
    for record in range(1, len(misfit)):
        best = int(np.argmin(total))
        switches = total > total[best] + penalty
        came_from[record] = np.where(switches, best, np.arange(len(numbers)))
        total = np.where(switches, total[best] + penalty, total) + misfit[record]
    path = np.empty(len(misfit), dtype=np.int64)
    path[-1] = int(np.argmin(total))
    for record in range(len(misfit) - 1, 0, -1):
        path[record - 1] = came_from[record, path[record]]
    return path
