"""The JSON of a simulation, schema chiplog.simulation/1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.simulation.repeated import RepeatedRuns
from chiplog.simulation.simulate import Simulation


@dataclass(frozen=True)
class Range:
    """A simulation in the middle of what the data leave, and the shortest and the longest over it, in picoseconds."""

    simulation: Simulation
    low_ps: int
    high_ps: int


def simulation_to_json(
    simulation: Simulation,
    found: Range | None = None,
    beyond: str | None = None,
    rejected: str | None = None,
    repeated: RepeatedRuns | None = None,
) -> dict[str, Any]:
    """Times in nanoseconds: integers where all are whole, otherwise with the picoseconds behind the point.

    With a model, `found` is the makespan over what its data leave, `beyond` says what was not measured, and
    `rejected` why the fit's own check rejects it. What was `repeated` with noise stands beside the run without it.
    """
    finish = nanoseconds(simulation.finish_ps)
    interval = {}
    if found is not None:
        low, high = nanoseconds(np.array([found.low_ps, found.high_ps]))
        interval = {
            "makespan_low_ns": low,
            "makespan_high_ns": high,
            "extrapolated": beyond is not None,
            "reason": beyond,
            "rejected": rejected,
        }
    return {
        "schema": "chiplog.simulation/1",
        "finish_ns": finish,
        "makespan_ns": max(finish),
        **interval,
        "events": simulation.events,
        "wall_seconds": simulation.wall_seconds,
        **({} if repeated is None else {"repeat": repeated.to_json()}),
    }


def nanoseconds(times_ps: NDArray[np.int64]) -> list[int] | list[float]:
    """Picoseconds as nanoseconds, shape (times,); exact to the picosecond below 104 days' worth of them.

    >>> nanoseconds(np.array([1500, 2000])), nanoseconds(np.array([2000, 3000]))
    ([1.5, 2.0], [2, 3])
    """
    whole: list[int] = (times_ps // 1000).tolist()
    if np.all(times_ps % 1000 == 0):
        return whole
    return [time / 1000 for time in times_ps.tolist()]
