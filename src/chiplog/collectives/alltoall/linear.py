"""Linear: every rank posts all its receives and sends at once.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), the algorithm for medium messages.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """Rank p begins with p + 1, so that not all send to the same rank first."""
    builder = ScheduleBuilder(task.ranks)
    everybody = all_ranks(task.ranks)
    size = task.message_bytes
    for step in range(1, task.ranks):
        builder.receive(everybody, source=(everybody - step) % task.ranks, message_bytes=size)
    for step in range(1, task.ranks):
        builder.send(everybody, to=(everybody + step) % task.ranks, message_bytes=size)
    return builder.build()


ALGORITHM = Algorithm(
    "alltoall",
    "linear",
    "all messages posted at once",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
)
