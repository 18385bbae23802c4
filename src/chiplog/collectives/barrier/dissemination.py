"""Dissemination barrier: in round r, rank p tells p + 2^r and hears from p - 2^r, all modulo P; ceil(log2 P) rounds.

Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J. Parallel Programming 17
(1988).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.barrier.n_way_dissemination import rounds
from chiplog.collectives.cost_shapes import equal_steps, levels
from chiplog.collectives.costs import Network, Seconds
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """A message waits for that of the round before."""
    return rounds(task.ranks, 1, task.message_bytes)


def seconds(task: Task, network: Network) -> Seconds:
    """ceil(log2 P) T, more only where g + (s-1)G exceeds T; exact."""
    return equal_steps(network.message(task.message_bytes, Traffic.EXCHANGE), levels(task.ranks))


def fan_out(task: Task) -> FanOut:
    """ceil(log2 P) rounds of one peer."""
    return FanOut(1, levels(task.ranks))


ALGORITHM = Algorithm(
    "barrier",
    "dissemination",
    "ceil(log2 P) rounds with growing distances",
    "Hensgen, Finkel, Manber 1988",
    schedule,
    seconds,
    fan_out=fan_out,
    everybody_sends=True,
)
