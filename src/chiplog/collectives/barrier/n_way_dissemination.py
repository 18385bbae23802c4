"""n-way dissemination barrier: ceil(log_{n+1} P) rounds, in each of which a rank tells n others.

In round r rank p sends to p + i (n+1)^r and receives from p - i (n+1)^r, i = 1..n, all modulo P, where i (n+1)^r < P.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks, distances
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.schedule.builder import Operations


def rounds(ranks: int, peers: int, message_bytes: int) -> Schedule:
    """What a rank does in a round waits for all messages of the round before, not for its own sends."""
    builder = ScheduleBuilder(ranks)
    everybody = all_ranks(ranks)
    before: list[Operations] = []
    for distance in distances(ranks, peers + 1):
        steps = [i * distance for i in range(1, peers + 1) if i * distance < ranks]
        for step in steps:
            builder.send(
                everybody, to=(everybody + step) % ranks, message_bytes=message_bytes, after=before
            )
        before = [
            builder.receive(
                everybody,
                source=(everybody - step) % ranks,
                message_bytes=message_bytes,
                after=before,
            )
            for step in steps
        ]
    return builder.build()


def schedule(task: Task) -> Schedule:
    """`task.peers` is n."""
    return rounds(task.ranks, task.peers, task.message_bytes)


ALGORITHM = Algorithm(
    "barrier",
    "n-way-dissemination",
    "ceil(log_{n+1} P) rounds, n messages a rank in each; --peers n",
    "Hoefler, Mehlan, Mietke, Rehm 2006",
    schedule,
)
