"""Linear broadcast: rank 0 sends to all others in turn.

Source: T. Hoefler, D. Moor, "Energy, memory, and runtime tradeoffs for implementing collective communication
operations", Supercomputing Frontiers and Innovations 1 (2014), flat trees.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import fan_out
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """All sends are ready at once and go out in the order of the ranks."""
    builder = ScheduleBuilder(task.ranks)
    others = all_ranks(task.ranks)[1:]
    builder.send(0 * others, to=others, message_bytes=task.message_bytes)
    builder.receive(others, source=0, message_bytes=task.message_bytes)
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """(P-2) d + T; exact."""
    return fan_out(network.message(task.message_bytes), task.ranks - 1)


ALGORITHM = Algorithm(
    "bcast", "linear", "rank 0 sends to all others in turn", "Hoefler, Moor 2014", schedule, seconds
)
