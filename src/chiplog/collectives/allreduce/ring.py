"""Ring: P - 1 steps that reduce one P-th of the message each, then P - 1 that pass the results round.

Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J. Parallel and
Distributed Computing 69 (2009).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.reduce_scatter.pairwise import exact
from chiplog.collectives.shapes import all_ranks, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """In step k rank p sends share p - k to p + 1; in the second half share p + 1 - k."""
    steps = Steps(task.ranks, 2 * task.ranks * (task.ranks - 1))
    everybody = all_ranks(task.ranks)
    shares = share_bytes(task.message_bytes, task.ranks)
    for first in (0, 1):
        for step in range(task.ranks - 1):
            sent = shares[(everybody + first - step) % task.ranks]
            steps.messages(everybody, (everybody + 1) % task.ranks, sent)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """2 (P-1) T for shares of s/P: exact where P divides s, else for the largest share."""
    share = -(-task.message_bytes // task.ranks)
    return equal_steps(network.message(share, Traffic.EXCHANGE), 2 * (task.ranks - 1))


ALGORITHM = Algorithm(
    "allreduce",
    "ring",
    "2 (P - 1) steps of one P-th each",
    "Patarasuk, Yuan 2009",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
