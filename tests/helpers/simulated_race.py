"""A launcher without ranks for the race: true times, effects of the launch, noise, and candidates that misbehave."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate
from chiplog.tune.measured.launch import (
    SURE_SECONDS,
    CandidateSamples,
    Effort,
    Failure,
    RaceEntry,
    Result,
)

LONG_SECONDS = 10e-3
"""Where the shortest takes as long, what is far behind has a single call."""
Truth = Callable[[str, int], float]
"""Seconds of a candidate (or of the default) at a number of bytes."""


def candidates(count: int) -> tuple[Candidate, ...]:
    """So many, a0, a1, ...; numbered from 1 as Open MPI does."""
    return tuple(
        Candidate(f"a{place}", (("cvar", place + 1),), Native(f"a{place}", place + 1))
        for place in range(count)
    )


@dataclass
class SimulatedLauncher:
    """Each launch moves all times (drift), and each candidate's in each cell by itself; samples scatter on top."""

    truth: Truth
    seed: int = 0
    launch_sigma: float = 0.05
    """Of a candidate's own effect of the launch: nothing cancels it."""
    drift_sigma: float = 0.2
    """Of what all candidates of a launch share."""
    noise_sigma: float = 0.1
    outlier_share: float = 0.05
    """Of launches in which a candidate takes twice as long, and of samples that take five times as long."""
    start_seconds: float = 1.0
    """Of a launch, before anything is measured."""
    crashes: frozenset[str] = frozenset()
    refuses: dict[str, str] = field(default_factory=dict)
    after_barriers: dict[str, float] = field(default_factory=dict)
    """By candidate: a sample after a barrier takes as many times as long as one in a window."""
    by_datatype: dict[tuple[str, str], float] = field(default_factory=dict)
    """By candidate (or default) and datatype: it takes as many times as long as of another one."""
    log: list[list[RaceEntry]] = field(default_factory=list)
    seconds: float = 0.0
    """Simulated time so far."""

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """One launch."""
        self.log.append(list(entries))
        began = self.seconds
        self.seconds += self.start_seconds
        result = Result(samples={}, slow={}, refused={})
        drift = float(np.exp(self._random.normal(0.0, self.drift_sigma)))
        for place, entry in enumerate(entries):
            for one in entry.candidates:
                if one.name in self.crashes:
                    in_trials = one is not entry.candidates[-1]
                    failure = Failure(place, one.name, "it ends with code 139", in_trials)
                    return Result(result.samples, result.slow, result.refused, failure, 1.0)
            self._race(place, entry, drift, effort, result)
            if self.seconds > began + limit_seconds:
                self.seconds = began + limit_seconds
                kept = {key: one for key, one in result.samples.items() if key[0] < place}
                return replace(result, samples=kept, wall_seconds=limit_seconds, is_cut=True)
        return replace(result, wall_seconds=self.seconds - began)

    def _race(
        self, place: int, entry: RaceEntry, drift: float, effort: Effort, result: Result
    ) -> None:
        """As the program does: the first call is checked, and a reduction has one more that is."""
        size = entry.cell.message_bytes
        kept: dict[str, float] = {}
        for one in entry.candidates:
            true = self.truth(one.name, size)
            true *= self.by_datatype.get((one.name, entry.cell.datatype), 1.0)
            if one.name in self.refuses or not math.isfinite(true):
                reason = self.refuses.get(one.name, "its result is wrong")
                result.refused[place, one.name] = reason  # type: ignore[index]
                continue
            limit = effort.cutoff * min(kept.values(), default=math.inf)
            is_cut = min(kept.values(), default=0.0) >= LONG_SECONDS and true > 2 * limit
            is_reduction = "reduce" in entry.cell.operation
            is_checked = effort.checks and is_reduction and true <= limit
            is_tried = not is_cut and true < SURE_SECONDS
            self.seconds += true * (1 + is_tried + is_checked)
            kept[one.name] = true
        limit = effort.cutoff * min(kept.values())
        for name, true in kept.items():
            if true > limit and name != DEFAULT_NAME:
                result.slow[place, name] = true  # type: ignore[index]
        fit = {name: true for name, true in kept.items() if (place, name) not in result.slow}
        turns = effort.cell_seconds / sum(fit.values())
        count = int(min(max(turns, effort.least), effort.samples))
        count += count % 2 if count > 1 else 0
        for name, true in fit.items():
            all_of_it = self._samples(true * drift, count)
            all_of_it[1::2] *= self.after_barriers.get(name, 1.0)
            by_mode = {"window": all_of_it[::2], "barrier": all_of_it[1::2]}
            samples = CandidateSamples({mode: one for mode, one in by_mode.items() if one.size})
            result.samples[place, name] = samples  # type: ignore[index]
            self.seconds += float(samples.seconds.sum())

    def _samples(self, seconds: float, count: int) -> np.ndarray:
        effect = float(np.exp(self._random.normal(0.0, self.launch_sigma)))
        if self._random.random() < self.outlier_share:
            effect *= 2
        noise = np.exp(self._random.normal(0.0, self.noise_sigma, count))
        noise[self._random.random(count) < self.outlier_share] *= 5
        return np.asarray(seconds * effect * noise)
