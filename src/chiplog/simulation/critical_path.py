"""What a simulated time is made of, and so how it changes with each parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.schedule.arrays import CALC, Schedule
from chiplog.simulation.parameters import LogGOPS, MessageTimes, Protocol

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

    def shares(self, schedule: Schedule, makespan_ps: int) -> PathShares:
        """What the makespan is spent with. NaN where it is 0."""
        operation = self.steps["operation"]
        lasting_ps = np.diff(self.steps["start_ps"], append=makespan_ps)
        is_computing = schedule.operations["kind"][operation] == CALC
        computing, in_flight = (
            float(lasting_ps[kind].sum()) / makespan_ps if makespan_ps else np.nan
            for kind in (is_computing, self._flies)
        )
        return PathShares(computing, 1.0 - computing - in_flight, in_flight)

    def share_of_trains(self, schedule: Schedule, makespan_ps: int) -> float:
        """The share of the makespan in which a message waits for the CPU or NIC that another message keeps busy.

        That is so in a train of messages, at their sender or at their receiver. NaN where the makespan is 0.
        """
        operation, at_receiver = self.steps["operation"], self.steps["at_receiver"] > 0
        is_message = schedule.operations["kind"][operation] != CALC
        follows = np.append(at_receiver[1:], False) | ~at_receiver
        lasting_ps = np.diff(self.steps["start_ps"], append=makespan_ps)
        waited_ps = lasting_ps[is_message & follows & ~self._flies].sum()
        return float(waited_ps) / makespan_ps if makespan_ps else np.nan

    @property
    def _flies(self) -> NDArray[np.bool_]:
        """The steps at which a message goes from its sender to its receiver."""
        operation, at_receiver = self.steps["operation"], self.steps["at_receiver"]
        flies = np.zeros(operation.size, bool)
        flies[:-1] = (operation[1:] == operation[:-1]) & (at_receiver[1:] > at_receiver[:-1])
        return flies

    def _further_crossings(self, schedule: Schedule, parameters: LogGOPS) -> int:
        """How often the messages of the path cross the network, beyond once each."""
        messages = schedule.operations[self.steps["operation"][self._flies]]
        further = 0
        for traffic in np.unique(messages["traffic"]).tolist():
            protocols = parameters.protocols_of(traffic)
            times = [each for each in protocols if isinstance(each, MessageTimes)]
            if not times:
                continue
            sizes = messages["amount"][messages["traffic"] == traffic]
            first_bytes = np.array([each.first_bytes for each in times[1:]], np.uint64)
            crossings = np.array([each.crossings for each in times])
            further += int((crossings[np.searchsorted(first_bytes, sizes, side="right")] - 1).sum())
        return further

    def slopes(self, schedule: Schedule, parameters: LogGOPS) -> Slopes | None:
        """How the makespan changes with each parameter, the same change for messages of all sizes.

        None where G bounds the receives of some sizes and O those of others: then G has no slope that holds for all.
        """
        overheads = self.send.starts + self.receive.starts
        bytes_of_receives = self.receive.further_bytes + self.one_way.further_bytes
        O, G = self.send.further_bytes, self.nic.further_bytes
        plain = [each for each in parameters.protocols if isinstance(each, Protocol)]
        if plain:
            bounds = {protocol.O_as > protocol.G_as for protocol in plain}
            if len(bounds) > 1:
                return None
            is_slower_in_cpu = bounds.pop()
            O, G = (
                O + is_slower_in_cpu * bytes_of_receives,
                G + (not is_slower_in_cpu) * bytes_of_receives,
            )
        else:
            O, G = O + self.receive.further_bytes, G + self.one_way.further_bytes
        return Slopes(
            L=self.one_way.starts + self._further_crossings(schedule, parameters),
            o=overheads + 2 * self.one_way.starts,
            g=self.nic.starts,
            G=G,
            O=O,
            computing_ps=self.computing_ps,
        )


class PathShares(NamedTuple):
    """Shares of the makespan, along the critical path; they add up to 1."""

    computing: float
    sending_and_receiving: float
    """Overheads and gaps: CPUs and NICs that are busy with messages."""
    in_flight: float
    """Latency, and bytes under way."""


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
    send, nic, receive, one_way = map(LineCounts, rest[::2], rest[1::2])
    return CriticalPath(computing, send, nic, receive, one_way, steps.view(STEP))
