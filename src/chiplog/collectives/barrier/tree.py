"""Tree barrier: messages run up a binomial tree to rank 0 and down again, 2 ceil(log2 P) levels.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "A survey of barrier algorithms for coarse grained supercomputers",
Chemnitzer Informatik Berichte 04/03 (2004).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.cost_shapes import binomial_combine, binomial_release, levels
from chiplog.collectives.costs import Network, Seconds
from chiplog.collectives.shapes import distances, tree_edges
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule


def schedule(task: Task) -> Schedule:
    """A parent's number is its child's without the highest bit."""
    steps = Steps(task.ranks)
    levels = [tree_edges(task.ranks, distance) for distance in distances(task.ranks)]
    for parents, children in reversed(levels):
        steps.messages(children, parents, task.message_bytes)
    for parents, children in levels:
        steps.messages(parents, children, task.message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The reduction up the tree plus the broadcast down it; exact."""
    message = network.message(task.message_bytes)
    return binomial_combine(message, task.ranks) + binomial_release(message, task.ranks)


def fan_out(task: Task) -> FanOut:
    """2 ceil(log2 P) messages, one after the other."""
    return FanOut(1, 2 * levels(task.ranks))


ALGORITHM = Algorithm(
    "barrier",
    "tree",
    "up a binomial tree and down again",
    "Hoefler et al. 2004",
    schedule,
    seconds,
    fan_out=fan_out,
)
