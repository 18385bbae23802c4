"""One launch of the race: which cells with which candidates, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chiplog.measurement.datatypes import BYTE
from chiplog.tune.measured.candidate import Candidate

Key = tuple[int, str]
"""A cell's place in the plan, and a candidate's name."""


@dataclass(frozen=True)
class Cell:
    """One operation at one number of ranks, one size and of one datatype."""

    operation: str
    ranks: int
    message_bytes: int
    datatype: str = BYTE


@dataclass(frozen=True)
class RaceEntry:
    """A cell, and who races there; the default comes first."""

    cell: Cell
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Failure:
    """A launch that crashed, hung or ended too early; the candidate is None where nothing had begun."""

    place: int
    candidate: str | None
    reason: str
    in_trials: bool
    """Whether it was certainly that candidate: later ones of the cell had not begun."""


TRIALS = 2
"""Given: calls of each candidate in each cell of a launch before its samples; a checked reduction has one more."""
SURE_SECONDS = 0.1
"""Given: a candidate whose call takes as long has one of them."""
NO_CUTOFF = 1e12
"""Given: all samples are kept. Without the slow ones, the rest would look faster than it is."""
BUDGET_SECONDS = 600.0
"""Given: for a whole race, by default."""
MODES = ("window", "barrier")
"""How a sample begins: on all ranks at one time of a global clock, or as they leave a barrier."""

BY_FILE, BESIDE_FILE = "by the file", "forced beside the file"
"""In place of the names of the default and the candidate, where the tuning file is in force."""


@dataclass(frozen=True)
class CandidateSamples:
    """Seconds of one candidate in one cell of a launch, by mode; never without any mode."""

    by_mode: Mapping[str, NDArray[np.float64]]

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Of all modes."""
        return np.concatenate(list(self.by_mode.values()))

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.seconds.size)

    @property
    def typical(self) -> float:
        """The median of all, in seconds."""
        return float(np.median(self.seconds))


@dataclass(frozen=True)
class Result:
    """What a launch found out; by cell and candidate."""

    samples: Mapping[Key, CandidateSamples] = field(default_factory=dict)
    slow: Mapping[Key, float] = field(default_factory=dict)
    """Seconds of one call of those that were too slow for more."""
    refused: Mapping[Key, str] = field(default_factory=dict)
    failure: Failure | None = None
    wall_seconds: float = 0.0  # Given: of nothing
    is_cut: bool = False
    """Whether it was ended at its limit; later cells have no samples then."""

    def seconds_in(self, place: int) -> float:
        """Samples and trials of one cell, in seconds."""
        samples_here = [s for (where, _), s in self.samples.items() if where == place and s.size]
        return sum(float(s.seconds.sum()) + trial_seconds(s.typical) for s in samples_here)

    @property
    def overhead_seconds(self) -> float:
        """What the launch took beside samples and trials: starting ranks, clocks, agreeing on starts."""
        measured = [sample for sample in self.samples.values() if sample.size]
        samples = sum(float(sample.seconds.sum()) for sample in measured)
        trials = sum(trial_seconds(sample.typical) for sample in measured)
        return max(0.0, self.wall_seconds - samples - trials - sum(self.slow.values()))


@dataclass(frozen=True)
class Effort:
    """How much a launch measures in each cell."""

    cell_seconds: float = 0.3
    """Given: in which samples are taken, `least` to `samples` of them."""
    samples: int = 30
    """Given: of each candidate, at most."""
    least: int = 4
    """Given: of each candidate, however long they take."""
    cutoff: float = NO_CUTOFF
    """A candidate whose trial takes longer than this times the shortest one has no samples."""
    checks: bool = False
    commutative: bool = False
    """Whether reductions are checked with operations that commute only."""


class Launcher(Protocol):
    """Starts the ranks."""

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """One launch, which is ended at its limit; a failure is part of the result."""


def trial_seconds(typical: float) -> float:
    """What a candidate takes before its samples, if one call takes `typical` seconds."""
    return typical * (TRIALS if typical < SURE_SECONDS else 1)
