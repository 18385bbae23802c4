"""Rabenseifner's algorithm: a reduce-scatter by recursive halving, then an allgather by recursive doubling.

Ranks beyond the largest power of two give their message to a partner first, and get the result from it last.

Source: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import exchanges
from chiplog.collectives.costs import Network, Rank, Seconds
from chiplog.collectives.reduce_scatter.recursive_halving import exact
from chiplog.collectives.shapes import Ranks, all_ranks, distances, power_of_two_below, share_bytes
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """A run of `distance` shares passes between ranks `distance` apart, largest first, then the other way round."""
    steps = Steps(task.ranks, 2 * task.ranks * len(list(distances(task.ranks))))
    core = all_ranks(power_of_two_below(task.ranks))
    extra = all_ranks(task.ranks)[core.size :]
    steps.messages(extra, extra - core.size, task.message_bytes)
    before = np.concatenate([[0], np.cumsum(share_bytes(task.message_bytes, core.size))])
    growing = list(distances(core.size))
    for distance in reversed(growing):
        steps.messages(core, core ^ distance, _run_bytes(before, core ^ distance, distance))
    for distance in growing:
        steps.messages(core, core ^ distance, _run_bytes(before, core, distance))
    steps.messages(extra - core.size, extra, task.message_bytes)
    return steps.build()


def _run_bytes(before: NDArray[np.int64], ranks: Ranks, length: int) -> NDArray[np.int64]:
    """Bytes of the run of `length` shares, aligned to it, in which each rank's own share lies."""
    first = ranks // length * length
    run: NDArray[np.int64] = before[first + length] - before[first]
    return run


def seconds(task: Task, network: Network) -> Seconds:
    """The sum of T over shares of s/2, s/4, … s/2^K and back, plus 2 T for the whole message off powers of two.

    Exact on powers of two that divide s; for the largest share where they don't; a lower bound off powers of two.
    """
    core = power_of_two_below(task.ranks)
    share = -(-task.message_bytes // core)
    growing = [network.message(distance * share, Traffic.EXCHANGE) for distance in distances(core)]
    if task.ranks == core > 1:
        return exchanges([*reversed(growing), *growing]).free
    whole = network.message(task.message_bytes)
    if task.ranks == 1:
        return 0.0 * whole.way
    late = Rank().receive(whole, whole.way)
    _, arrival = exchanges([*reversed(growing), *growing], late).send(whole)
    return arrival + whole.receive_busy


ALGORITHM = Algorithm(
    "allreduce",
    "rabenseifner",
    "reduce-scatter by halving, allgather by doubling",
    "Rabenseifner 2004",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
