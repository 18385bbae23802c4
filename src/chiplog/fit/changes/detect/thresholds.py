"""Every number that decides about a protocol change, with what it follows from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """What a set of medians must show to be evidence of a protocol change.

    "Study" is `benchmarks/changes.py`: machines with known changes beside noise that isn't friendly.
    """

    resolution: float = 0.01
    least_noise: float = 1e-3
    break_penalty: float = 16.0
    significance: float = 2e-4
    least_jump: float = 0.02
    max_segments: int = 8
    kink_places: int = 13
    least_freedom_share: float = 0.25
    drift_correlation: float = 0.9
    drift_ratio: float = 10.0


THRESHOLDS = Thresholds()
