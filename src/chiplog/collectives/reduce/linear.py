"""Linear reduce: rank 0 receives from all others.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import fan_in
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.schedule.traffic import meeting


def schedule(task: Task) -> Schedule:
    """A message from every other rank to rank 0, which posts all receives at once.

    The time of the reduction itself is not in it.
    """
    builder = ScheduleBuilder(task.ranks)
    others = all_ranks(task.ranks)[1:]
    builder.receive(0 * others, source=others, message_bytes=task.message_bytes)
    builder.send(others, to=0, message_bytes=task.message_bytes)
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """O + L + (P-2) e + receive; exact."""
    senders = task.ranks - 1
    return fan_in(network.message(task.message_bytes, meeting(senders)), senders)


ALGORITHM = Algorithm(
    "reduce", "linear", "rank 0 receives from all others", "Hoefler, Moor 2014", schedule, seconds
)
