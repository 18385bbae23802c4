"""A launcher without ranks for the race: true times, effects of the launch, noise, and candidates that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate
from chiplog.tune.measured.launch import Effort, Entry, Failure, Result

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
    samples: int = 15
    crashes: frozenset[str] = frozenset()
    refuses: dict[str, str] = field(default_factory=dict)
    log: list[list[Entry]] = field(default_factory=list)
    seconds: float = 0.0
    """Simulated time so far."""

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def launch(self, entries: Sequence[Entry], effort: Effort, seed: int) -> Result:
        """One launch."""
        self.log.append(list(entries))
        self.seconds += 1.0
        result = Result(samples={}, slow={}, refused={})
        drift = float(np.exp(self._random.normal(0.0, self.drift_sigma)))
        for place, entry in enumerate(entries):
            for one in entry.candidates:
                if one.name in self.crashes:
                    in_trials = one is not entry.candidates[-1]
                    failure = Failure(place, one.name, "it ends with code 139", in_trials)
                    return Result(result.samples, result.slow, result.refused, failure, 1.0)
            self._race(place, entry, drift, effort, result)
        return result

    def _race(self, place: int, entry: Entry, drift: float, effort: Effort, result: Result) -> None:
        size = entry.cell.message_bytes
        shortest = min(self.truth(one.name, size) for one in entry.candidates)
        for one in entry.candidates:
            key = (place, one.name)
            true = self.truth(one.name, size)
            if one.name in self.refuses:
                result.refused[key] = self.refuses[one.name]  # type: ignore[index]
            elif true > effort.cutoff * shortest and one.name != DEFAULT_NAME:
                result.slow[key] = true  # type: ignore[index]
                self.seconds += 2 * true
            else:
                samples = self._samples(true * drift)
                result.samples[key] = samples  # type: ignore[index]
                self.seconds += float(samples.sum())

    def _samples(self, seconds: float) -> np.ndarray:
        effect = float(np.exp(self._random.normal(0.0, self.launch_sigma)))
        if self._random.random() < self.outlier_share:
            effect *= 2
        noise = np.exp(self._random.normal(0.0, self.noise_sigma, self.samples))
        noise[self._random.random(self.samples) < self.outlier_share] *= 5
        return np.asarray(seconds * effect * noise)
