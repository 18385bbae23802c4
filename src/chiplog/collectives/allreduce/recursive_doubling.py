"""Recursive doubling: in round r, rank p exchanges its whole partial result with p xor 2^r.

Ranks beyond the largest power of two give their message to a partner first, and get the result from it last.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J.
High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.cost_shapes import equal_steps, levels
from chiplog.collectives.costs import Network, Seconds, latest
from chiplog.collectives.shapes import all_ranks, distances, power_of_two_below
from chiplog.collectives.steps import Steps
from chiplog.schedule import Schedule
from chiplog.schedule.traffic import Traffic


def schedule(task: Task) -> Schedule:
    """Exchanges between pairs of growing distance; both messages of a pair are under way at a time."""
    ranks, message_bytes = task.ranks, task.message_bytes
    steps = Steps(ranks, ranks * len(list(distances(ranks))))
    core = all_ranks(power_of_two_below(ranks))
    extra = all_ranks(ranks)[core.size :]
    steps.messages(extra, extra - core.size, message_bytes)
    for distance in distances(core.size):
        steps.messages(core, core ^ distance, message_bytes)
    steps.messages(extra - core.size, extra, message_bytes)
    return steps.build()


def seconds(task: Task, network: Network) -> Seconds:
    """K T on 2^K ranks; (K+1) T on others, or (h+2) T + (K-h) (send + receive) where that is more.

    The extra ranks' partners are T late. From one of them to another at most h = bits of (P - 2^K - 1) exchanges cross;
    in the others the rank's own send and receive count. Exact on powers of two, else a lower bound. The time of the
    reduction itself is not in it.
    """
    alone = network.message(task.message_bytes)
    message = network.message(task.message_bytes, Traffic.EXCHANGE)
    core = power_of_two_below(task.ranks)
    extra, rounds = task.ranks - core, levels(core)
    if extra == 0:
        return equal_steps(message, rounds)
    T = message.exchange
    cross = np.maximum(T, message.gap)
    stay = np.maximum(message.send_busy + message.receive_busy, message.gap)
    crossed = (extra - 1).bit_length()
    there = alone.one_way + T + (rounds - 1) * cross if rounds else alone.one_way
    back = 2 * alone.one_way + crossed * T + (rounds - crossed) * stay
    return latest([there, back])


def exact(task: Task) -> bool:
    """On powers of two; else messages that come early take the CPU of ranks that wait."""
    return task.ranks == power_of_two_below(task.ranks)


ALGORITHM = Algorithm(
    "allreduce",
    "recursive-doubling",
    "log2 P exchanges of the whole message",
    "Thakur, Rabenseifner, Gropp 2005",
    schedule,
    seconds,
    exact=exact,
    everybody_sends=True,
)
