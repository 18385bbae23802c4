"""Recursive doubling: in round r, rank p exchanges the 2^r blocks it has with p xor 2^r; P must be a power of two.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks, distances, power_of_two_below
from chiplog.collectives.steps import Steps
from chiplog.errors import UsageError
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """Raises UsageError where the number of ranks is no power of two."""
    if task.ranks != power_of_two_below(task.ranks):
        raise UsageError(
            f"--ranks: is {task.ranks}; the allgather by recursive doubling accepts powers of two, bruck and ring any "
            "number."
        )
    steps = Steps(task.ranks)
    everybody = all_ranks(task.ranks)
    for distance in distances(task.ranks):
        steps.messages(everybody, everybody ^ distance, distance * task.message_bytes)
    return steps.build()


ALGORITHM = Algorithm(
    "allgather",
    "recursive-doubling",
    "log2 P exchanges of all blocks so far; powers of two",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
)
