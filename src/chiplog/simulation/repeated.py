"""A schedule simulated many times, each time with other noise: how long it takes in the median and at worst."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.counts import MOST_SEED, within
from chiplog.simulation.conditions import Conditions
from chiplog.simulation.simulate import Simulation

MOST_RUNS = 100_000
"""Given: more take too much memory."""
TAIL = 0.95
"""Given: the point that is printed beside the median."""
MOST_RANKS_NAMED = 3
"""Given: of the slowest ones."""


@dataclass(frozen=True)
class RepeatedRuns:
    """What came out of each run: `makespan_ps` has shape (runs,), `times_last` shape (ranks,)."""

    makespan_ps: NDArray[np.int64]
    times_last: NDArray[np.int64]
    """In how many runs each rank was done last; several of a run where they were done at the same time."""
    seed: int
    """Of the first run; that of the others follows it."""

    @property
    def runs(self) -> int:
        """How many there were."""
        return int(self.makespan_ps.size)

    @property
    def median_ps(self) -> float:
        """The median of when the last rank was done."""
        return float(np.median(self.makespan_ps))

    @property
    def quantile_95_ps(self) -> int | None:
        """What 95 % of runs do not exceed, by the order of runs; None of fewer than 19, which can't tell."""
        rank = math.ceil(TAIL * (self.runs + 1) - 1e-9)
        return int(np.sort(self.makespan_ps)[rank - 1]) if rank <= self.runs else None

    @property
    def slowest_ranks(self) -> list[tuple[int, int]]:
        """The ranks that were last most often, and in how many runs."""
        order = np.argsort(-self.times_last, kind="stable")[:MOST_RANKS_NAMED]
        return [(rank, int(self.times_last[rank])) for rank in order.tolist()]

    def to_json(self) -> dict[str, Any]:
        """The member `repeat` of chiplog.simulation/1: times in nanoseconds."""
        tail = self.quantile_95_ps
        return {
            "runs": self.runs,
            "seed": self.seed,
            "median_ns": self.median_ps / 1000,
            "quantile_95_ns": None if tail is None else tail / 1000,
            "shortest_ns": int(self.makespan_ps.min()) / 1000,
            "longest_ns": int(self.makespan_ps.max()) / 1000,
            "slowest_ranks": [{"rank": rank, "runs": times} for rank, times in self.slowest_ranks],
        }


def repeat(
    run: Callable[[Conditions], Simulation], conditions: Conditions, runs: int
) -> RepeatedRuns:
    """Runs a simulation under `conditions` with seeds of noise that follow each other, the first being that given.

    UsageError where there are too few or too many runs; what `run` raises.
    """
    within("--repeat", runs, 1, MOST_RUNS)
    makespans = np.empty(runs, dtype=np.int64)
    times_last = None
    for number in range(runs):
        seed = (conditions.noise.seed + number) % (MOST_SEED + 1)
        noise = replace(conditions.noise, seed=seed)
        finish = run(replace(conditions, noise=noise)).finish_ps
        makespans[number] = finish.max()
        is_last = (finish == finish.max()).astype(np.int64)
        times_last = is_last if times_last is None else times_last + is_last
    assert times_last is not None
    return RepeatedRuns(makespans, times_last, conditions.noise.seed)
