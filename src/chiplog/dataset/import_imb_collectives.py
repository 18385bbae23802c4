"""Collective operations and exchanges of the Intel MPI Benchmarks.

    # Benchmarking Allreduce           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
    # Benchmarking Barrier                    #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
    # Benchmarking Iallreduce          #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
    # #processes = 4

A time is that of the slowest process, the mean over its repetitions: `t_max`, or of operations that don't block
`t_pure`, their time without any computation. The message is the block of one rank of gather, scatter, allgather and
alltoall, else the whole buffer. PingPing, in which two processes send to each other at once, becomes `exchange`.

Source: the output of the Intel MPI Benchmarks, and their user guide.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chiplog.dataset.import_collectives import DEFAULT, collective_name

EXCHANGE = "exchange"
EXCHANGES = {
    "PingPing": EXCHANGE,
    "PingPingSpecificSource": EXCHANGE,
    "PingPingAnySource": EXCHANGE,
    "Sendrecv": "sendrecv",
    "Exchange": "neighbor_exchange",
}
"""The pattern of benchmarks in which every process sends and receives at once."""
COLLECTIVE_TIMES = ("t_max[usec]", "t_pure[usec]", "t[usec]")
"""The columns with the time, the first that there is."""
_NON_BLOCKING = re.compile(r"I(\w+?)(?:_pure)?")


class ImbCollective(NamedTuple):
    """What a benchmark of all processes is: the pattern, the operation and the direction of its series."""

    pattern: str
    operation: str
    direction: str = "call"


def imb_collective(name: str) -> ImbCollective | None:
    """What a benchmark of this name is; None of others, such as PingPong.

    >>> imb_collective("Iallreduce")
    ImbCollective(pattern='allreduce', operation='default, non-blocking', direction='call')
    """
    if name in EXCHANGES:
        pattern = EXCHANGES[name]
        return ImbCollective(pattern, "send", "one-way" if pattern == EXCHANGE else "call")
    if (collective := collective_name(name)) is not None:
        return ImbCollective(collective, DEFAULT)
    match = _NON_BLOCKING.fullmatch(name)
    collective = collective_name(match[1]) if match else None
    return None if collective is None else ImbCollective(collective, f"{DEFAULT}, non-blocking")
