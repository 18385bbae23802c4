"""Tests of collective operations and of both directions at once of the OSU micro-benchmarks.

    # OSU MPI Allreduce Latency Test v7.4                   # Size       Avg Latency(us)   Min ...  Max ...  Iterations
    # OSU MPI Barrier Latency Test v7.4                     # Avg Latency(us)                      no size: one number
    # OSU MPI Non-blocking Allreduce Latency Test v7.4      # Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)
    # OSU MPI Bi-Directional Bandwidth Test v7.4            # Size      Bandwidth (MB/s)

A time is the mean over all ranks and iterations, each by its own clock since it left a barrier: `Avg Latency`, or of
operations that don't block `Pure Comm.`, their time without any computation. The message is the block of one rank of
gather, scatter, allgather and alltoall, else the whole buffer. Windows of messages both ways at once become
`bidirectional_flood`: the time of a window of both.

Source: the OSU micro-benchmarks' output and loops, versions 3 to 7.
"""

from __future__ import annotations

import re

import numpy as np

from chiplog.dataset.import_collectives import DEFAULT, collective_name, collective_series
from chiplog.dataset.import_osu_tests import OsuReader, OsuTest, bounded
from chiplog.dataset.import_values import number, time
from chiplog.dataset.importer import ImportedSeries
from chiplog.dataset.lines import Where

BLOCKING, NON_BLOCKING = "Avg Latency(us)", "Pure Comm.(us)"
BOTH_WAYS = "bidirectional_flood"
_COLLECTIVE = re.compile(
    r"(?:(?P<library>NCCL|RCCL)(?:-\w+)? )?(?P<free>Non-?blocking )?(?P<neighbours>Neighborhood )?(?P<name>\S+?)"
    r"(?: Personalized Exchange)?(?P<persistent> Persistent)? Latency Test",
    re.IGNORECASE,
)
_BOTH_WAYS = re.compile(
    r"Bi-?(?:Directional )?Bandwidth(?P<persistent> Persistent)? Test", re.IGNORECASE
)


def collective_reader(name: str) -> tuple[OsuReader, str] | None:
    """What reads the rows of such a test, and its operation; None of another test. `name` is that of its title.

    >>> reader, operation = collective_reader("Non-blocking All-to-All Latency Test")
    >>> reader.pattern, reader.columns, operation
    ('alltoall', ('Pure Comm.(us)',), 'default, non-blocking')
    """
    if match := _BOTH_WAYS.fullmatch(name):
        operation = "send, persistent" if match["persistent"] else "send"
        return OsuReader(BOTH_WAYS, _both_ways, ("Bandwidth (MB/s)",)), operation
    match = _COLLECTIVE.fullmatch(name)
    collective = collective_name(match["name"]) if match else None
    if match is None or collective is None:
        return None
    pattern = f"neighbor_{collective}" if match["neighbours"] else collective
    kinds = {"free": "non-blocking", "persistent": "persistent"}
    operation = ", ".join(
        [
            (match["library"] or DEFAULT).lower(),
            *(word for key, word in kinds.items() if match[key]),
        ]
    )
    column = NON_BLOCKING if match["free"] else BLOCKING
    return OsuReader(pattern, _collective, (column,), has_sizes=collective != "barrier"), operation


def _collective(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    seconds = np.array([time(words[1], test.reader.columns[0], where, factor=test.factor)])
    return collective_series(
        test.reader.pattern, size, seconds, algorithm=test.operation, ranks=test.ranks
    )


def _both_ways(words: list[str], size: int, test: OsuTest, where: Where) -> ImportedSeries:
    rate = number(words[1], "Bandwidth (MB/s)", where, factor=test.factor)
    if size == 0:
        raise where.corrupt("Size", "a bandwidth of messages of 0 bytes says no time")
    seconds = bounded(2 * test.window * size / rate, "Bandwidth (MB/s)", where)
    return ImportedSeries(
        pattern=BOTH_WAYS,
        direction="call",
        operation=test.operation,
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=2 * test.window,
        train=test.window,
    )
