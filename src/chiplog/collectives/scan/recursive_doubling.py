"""Recursive doubling: in round r, rank p exchanges the sum of its group of 2^r ranks with p xor 2^r, if there is one.

Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", Communications of the ACM 29 (1986); MPICH's scan and
exclusive scan.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps, levels
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import all_ranks, distances
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """Both messages of a pair are under way at a time. An exclusive scan sends the same ones."""
    steps = Steps(task.ranks, task.ranks * levels(task.ranks))
    everybody = all_ranks(task.ranks)
    for distance in distances(task.ranks):
        paired = everybody[(everybody ^ distance) < task.ranks]
        steps.messages(paired, paired ^ distance, task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """ceil(log2 P) T, as on the way from rank 0; exact on powers of two, else a lower bound."""
    message = network.message(task.message_bytes, Traffic.EXCHANGE)
    return equal_steps(message, levels(task.ranks))


def exact(task: Task) -> bool:
    """On powers of two; else messages that come early take the CPU of ranks that wait."""
    return task.ranks == 1 << levels(task.ranks)


ALGORITHM = Algorithm(
    "scan",
    "recursive-doubling",
    "ceil(log2 P) exchanges of sums",
    "Hillis, Steele 1986",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
