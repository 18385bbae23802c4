"""Central counter: every rank counts up on rank 0, in whatever order; the last one to arrive lets all go.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "A survey of barrier algorithms for coarse grained supercomputers",
Chemnitzer Informatik Berichte 04/03 (2004).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier.linear import fan_out, seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import ANY, Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """Rank 0 receives from any rank; a calc of no length waits for all, and the sends for it."""
    builder = ScheduleBuilder(task.ranks)
    others = all_ranks(task.ranks)[1:]
    size = task.message_bytes
    arrived = builder.send(others, to=0, message_bytes=size)
    counted = builder.receive(0 * others, source=ANY, message_bytes=size)
    full = builder.calc([0], duration_ns=0)
    builder.require(full, counted)
    builder.require(builder.send(0 * others, to=others, message_bytes=size), full)
    builder.receive(others, source=0, message_bytes=size, after=[arrived])
    return builder.build()


ALGORITHM = Algorithm(
    "barrier",
    "central-counter",
    "every rank counts up on rank 0; the last lets all go",
    "Hoefler et al. 2004",
    schedule,
    seconds,
    fan_out=fan_out,
)
