"""The race: UCX as it is in force now against UCX with the file, at sizes that nothing was decided with.

Launches with and without the file take turns, and the launch is the random factor, as in the race of collective
operations (`chiplog.tune.measured.statistics`). Only sizes whose protocol differs take part: at the others both do the
same. The way to send that is worse for the file counts. All intervals hold together at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from chiplog.tune.measured.statistics import (
    LOOKS,
    MARGIN,
    CandidateRatio,
    is_hopeless,
    log_ratio,
    ratio_over_launches,
)
from chiplog.tune.ucx.launches import Measure, Settings, UcxLaunch
from chiplog.tune.ucx.protocols import Protocols


@dataclass(frozen=True)
class SizeRatio:
    """Time with the file over the time without it, at one size."""

    message_bytes: int
    now: str
    """The protocol without the file."""
    then: str
    """The protocol with it."""
    ratio: CandidateRatio


@dataclass(frozen=True)
class UcxRace:
    """What came of it."""

    sizes: tuple[SizeRatio, ...]
    failure: str | None
    """Why the file isn't better; None where it is."""


def held_out_sizes(
    sizes: Sequence[int], now: Protocols, then: Protocols, random: np.random.Generator
) -> tuple[int, ...]:
    """One size between each two neighbours, drawn evenly in its logarithm, where the protocols differ."""
    drawn = []
    for low, high in pairwise(sizes):
        size = round(math.exp(random.uniform(math.log(max(low, 1)), math.log(high))))
        if low < size < high and now.at(size) != then.at(size):
            drawn.append(size)
    return tuple(drawn)


@dataclass
class Pairs:
    """Launches in pairs: one with the settings in force, one with the file's."""

    measure: Measure
    settings: Settings
    sizes: tuple[int, ...]
    random: np.random.Generator
    first_number: int
    races: int = 1
    """Of which this is one: all their intervals hold together."""
    logs: dict[int, list[float]] = field(default_factory=dict)

    def run(self, now: Protocols, then: Protocols) -> UcxRace:
        """Pairs of launches until all is sure, or surely never will be."""
        if not self.sizes:
            return UcxRace((), "UCX uses the same protocols with these settings")
        self.logs = {size: [] for size in self.sizes}
        statements = len(self.sizes) * len(LOOKS) * self.races
        launches = 0
        for look in LOOKS:
            for _ in range(launches, look):
                self._launch_pair()
            launches = look
            ratios = {
                size: ratio_over_launches(logs, statements) for size, logs in self.logs.items()
            }
            failure = _failure(ratios)
            hopeless = any(is_hopeless(logs, MARGIN, statements) for logs in self.logs.values())
            if failure is None or hopeless:
                break
        rows = (SizeRatio(s, now.at(s), then.at(s), ratio) for s, ratio in ratios.items())
        return UcxRace(tuple(rows), failure)

    def _launch_pair(self) -> None:
        order = [int(size) for size in self.random.permutation(self.sizes)]
        settings: list[Settings] = [{}, self.settings]
        begins = int(self.random.integers(2))
        ended: dict[int, UcxLaunch] = {}
        for which in (begins, 1 - begins):
            ended[which] = self.measure(settings[which], order, self.first_number)
            self.first_number += 1
        for size in self.sizes:
            ratio = log_ratio(ended[1].samples[size], ended[0].samples[size])
            if ratio is not None:
                self.logs[size].append(ratio)


def _failure(ratios: dict[int, CandidateRatio]) -> str | None:
    worst = max(ratios, key=lambda size: ratios[size].high)
    if ratios[worst].high > MARGIN:
        return (
            f"at {worst} B it takes {ratios[worst].value:.2f} times as long, and up to {ratios[worst].high:.2f} times "
            "is possible"
        )
    if all(ratio.high >= 1.0 for ratio in ratios.values()):
        return "at no size it is surely faster"
    return None
