"""Linear: every rank posts all its receives and sends at once.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005), the algorithm for medium messages.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import EXACT_BURST, burst
from chiplog.collectives.costs import Network, Seconds, nothing
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.schedule.traffic import crossing


def schedule(task: Task) -> Schedule:
    """Rank p begins with p + 1, so that not all send to the same rank first."""
    builder = ScheduleBuilder(task.ranks, 2 * task.ranks * (task.ranks - 1))
    everybody = all_ranks(task.ranks)
    size = task.message_bytes
    for step in range(1, task.ranks):
        builder.receive(everybody, source=(everybody - step) % task.ranks, message_bytes=size)
    for step in range(1, task.ranks):
        builder.send(everybody, to=(everybody + step) % task.ranks, message_bytes=size)
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """A burst of P - 1 messages from every rank; exact up to 513 ranks, a lower bound beyond."""
    message = network.message(task.message_bytes, crossing(task.ranks - 1))
    return burst(message, task.ranks - 1).free + nothing(network)


def exact(task: Task) -> bool:
    """Where a burst is followed message by message."""
    return task.ranks <= EXACT_BURST + 1


ALGORITHM = Algorithm(
    "alltoall",
    "linear",
    "all messages posted at once",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
