"""Linear: rank p waits for the sum of all before it, adds its part, and passes the sum on to p + 1.

Source: Open MPI's basic linear scan; S. Sanders, J. L. Traff, "Parallel prefix (scan) algorithms for MPI", EuroPVM/MPI
2006, as what is to be beaten.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """A rank's send waits for its receive. An exclusive scan sends the same messages."""
    builder = ScheduleBuilder(task.ranks)
    everybody, size = all_ranks(task.ranks), task.message_bytes
    received = builder.nothing_yet()
    received[1:] = builder.receive(everybody[1:], source=everybody[:-1], message_bytes=size)
    builder.send(everybody[:-1], to=everybody[1:], message_bytes=size, after=[received[:-1]])
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """(P-1) T; exact."""
    return (task.ranks - 1) * network.message(task.message_bytes).one_way


ALGORITHM = Algorithm(
    "scan",
    "linear",
    "from rank to rank",
    "Open MPI; Sanders, Traff 2006",
    schedule,
    seconds,
)
