"""Recursive doubling: in round r, rank p exchanges the 2^r blocks it has with p xor 2^r; P must be a power of two.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import exchanges
from chiplog.collectives.costs import Network, Seconds, nothing
from chiplog.collectives.shapes import all_ranks, distances, power_of_two_below
from chiplog.collectives.steps import Steps
from chiplog.errors import UsageError
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def accepts(task: Task) -> bool:
    """Powers of two."""
    return task.ranks == power_of_two_below(task.ranks)


def check(task: Task) -> None:
    """Raises UsageError where the number of ranks is no power of two."""
    if not accepts(task):
        raise UsageError(
            f"--ranks: is {task.ranks}; the allgather by recursive doubling accepts powers of two, bruck and ring any "
            "number."
        )


def schedule(task: Task) -> Schedule:
    """Raises UsageError where the number of ranks is no power of two."""
    check(task)
    steps = Steps(task.ranks, task.ranks * len(list(distances(task.ranks))))
    everybody = all_ranks(task.ranks)
    for distance in distances(task.ranks):
        steps.messages(everybody, everybody ^ distance, distance * task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The sum of T over 1, 2, 4, … blocks; exact. Raises UsageError where P is no power of two."""
    check(task)
    messages = [
        network.message(distance * task.message_bytes, Traffic.EXCHANGE)
        for distance in distances(task.ranks)
    ]
    return exchanges(messages).free + nothing(network)


ALGORITHM = Algorithm(
    "allgather",
    "recursive-doubling",
    "log2 P exchanges of all blocks so far; powers of two",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    accepts=accepts,
    everybody_sends=True,
)
