"""Linear barrier: rank 0 hears from all others in the order of their ranks, then tells them in that order.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "A survey of barrier algorithms for coarse grained supercomputers",
Chemnitzer Informatik Berichte 04/03 (2004); Open MPI's basic linear barrier.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """Each of rank 0's receives waits for the one before, each of its sends for the last receive."""
    builder = ScheduleBuilder(task.ranks)
    others = all_ranks(task.ranks)[1:]
    size = task.message_bytes
    arrived = builder.send(others, to=0, message_bytes=size)
    heard = builder.receive(0 * others, source=others, message_bytes=size)
    builder.require(heard[1:], heard[:-1])
    builder.require(builder.send(0 * others, to=others, message_bytes=size), heard[-1:])
    builder.receive(others, source=0, message_bytes=size, after=[arrived])
    return builder.build()


ALGORITHM = Algorithm(
    "barrier",
    "linear",
    "rank 0 hears from all others in turn, then tells them",
    "Hoefler et al. 2004",
    schedule,
)
