"""Scatter and allgather: a binomial tree scatters one P-th of the message to each rank, a ring gathers them.

Source: M. Barnett, S. Gupta, D. G. Payne, L. Shuler, R. van de Geijn, J. Watts, "Interprocessor collective
communication library (InterCom)", SHPCC 1994.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.allgather.ring import pass_round
from chiplog.collectives.scatter.binomial import scatter
from chiplog.collectives.shapes import share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """Shares differ by one byte at most."""
    steps = Steps(task.ranks)
    shares = share_bytes(task.message_bytes, task.ranks)
    scatter(steps, shares)
    pass_round(steps, shares)
    return steps.build()


ALGORITHM = Algorithm(
    "bcast", "scatter-allgather", "a binomial scatter, then a ring", "Barnett et al. 1994", schedule
)
