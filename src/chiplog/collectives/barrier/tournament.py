"""Tournament barrier: in round r the winner of 2^r ranks hears from its neighbour's; the champion lets all go.

Winners are known beforehand: the lower rank of each pair. The release runs the same pairs backwards.

Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J. Parallel Programming 17
(1988).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier.tree import fan_out
from chiplog.collectives.cost_shapes import run_combine, run_release
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, low_bit_edges
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """A winner's number is its loser's without the lowest bit."""
    steps = Steps(task.ranks)
    rounds = [low_bit_edges(task.ranks, distance) for distance in distances(task.ranks)]
    for winners, losers in rounds:
        steps.messages(losers, winners, task.message_bytes)
    for winners, losers in reversed(rounds):
        steps.messages(winners, losers, task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """Up the tree of runs and down again; exact."""
    message = network.message(task.message_bytes)
    up = run_combine(lambda _: message, task.ranks)
    return up + run_release(lambda _: message, task.ranks)


ALGORITHM = Algorithm(
    "barrier",
    "tournament",
    "pairs play, the champion lets all go",
    "Hensgen et al. 1988",
    schedule,
    seconds,
    fan_out=fan_out,
)
