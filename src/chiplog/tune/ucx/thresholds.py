"""The thresholds between UCX's protocols, from launches in which each protocol serves all sizes.

UCX sends by copies below UCX_ZCOPY_THRESH, eagerly from the user's buffer from there on, and by rendezvous from
UCX_RNDV_THRESH on. A pair of thresholds costs the sum, over the sizes measured, of the logarithms of the times of the
protocols that it gives them: each size counts the same. The best pair has the lowest mean over blocks of launches. A
pair is as good as the best unless its cost exceeds the best one's in the t interval over blocks, at a risk of 5 % that
is divided by the number of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chiplog.tune.measured.statistics import RISK, mean_interval
from chiplog.tune.ucx.launches import UcxLaunch
from chiplog.tune.ucx.protocols import COPY, RENDEZVOUS, ZERO_COPY, Protocols, kind_of

RENDEZVOUS_VARIABLE, ZERO_COPY_VARIABLE = "UCX_RNDV_THRESH", "UCX_ZCOPY_THRESH"
ARMS: Mapping[str, Mapping[str, str]] = {
    COPY: {RENDEZVOUS_VARIABLE: "inf", ZERO_COPY_VARIABLE: "inf"},
    ZERO_COPY: {RENDEZVOUS_VARIABLE: "inf", ZERO_COPY_VARIABLE: "0"},
    RENDEZVOUS: {RENDEZVOUS_VARIABLE: "0", ZERO_COPY_VARIABLE: "auto"},
}
"""What makes one kind of protocol serve every size that it can."""
AUTO = {RENDEZVOUS_VARIABLE: "auto", ZERO_COPY_VARIABLE: "auto"}
"""What leaves the choice to UCX, whatever the environment says."""

Places = tuple[int, int]
"""How many of the sizes go by copies, and how many not by rendezvous."""


@dataclass(frozen=True)
class UcxThreshold:
    """One threshold in bytes, with a 95 % interval; None is beyond the sizes measured."""

    variable: str
    value: int | None
    low: int | None
    """The protocol surely doesn't pay below."""
    high: int | None
    """From here on it surely pays."""
    reason: str | None = None
    """Why there is no value."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of launches, one of each arm in each, over the same ascending sizes."""

    sizes: tuple[int, ...]
    launches: tuple[Mapping[str, UcxLaunch], ...]

    @property
    def has_zero_copy(self) -> bool:
        """Has this network an eager protocol without copies, at any size?"""
        protocols = self.launches[0][ZERO_COPY].protocols
        return any(kind_of(protocols.at(size)) == ZERO_COPY for size in self.sizes)

    @cached_property
    def logs(self) -> Mapping[str, NDArray[np.float64]]:
        """By arm: logarithms of seconds of shape (blocks, sizes), in the mean of both ways to send."""
        logs = {arm: np.array([self._row(block[arm]) for block in self.launches]) for arm in ARMS}
        first = self.launches[0]
        for place, size in enumerate(self.sizes):
            names = {arm: first[arm].protocols.at(size) for arm in ARMS}
            for arm in ARMS:
                same = [other for other in ARMS if names[other] == names[arm]]
                # Arms that send a size by the same protocol differ there by chance only.
                shared = np.mean([logs[other][:, place] for other in same], axis=0)
                for other in same:
                    logs[other][:, place] = shared
        return logs

    def _row(self, launch: UcxLaunch) -> list[float]:
        samples = [launch.samples[size].by_mode.values() for size in self.sizes]
        return [float(np.mean([math.log(np.median(s)) for s in of_size])) for of_size in samples]

    @cached_property
    def pairs(self) -> tuple[Places, ...]:
        """All pairs of thresholds between the sizes."""
        counts = range(len(self.sizes) + 1)
        if not self.has_zero_copy:
            return tuple((count, count) for count in counts)
        return tuple((copies, eager) for eager in counts for copies in range(eager + 1))

    def cost(self, kinds: Sequence[str]) -> NDArray[np.float64]:
        """By block: the sum of logarithms, with a kind of protocol for each size."""
        columns = [self.logs[kind][:, place] for place, kind in enumerate(kinds)]
        total: NDArray[np.float64] = np.sum(columns, axis=0)
        return total

    def kinds_at(self, places: Places) -> list[str]:
        """The kinds of protocol that a pair of thresholds gives to the sizes."""
        copies, eager = places
        rest = len(self.sizes) - eager
        return [COPY] * copies + [ZERO_COPY] * (eager - copies) + [RENDEZVOUS] * rest

    def kinds_of(self, protocols: Protocols) -> list[str]:
        """The kinds of protocol in force at the sizes."""
        return [kind_of(protocols.at(size)) for size in self.sizes]

    @cached_property
    def best(self) -> Places:
        """The pair of the lowest mean cost."""
        return min(self.pairs, key=lambda pair: float(np.mean(self.cost(self.kinds_at(pair)))))

    def is_as_good(self, kinds: Sequence[str]) -> bool:
        """Is it not surely worse than the best pair?"""
        excess = self.cost(kinds) - self.cost(self.kinds_at(self.best))
        return mean_interval(excess, RISK / len(self.pairs))[1] <= 0.0

    @cached_property
    def good(self) -> tuple[Places, ...]:
        """The pairs that are as good as the best."""
        return tuple(pair for pair in self.pairs if self.is_as_good(self.kinds_at(pair)))

    def thresholds(self) -> tuple[UcxThreshold, ...]:
        """That of rendezvous, and that of zero copy where the network has it and it pays at any size."""
        rendezvous = self._threshold(RENDEZVOUS_VARIABLE, 1)
        if not self.has_zero_copy:
            reason = "this network has no eager protocol without copies"
            return rendezvous, UcxThreshold(ZERO_COPY_VARIABLE, None, None, None, reason)
        return rendezvous, self._threshold(ZERO_COPY_VARIABLE, 0)

    def _threshold(self, variable: str, which: int) -> UcxThreshold:
        places = [pair[which] for pair in self.good]
        low = self.sizes[min(places) - 1] + 1 if min(places) else 0
        value, high = self._first(self.best[which]), self._first(max(places))
        if value is None:
            reason = f"it is best at no size up to {self.sizes[-1]} B"
            return UcxThreshold(variable, None, low, None, reason)
        if low == 0 and high is None:
            reason = "the launches differ by more than the protocols do"
            return UcxThreshold(variable, None, None, None, reason)
        return UcxThreshold(variable, value, low, high)

    def _first(self, place: int) -> int | None:
        return self.sizes[place] if place < len(self.sizes) else None

    def nearest(self, now: Protocols) -> Places:
        """Of the pairs as good as the best, the one that changes the protocol of the fewest sizes.

        What is not surely better stays as it is; of pairs that change as many, the best is taken.
        """
        kinds = self.kinds_of(now)

        def changes_and_cost(pair: Places) -> tuple[int, float]:
            wanted = self.kinds_at(pair)
            changes = sum(kind != other for kind, other in zip(kinds, wanted, strict=True))
            return changes, float(np.mean(self.cost(wanted)))

        return min(self.good, key=changes_and_cost)

    def settings(self, pair: Places, now: Protocols) -> dict[str, str]:
        """The variables that give a pair, where they differ from `now`; nothing is said beyond the sizes."""
        kinds, wanted = self.kinds_of(now), self.kinds_at(pair)
        settings = {}
        copies, eager = pair
        if [kind == RENDEZVOUS for kind in kinds] != [kind == RENDEZVOUS for kind in wanted]:
            settings[RENDEZVOUS_VARIABLE] = str(self._first(eager) or self.sizes[-1] + 1)
        # A size that goes by rendezvous now does not show how it would go without.
        if self.has_zero_copy and kinds[:eager] != wanted[:eager]:
            settings[ZERO_COPY_VARIABLE] = str(self._first(copies) or self.sizes[-1] + 1)
        return settings
