"""Double ring: a token runs from rank to rank, twice; the first turn tells that all have arrived, the second lets go.

Source: Open MPI's double ring barrier (`ompi_coll_base_barrier_intra_doublering`).
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.costs import Network, Seconds, latest
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import NONE, Schedule, ScheduleBuilder


def schedule(task: Task) -> Schedule:
    """Rank 0 begins both turns; every other rank passes the token on when it has received it."""
    builder = ScheduleBuilder(task.ranks)
    if task.ranks == 1:
        return builder.build()
    everybody = all_ranks(task.ranks)
    before, after = (everybody - 1) % task.ranks, (everybody + 1) % task.ranks
    received = sent = builder.nothing_yet()
    for turn in range(2):
        waits = received.copy()
        received = builder.receive(
            everybody,
            source=before,
            message_bytes=task.message_bytes,
            tag=turn,
            after=[received, sent],
        )
        passes_on = np.where(everybody == 0, waits if turn else NONE, received).astype(np.uint32)
        sent = builder.send(
            everybody, to=after, message_bytes=task.message_bytes, tag=turn, after=[passes_on]
        )
        builder.require(received[:1], sent[:1])  # rank 0 sends before it receives
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """2 P T: the token takes P messages a turn; P T + g + (s-1)G where a NIC is not free again after a turn; exact."""
    message = network.message(task.message_bytes)
    turn = (task.ranks if task.ranks > 1 else 0) * message.one_way
    return turn + (latest([turn, message.gap]) if task.ranks > 1 else turn)


def fan_out(task: Task) -> FanOut:
    """2 P messages, one after the other."""
    return FanOut(1, 2 * task.ranks if task.ranks > 1 else 0)


ALGORITHM = Algorithm(
    "barrier",
    "double-ring",
    "a token runs round the ring twice",
    "Open MPI",
    schedule,
    seconds,
    fan_out=fan_out,
)
