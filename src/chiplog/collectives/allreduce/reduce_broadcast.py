"""Reduce and broadcast: up a binomial tree to rank 0, then down again, as the tree barrier with the whole message.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), as what is to be beaten.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm
from chiplog.collectives.barrier.tree import schedule, seconds

ALGORITHM = Algorithm(
    "allreduce",
    "reduce-broadcast",
    "up a binomial tree and down again",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
)
