"""A launcher without ranks for guidelines: true times of calls, effects of the launch, noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from chiplog.tune.guidelines.guideline import TimedCall
from chiplog.tune.measured.launch import CandidateSamples, Effort, Failure, RaceEntry, Result

Truth = Callable[[TimedCall], float]
"""Seconds of a call."""


@dataclass
class SimulatedCalls:
    """Each launch moves all times (drift), and those of each call by themselves; samples scatter on top."""

    truth: Truth
    seed: int = 0
    launch_sigma: float = 0.03
    """Of a call's own effect of the launch: nothing cancels it."""
    outlier_share: float = 0.05
    """Of launches in which a call takes twice as long."""
    fails_in: int | None = None
    """The number of the launch that ends too early."""
    refuses: dict[TimedCall, str] = field(default_factory=dict)
    log: list[list[RaceEntry]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """One launch."""
        self.log.append(list(entries))
        if self.fails_in == len(self.log):
            return Result(failure=Failure(0, None, "it ends with code 139", False))
        drift = float(np.exp(self._random.normal(0.0, 0.2)))
        calls = {
            (place, candidate.name): TimedCall(entry.cell, candidate.name)
            for place, entry in enumerate(entries)
            for candidate in entry.candidates
        }
        refused = {key: self.refuses[call] for key, call in calls.items() if call in self.refuses}
        samples = {
            key: self._samples(drift * self.truth(call))
            for key, call in calls.items()
            if key not in refused
        }
        return Result(samples, refused=refused)

    def _samples(self, seconds: float) -> CandidateSamples:
        effect = float(np.exp(self._random.normal(0.0, self.launch_sigma)))
        if self._random.random() < self.outlier_share:
            effect *= 2.0
        noise = np.exp(self._random.normal(0.0, 0.1, size=(2, 20)))
        window, barrier = seconds * effect * noise
        return CandidateSamples({"window": window, "barrier": barrier})
