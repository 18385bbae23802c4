"""What a simulated time is made of, and so how it changes with each parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.simulation.parameters import LogGOPS, Protocol

STEP = np.dtype([("start_ps", "<i8"), ("operation", "<u4"), ("at_receiver", "<u4")])
"""Where the path goes from one operation to the next; a message is on it at its sender and at its receiver."""


class LineCounts(NamedTuple):
    """How often the start of a line of costs is in a time, and how many of its bytes after a message's first."""

    starts: int = 0
    further_bytes: int = 0


@dataclass(frozen=True)
class CriticalPath:
    """The chain of operations that decided when the last rank was done.

    The costs along it add up to the makespan: computing, and each line of `MessageTimes` as often as it is counted. So
    the counts are the slopes of the makespan, as long as the order of events stays the same. `steps` has the type STEP
    and the shape (steps,), in the order of time.
    Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim", LSAP 2010, for what decides a start.
    """

    computing_ps: int
    send: LineCounts
    nic: LineCounts
    receive: LineCounts
    one_way: LineCounts
    steps: NDArray[Any]

    def slopes(self, parameters: LogGOPS) -> Slopes:
        """How the makespan changes with each parameter, the same change for messages of all sizes."""
        overheads = self.send.starts + self.receive.starts
        bytes_of_receives = self.receive.further_bytes + self.one_way.further_bytes
        O, G = self.send.further_bytes, self.nic.further_bytes
        if all(isinstance(protocol, Protocol) for protocol in parameters.protocols):
            first = parameters.protocols[0]
            assert isinstance(first, Protocol)
            is_slower_in_cpu = first.O_as > first.G_as
            O, G = (
                O + is_slower_in_cpu * bytes_of_receives,
                G + (not is_slower_in_cpu) * bytes_of_receives,
            )
        else:
            O, G = O + self.receive.further_bytes, G + self.one_way.further_bytes
        return Slopes(
            L=self.one_way.starts,
            o=overheads + 2 * self.one_way.starts,
            g=self.nic.starts,
            G=G,
            O=O,
            computing_ps=self.computing_ps,
        )


class Slopes(NamedTuple):
    """Picoseconds of the makespan for each picosecond of L, o and g, and of G and O for a byte.

    `computing_ps` is what all computation being twice as slow would add.
    """

    L: int
    o: int
    g: int
    G: int
    O: int
    computing_ps: int


def critical_path(counts: tuple[int, ...], steps: NDArray[np.uint8]) -> CriticalPath:
    """From what the native simulator tells."""
    computing, *rest = counts
    lines = (LineCounts(*pair) for pair in zip(rest[::2], rest[1::2], strict=True))
    return CriticalPath(computing, *lines, steps.view(STEP))
