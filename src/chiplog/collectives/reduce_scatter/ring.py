"""Ring: in each of P - 1 steps a rank adds its part to a partial result from one neighbour, and passes on another.

Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J. Parallel and
Distributed Computing 69 (2009), the first half of the algorithm.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.reduce_scatter.pairwise import exact, seconds
from chiplog.collectives.shapes import all_ranks, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """In step k rank p sends block p - k to p + 1, so that block p ends at rank p."""
    steps = Steps(task.ranks, task.ranks * (task.ranks - 1))
    everybody = all_ranks(task.ranks)
    blocks = share_bytes(task.message_bytes, task.ranks)
    for step in range(1, task.ranks):
        steps.messages(
            everybody, (everybody + 1) % task.ranks, blocks[(everybody - step) % task.ranks]
        )
    return steps.build()


ALGORITHM = Algorithm(
    "reduce_scatter",
    "ring",
    "P - 1 steps round a ring, a block each",
    "Patarasuk, Yuan 2009",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
