"""Rabenseifner's algorithm: a reduce-scatter by recursive halving, then an allgather by recursive doubling.

Ranks beyond the largest power of two give their message to a partner first, and get the result from it last.

Source: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import Ranks, all_ranks, distances, power_of_two_below, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """A run of `distance` shares passes between ranks `distance` apart, largest first, then the other way round."""
    steps = Steps(task.ranks)
    core = all_ranks(power_of_two_below(task.ranks))
    extra = all_ranks(task.ranks)[core.size :]
    steps.messages(extra, extra - core.size, task.message_bytes)
    before = np.concatenate([[0], np.cumsum(share_bytes(task.message_bytes, core.size))])
    growing = list(distances(core.size))
    for distance in reversed(growing):
        steps.messages(core, core ^ distance, _run_bytes(before, core ^ distance, distance))
    for distance in growing:
        steps.messages(core, core ^ distance, _run_bytes(before, core, distance))
    steps.messages(extra - core.size, extra, task.message_bytes)
    return steps.build()


def _run_bytes(before: NDArray[np.int64], ranks: Ranks, length: int) -> NDArray[np.int64]:
    """Bytes of the run of `length` shares, aligned to it, in which each rank's own share lies."""
    first = ranks // length * length
    run: NDArray[np.int64] = before[first + length] - before[first]
    return run


ALGORITHM = Algorithm(
    "allreduce",
    "rabenseifner",
    "reduce-scatter by halving, allgather by doubling",
    "Rabenseifner 2004",
    schedule,
)
