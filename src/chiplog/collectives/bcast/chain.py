"""Chain with segments: each rank passes the message on to the next, segment by segment.

Source: J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra, "Performance analysis of
MPI collective operations", Cluster Computing 10 (2007), pipeline.
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.shapes import all_ranks
from chiplog.schedule import Schedule, ScheduleBuilder


def segments(message_bytes: int, segment_bytes: int) -> list[int]:
    """Bytes of each segment; a message of 0 bytes is one segment.

    >>> segments(20, 8)
    [8, 8, 4]
    """
    whole, rest = divmod(message_bytes, segment_bytes)
    return [segment_bytes] * whole + ([rest] if rest or not whole else [])


def schedule(task: Task) -> Schedule:
    """A segment is sent on when it has been received; segments of `task.segment_bytes`, the last one shorter."""
    builder = ScheduleBuilder(task.ranks)
    everybody = all_ranks(task.ranks)
    received = builder.nothing_yet()
    for size in segments(task.message_bytes, task.segment_bytes):
        received[1:] = builder.receive(
            everybody[1:], source=everybody[:-1], message_bytes=size, after=[received[1:]]
        )
        builder.send(everybody[:-1], to=everybody[1:], message_bytes=size, after=[received[:-1]])
    return builder.build()


ALGORITHM = Algorithm(
    "bcast",
    "chain",
    "from rank to rank, segment by segment; --segment BYTES",
    "Pjesivac-Grbovic et al. 2007",
    schedule,
)
