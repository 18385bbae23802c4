"""Linear scatter: rank 0 sends each of the others its block.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm
from chiplog.collectives.bcast.linear import schedule, seconds

ALGORITHM = Algorithm(
    "scatter",
    "linear",
    "rank 0 sends to all others in turn",
    "Hoefler, Moor 2014",
    schedule,
    seconds,
)
