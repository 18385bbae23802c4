"""Linear barrier: rank 0 hears from all others in the order of their ranks, then tells them in that order.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "A survey of barrier algorithms for coarse grained supercomputers",
Chemnitzer Informatik Berichte 04/03 (2004); Open MPI's basic linear barrier.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.cost_shapes import fan_in
from chiplog.collectives.cost_shapes import fan_out as fan_out_seconds
from chiplog.collectives.costs import Network, Seconds
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


def seconds(task: Task, network: Network) -> Seconds:
    """2 (o + L) + (P-2) (d + e) + 2 receives: P - 1 messages in, then as many out; exact."""
    message = network.message(task.message_bytes)
    return fan_in(message, task.ranks - 1) + fan_out_seconds(message, task.ranks - 1)


def fan_out(task: Task) -> FanOut:
    """Rank 0 has P - 1 peers, in and out."""
    return FanOut(task.ranks - 1, 2 if task.ranks > 1 else 0)


ALGORITHM = Algorithm(
    "barrier",
    "linear",
    "rank 0 hears from all others in turn, then tells them",
    "Hoefler et al. 2004",
    schedule,
    seconds,
    fan_out=fan_out,
)
