"""Scatter and allgather: a binomial tree scatters one P-th of the message to each rank, a ring gathers them.

Source: M. Barnett, S. Gupta, D. G. Payne, L. Shuler, R. van de Geijn, J. Watts, "Interprocessor collective
communication library (InterCom)", SHPCC 1994.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.allgather.ring import pass_round
from chiplog.collectives.cost_shapes import equal_steps, run_release
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.scatter.binomial import scatter
from chiplog.collectives.shapes import share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """Shares differ by one byte at most."""
    steps = Steps(task.ranks, task.ranks**2)
    shares = share_bytes(task.message_bytes, task.ranks)
    scatter(steps, shares)
    pass_round(steps, shares)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The scatter, then (P-1) T for the largest share: a lower bound, but for the rounding of shares."""
    share = -(-task.message_bytes // task.ranks)
    scattered = run_release(lambda blocks: network.message(blocks * share), task.ranks)
    return scattered + equal_steps(network.message(share, Traffic.EXCHANGE), task.ranks - 1)


def exact(task: Task) -> bool:
    """Never but alone: blocks of the ring that come early take the CPU from the scatter."""
    return task.ranks == 1


ALGORITHM = Algorithm(
    "bcast",
    "scatter-allgather",
    "a binomial scatter, then a ring",
    "Barnett et al. 1994",
    schedule,
    seconds,
    exact=exact,
)
