"""Halo exchange: ranks form a periodic grid of one to three dimensions and swap faces with their neighbours.

Source: A. Bienz, W. D. Gropp, L. N. Olson, "Improving performance models for irregular point-to-point communication",
EuroMPI 2018, whose patterns these are the regular case of.
"""

from __future__ import annotations

import math

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import burst
from chiplog.collectives.costs import Network, Seconds, nothing
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.schedule.traffic import crossing


def grid(ranks: int, dimensions: int) -> tuple[int, ...]:
    """The most cubic grid of that many ranks, longest side first.

    >>> grid(24, 3)
    (4, 3, 2)
    """
    if dimensions == 1:
        return (ranks,)
    divisors = [side for side in range(1, math.isqrt(ranks) + 1) if ranks % side == 0]
    shapes = {
        tuple(sorted((first, *grid(ranks // first, dimensions - 1)), reverse=True))
        for side in divisors
        for first in (side, ranks // side)
    }
    return min(shapes, key=lambda sides: (sides[0], sides))


def schedule(task: Task) -> Schedule:
    """Two messages a dimension, all posted at once; none where the grid is one rank wide."""
    builder = ScheduleBuilder(task.ranks)
    everybody = all_ranks(task.ranks)
    below = 1
    neighbours = []
    for side in grid(task.ranks, task.dimensions):
        place = everybody // below % side
        up = everybody + ((place + 1) % side - place) * below
        down = everybody + ((place - 1) % side - place) * below
        if side > 1:
            neighbours += [(up, down), (down, up)]
        below *= side
    size = task.message_bytes
    for tag, (_, source) in enumerate(neighbours):
        builder.receive(everybody, source=source, message_bytes=size, tag=tag)
    for tag, (target, _) in enumerate(neighbours):
        builder.send(everybody, to=target, message_bytes=size, tag=tag)
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """A burst of two messages a dimension from every rank; exact.

    Under max-rate s0 + m max(k n/R_N, n/R_C) for m messages of n bytes from each of k ranks of a node: all go to other
    nodes.
    """
    count = neighbours(task)
    message = network.message(task.message_bytes, crossing(count))
    return burst(message, count).free + nothing(network)


def neighbours(task: Task) -> int:
    """How many messages a rank sends: two for each dimension that is wider than one rank.

    >>> neighbours(Task(6, dimensions=2)), neighbours(Task(7, dimensions=2))
    (4, 2)
    """
    return 2 * sum(side > 1 for side in grid(task.ranks, task.dimensions))


ALGORITHM = Algorithm(
    "halo",
    "direct",
    "faces of a periodic grid, all at once; --dimensions 1, 2 or 3",
    "Bienz, Gropp, Olson 2018",
    schedule,
    seconds,
    everybody_sends=True,
)
