"""By how much two runs differ and by how much they do by chance: one noise model with two runs.

    log(sample) = log(curve(size)) + state(moment) + drift(moment) + launch + visit + sample

The curve cancels in the log ratio of a row. What is left of a difference is a range of sizes that differ alike, if not
one row alone; what chance adds is what all rows have in common (state, drift, launch) and each row's own noise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chiplog.comparison.chance import Common, are_imported, common_chance, is_simulated
from chiplog.comparison.points import Key, Rows, launch_means, launches_of, mean_log
from chiplog.comparison.ranges import Level, levels_of
from chiplog.comparison.result import Compared
from chiplog.comparison.row_noise import RowNoise, noise_of_sizes, noise_of_visits
from chiplog.dataset.series import Dataset
from chiplog.machine_state.noise import LAUNCHES_DIFFER, OUTLIER

POSTS_DIFFER = math.log(6.0)
"""Given: log ratio by which what a post or a receive takes differs between launches: it depends on the place of their
buffers."""
LAUNCHES_OF_POSTS = 3
"""Given: fewer launches of each run may all have their buffers in one kind of place, the other run's in another."""
POSTS = ("send_overhead", "receive_overhead", "late_receiver")


@dataclass(frozen=True)
class Differences:
    """The log ratios of the rows of two runs, and half widths of the intervals around them."""

    logs: Mapping[Key, float]
    noise: RowNoise
    levels: tuple[Level, ...]
    """The ranges of rows that differ alike."""
    by_place: frozenset[Key]
    """Posts and receives of too few launches to tell a change from another place in memory."""
    weights: Mapping[Key, float]
    """Of each row in the whole: the less noise it has, the more; 1 in all."""
    common: Common

    @property
    def whole(self) -> float:
        """The log ratio over all rows."""
        return sum(self.weights[key] * log for key, log in self.logs.items())

    @property
    def half_width_of_whole(self) -> float:
        """Of the log ratio over all rows: their own noise counts where no drift in time was seen that has it."""
        counting = [key for key, weight in self.weights.items() if weight > 0.0]
        noise_of_rows = 0.0 if self.common.is_drift_known else _of_rows(self.noise, counting)
        return self.common.half_width + noise_of_rows

    def half_width_of_level(self, level: Level) -> float:
        """Of the log ratio of a range: what all rows have in common, and its own rows' noise."""
        return self.common.half_width + self._place(level.keys) + _of_rows(self.noise, level.keys)

    def half_width_of_row(self, key: Key) -> float:
        """Of the log ratio of a row alone. One of single values may be that of an outlier in either run."""
        error = self.noise.quantile([key]) * self.noise.errors[key]
        if (outlier := self.noise.outlier) is not None:
            error = min(max(error, math.sqrt(2.0) * outlier), 2.0 * outlier - LAUNCHES_DIFFER)
        return self.common.half_width + self._place([key]) + error

    def _place(self, keys: Sequence[Key]) -> float:
        return POSTS_DIFFER if self.by_place.intersection(keys) else 0.0


def differences(runs: Sequence[Dataset], both: Sequence[Rows], further: float) -> Differences:
    """What two runs with the same rows differ by; `further` is a half width that all rows have besides."""
    logs = {key: mean_log(both[1][key]) - mean_log(both[0][key]) for key in both[0]}
    curves = _curves(logs)
    launches, simulated = min(map(launches_of, both)), is_simulated(runs)
    by_launch = [launch_means(rows) for rows in both] if launches > 1 and not simulated else both
    noise = noise_of_visits(by_launch, list(logs)) or noise_of_sizes(
        curves, OUTLIER if are_imported(runs) else math.inf
    )
    levels = [level for curve in curves for level in levels_of(curve, noise.errors)]
    few = launches < LAUNCHES_OF_POSTS and not simulated
    by_place = frozenset(key for key in logs if few and key[0].pattern in POSTS)
    weights = _weights(noise, levels, by_place)
    groups = {key: -1 - number for number, key in enumerate(logs)}  # rows alone
    groups |= {key: number for number, level in enumerate(levels) for key in level.keys}
    common = common_chance(runs, both, weights, groups)
    common = replace(common, half_width=common.half_width + further)
    return Differences(logs, noise, tuple(levels), by_place, weights, common)


def _curves(logs: Mapping[Key, float]) -> list[dict[Key, float]]:
    """The rows by what they compare, over the size; those of one size only, over the number of pairs and peers.

    Trains of all lengths are one curve: large messages have shorter ones.
    """
    sizes: dict[Compared, set[int]] = defaultdict(set)
    for what, size in logs:
        sizes[_of_any_train(what)].add(size)
    curves: dict[Compared, dict[Key, float]] = defaultdict(dict)
    for key in sorted(logs):
        what = _of_any_train(key[0])
        curve = what if len(sizes[what]) > 1 else replace(what, pairs=0, peers=0)
        curves[curve][key] = logs[key]
    return list(curves.values())


def _of_any_train(what: Compared) -> Compared:
    return replace(what, train=min(what.train, 2))


def _weights(
    noise: RowNoise, levels: Sequence[Level], by_place: frozenset[Key]
) -> dict[Key, float]:
    """Neither rows whose place in memory is not known have a weight, nor single values alone, unless all are such."""
    rows = noise.errors.keys()
    follow = rows if noise.is_repeated else {key for level in levels for key in level.keys}
    counting = follow - by_place or rows - by_place or rows
    inverse = {key: noise.errors[key] ** -2.0 * (key in counting) for key in rows}
    total = sum(inverse.values())
    return {key: weight / total for key, weight in inverse.items()}


def _of_rows(noise: RowNoise, keys: Sequence[Key]) -> float:
    """The half width of a level of these rows by their noise; of single values, at most that of one outlier."""
    half_width = noise.quantile(keys) * noise.error_of(keys)
    return half_width if noise.outlier is None else min(half_width, noise.outlier)
