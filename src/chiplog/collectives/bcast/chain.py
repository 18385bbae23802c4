"""Chain with segments: each rank passes the message on to the next, segment by segment.

Source: J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra, "Performance analysis of
MPI collective operations", Cluster Computing 10 (2007), pipeline.
"""

from __future__ import annotations

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Network, Seconds, latest
from chiplog.collectives.shapes import all_ranks
from chiplog.counts import MOST, refuse_more
from chiplog.schedule import Schedule, ScheduleBuilder


def segments(message_bytes: int, segment_bytes: int) -> tuple[int, int]:
    """How many segments there are, and the bytes of the last one; a message of 0 bytes is one segment.

    >>> segments(20, 8)
    (3, 4)
    """
    count = max(1, -(-message_bytes // segment_bytes))
    return count, message_bytes - (count - 1) * segment_bytes


def schedule(task: Task) -> Schedule:
    """A segment is sent on when it has been received; segments of `task.segment_bytes`, the last one shorter."""
    count, last_bytes = segments(task.message_bytes, task.segment_bytes)
    refuse_more("--segment: segments of the message", count, MOST, "take longer segments")
    builder = ScheduleBuilder(task.ranks, 2 * (task.ranks - 1) * count)
    everybody = all_ranks(task.ranks)
    received = builder.nothing_yet()
    for number in range(1, count + 1):
        size = task.segment_bytes if number < count else last_bytes
        received[1:] = builder.receive(
            everybody[1:], source=everybody[:-1], message_bytes=size, after=[received[1:]]
        )
        builder.send(everybody[:-1], to=everybody[1:], message_bytes=size, after=[received[:-1]])
    return builder.build()


def seconds(task: Task, network: Network) -> Seconds:
    """The largest of three lower bounds: rank 1's CPU, rank 0's sends, a rank's receives.

    Rank 1 receives all segments and sends all but the last before the last one goes its way. Exact with one segment and
    with two ranks, and where the NIC is slower than a rank's CPU with a receive and a send.
    """
    count, last_bytes = segments(task.message_bytes, task.segment_bytes)
    first = network.message(min(task.message_bytes, task.segment_bytes))
    last = network.message(last_bytes)
    if task.ranks == 1:
        return 0.0 * first.way
    before = count - 1
    onward = (task.ranks - 2) * last.one_way
    by_sends = before * first.between_sends + last.one_way + onward
    by_receives = first.way + before * first.between_receives + last.receive_busy + onward
    if task.ranks == 2:
        return np.maximum(by_sends, by_receives)
    middle = first.way + before * (first.send_busy + first.receive_busy) + last.receive_busy
    return latest([by_sends, by_receives, middle + onward])


def exact(task: Task) -> bool:
    """With one segment, or with two ranks."""
    return task.ranks <= 2 or task.message_bytes <= task.segment_bytes


ALGORITHM = Algorithm(
    "bcast",
    "chain",
    "from rank to rank, segment by segment; --segment BYTES",
    "Pjesivac-Grbovic et al. 2007",
    schedule,
    seconds,
    exact=exact,
)
