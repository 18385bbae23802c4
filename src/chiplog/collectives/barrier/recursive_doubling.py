"""Recursive doubling: in round r, rank p exchanges messages with p xor 2^r.

Ranks beyond the largest power of two tell a partner first, and are told by it last.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.allreduce.recursive_doubling import exact, schedule, seconds
from chiplog.collectives.cost_shapes import levels
from chiplog.collectives.shapes import power_of_two_below


def fan_out(task: Task) -> FanOut:
    """log2 P rounds of one peer, two more where P is no power of two."""
    core = power_of_two_below(task.ranks)
    return FanOut(1, levels(core) + (2 if task.ranks > core else 0))


ALGORITHM = Algorithm(
    "barrier",
    "recursive-doubling",
    "log2 P rounds of exchanges in pairs",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    exact=exact,
    fan_out=fan_out,
    everybody_sends=True,
)
