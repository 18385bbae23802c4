"""Recursive doubling: in round r, rank p exchanges its whole partial result with p xor 2^r.

Ranks beyond the largest power of two give their message to a partner first, and get the result from it last.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks, distances, power_of_two_below
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def exchanges(ranks: int, message_bytes: int) -> Schedule:
    """Exchanges of `message_bytes` between pairs of growing distance."""
    steps = Steps(ranks)
    core = all_ranks(power_of_two_below(ranks))
    extra = all_ranks(ranks)[core.size :]
    steps.messages(extra, extra - core.size, message_bytes)
    for distance in distances(core.size):
        steps.messages(core, core ^ distance, message_bytes)
    steps.messages(extra - core.size, extra, message_bytes)
    return steps.build()


def schedule(task: Task) -> Schedule:
    """Both messages of a pair are under way at a time."""
    return exchanges(task.ranks, task.message_bytes)


ALGORITHM = Algorithm(
    "allreduce",
    "recursive-doubling",
    "log2 P exchanges of the whole message",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
)
