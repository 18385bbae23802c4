"""The JSON of a simulation, schema chiplog.simulation/1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.simulate.run import Simulation


def simulation_to_json(simulation: Simulation) -> dict[str, Any]:
    """Times in nanoseconds: integers where all are whole, otherwise with the picoseconds behind the point."""
    finish = nanoseconds(simulation.finish_ps)
    return {
        "schema": "chiplog.simulation/1",
        "finish_ns": finish,
        "makespan_ns": max(finish),
        "events": simulation.events,
        "wall_seconds": simulation.wall_seconds,
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
