"""Intel MPI's candidates: its presets, which it takes from its environment when it starts, and from nowhere else.

So each candidate has a launch of its own in what the race takes for one launch. Where ranks land then no longer cancels
in the ratio of a candidate and the default; it is part of the scatter over launches, which the intervals are made of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import DEFAULT, DEFAULT_NAME, Candidate, Field
from chiplog.tune.measured.launch import Effort, Failure, Key, RaceEntry, Result
from chiplog.tune.measured.mpi_launcher import MpiLauncher
from chiplog.tune.writers.intelmpi import COMPLAINT, SAYS, variable_of

MOST_PRESETS = 1024
"""Given: far more than any release has."""

Says = Callable[[Mapping[str, str]], str]
"""What the MPI prints at a start with variables in its environment."""


def field_of(operation: str, says: Says) -> Field:
    """All presets of the operation that the release has."""
    variable = variable_of(operation)
    count = _presets(variable, says)
    return Field(
        tuple(
            Candidate(f"preset-{number}", ((variable, number),), Native(f"preset {number}", number))
            for number in range(1, count + 1)
        )
    )


def _presets(variable: str, says: Says) -> int:
    """How many there are: Intel MPI complains about numbers beyond the last one."""

    def is_known(number: int) -> bool:
        return COMPLAINT not in says({variable: str(number), **SAYS})

    known, unknown = 0, 1
    while unknown < MOST_PRESETS and is_known(unknown):
        known, unknown = unknown, 2 * unknown
    while unknown - known > 1:
        middle = (known + unknown) // 2
        known, unknown = (middle, unknown) if is_known(middle) else (known, middle)
    return known


@dataclass(frozen=True)
class SeparateLaunches:
    """A launcher of the race that starts the ranks once for each candidate, in random order."""

    launcher: MpiLauncher

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """All of them; what follows a failure is left out, as in a launch that holds all."""
        began = time.monotonic()
        candidates = list(
            {each.name: each for entry in entries for each in entry.candidates}.values()
        )
        order = np.random.default_rng(seed).permutation(len(candidates))
        merged = Result()
        for place in order:
            left = limit_seconds - (time.monotonic() - began)
            result = self._alone(candidates[int(place)], entries, effort, seed, left)
            merged = replace(
                merged,
                samples={**merged.samples, **result.samples},
                slow={**merged.slow, **result.slow},
                refused={**merged.refused, **result.refused},
                failure=result.failure,
                is_cut=result.is_cut,
            )
            if result.failure is not None or result.is_cut:
                break
        return replace(merged, wall_seconds=time.monotonic() - began)

    def _alone(
        self,
        candidate: Candidate,
        entries: Sequence[RaceEntry],
        effort: Effort,
        seed: int,
        limit_seconds: float,
    ) -> Result:
        """The cells of one candidate, which the program takes for the default."""
        places = [
            place
            for place, entry in enumerate(entries)
            if any(other.name == candidate.name for other in entry.candidates)
        ]
        alone = [RaceEntry(entries[place].cell, (DEFAULT,)) for place in places]
        forced = {name: str(value) for name, value in candidate.settings}
        environment = {**(self.launcher.environment or {}), **forced}
        launcher = replace(self.launcher, environment=environment)
        result = launcher.launch(alone, effort, seed, limit_seconds)

        def renamed(key: Key) -> Key:
            return places[key[0]], candidate.name

        return replace(
            result,
            samples={renamed(key): samples for key, samples in result.samples.items()},
            slow={renamed(key): seconds for key, seconds in result.slow.items()},
            refused={renamed(key): reason for key, reason in result.refused.items()},
            failure=_renamed(result.failure, candidate.name),
        )


def _renamed(failure: Failure | None, name: str) -> Failure | None:
    """The failure of a launch that holds this candidate only: it is certainly the candidate's.

    Its place is the first cell: the other candidates miss all cells of the launch, not only later ones.
    """
    return None if failure is None else Failure(0, name, failure.reason, name != DEFAULT_NAME)
