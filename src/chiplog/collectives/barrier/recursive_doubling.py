"""Recursive doubling: in round r, rank p exchanges messages with p xor 2^r.

Ranks beyond the largest power of two tell a partner first, and are told by it last.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.allreduce.recursive_doubling import exchanges
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """The pattern of the allreduce of that name."""
    return exchanges(task.ranks, task.message_bytes)


ALGORITHM = Algorithm(
    "barrier",
    "recursive-doubling",
    "log2 P rounds of exchanges in pairs",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
)
