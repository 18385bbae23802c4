"""Linear gather: rank 0 receives a block from each of the others.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm
from chiplog.collectives.reduce.linear import schedule, seconds

ALGORITHM = Algorithm(
    "gather", "linear", "rank 0 receives from all others", "Hoefler, Moor 2014", schedule, seconds
)
