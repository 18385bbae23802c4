"""Dissemination barrier: in round r, rank p tells p + 2^r and hears from p - 2^r, all modulo P; ceil(log2 P) rounds.

Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J. Parallel Programming 17
(1988).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier.n_way_dissemination import rounds
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """A message waits for that of the round before."""
    return rounds(task.ranks, 1, task.message_bytes)


ALGORITHM = Algorithm(
    "barrier",
    "dissemination",
    "ceil(log2 P) rounds with growing distances",
    "Hensgen, Finkel, Manber 1988",
    schedule,
)
