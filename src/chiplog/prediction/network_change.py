"""A network, or ranks, that differ from those that were measured, for what-if questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.errors import UsageError
from chiplog.plan.units import parse_bytes, parse_nanoseconds
from chiplog.schedule.arrays import CALC, Schedule
from chiplog.simulation.conditions import Conditions
from chiplog.simulation.parameters import LogGOPS, MessageTimes, Protocol, whole

PS_PER_SECOND = 1e12


@dataclass(frozen=True)
class NetworkChange:
    """By what each part of all messages' times, and of what ranks compute, is multiplied."""

    latency: float = 1.0
    added_latency_seconds: float = 0.0
    overhead: float = 1.0
    """CPU time of messages, at both ends."""
    gap: float = 1.0
    """The NIC's time for a message, without its bytes."""
    byte_time: float = 1.0
    """The inverse of the bandwidth."""
    computing: float = 1.0
    largest_eager_bytes: int | None = None
    """In place of S of LogGPS: longer sends wait for their receive."""

    def of_parameters(self, parameters: LogGOPS) -> LogGOPS:
        """The parameters of LogGOPS so changed."""
        limit = self.largest_eager_bytes
        return replace(
            parameters,
            protocols=self._protocols(parameters.protocols),
            S_bytes=parameters.S_bytes if limit is None else limit,
        )

    def of_conditions(self, conditions: Conditions) -> Conditions:
        """Conditions whose classes of pairs are so changed."""
        if conditions.pairs is None:
            return conditions
        classes = tuple(self._protocols(each) for each in conditions.pairs.classes)
        return replace(conditions, pairs=replace(conditions.pairs, classes=classes))

    def of_schedule(self, schedule: Schedule) -> Schedule:
        """A schedule that computes as much longer."""
        if self.computing == 1.0:
            return schedule
        operations = schedule.operations.copy()
        computes = operations["kind"] == CALC
        amounts = operations["amount"][computes].astype(np.float64)
        operations["amount"][computes] = np.round(self.computing * amounts)
        return replace(schedule, operations=operations)

    def _protocols(
        self, protocols: Sequence[Protocol | MessageTimes]
    ) -> tuple[Protocol | MessageTimes, ...]:
        return tuple(self._protocol(protocol) for protocol in protocols)

    def _protocol(self, protocol: Protocol | MessageTimes) -> Protocol | MessageTimes:
        if isinstance(protocol, MessageTimes):
            return self.of_times(protocol)
        added_ps = PS_PER_SECOND * self.added_latency_seconds
        return replace(
            protocol,
            L_ps=whole(self.latency * protocol.L_ps + added_ps),
            o_ps=whole(self.overhead * protocol.o_ps),
            O_as=whole(self.overhead * protocol.O_as),
            g_ps=whole(self.gap * protocol.g_ps),
            G_as=whole(self.byte_time * protocol.G_as),
        )

    def of_times(self, times: MessageTimes) -> MessageTimes:
        """What messages of `first_bytes` take so changed; only that size's, as each size of a fit has its own."""
        parts = times.parts
        way_ps = (
            parts.way_ps
            + (self.latency - 1.0) * parts.latency_ps
            + (self.overhead - 1.0) * parts.busy_ps
            + (self.byte_time - 1.0) * min(parts.wire_ps, parts.way_ps)
            + PS_PER_SECOND * self.added_latency_seconds * times.crossings
        )
        return replace(
            times,
            send_ps=whole(self.overhead * times.send_ps),
            send_as=whole(self.overhead * times.send_as),
            receive_ps=whole(self.overhead * times.receive_ps),
            receive_as=whole(self.overhead * times.receive_as),
            nic_ps=whole(self.gap * times.nic_ps),
            nic_as=whole(self.byte_time * times.nic_as),
            one_way_ps=whole(way_ps),
            one_way_as=0,
        )


UNCHANGED = NetworkChange()
FACTORS = {
    "L": "latency",
    "o": "overhead",
    "g": "gap",
    "G": "byte_time",
    "computing": "computing",
}
"""What can be multiplied, and its name here."""
WAYS = "L+TIME, L*FACTOR, o*FACTOR, g*FACTOR, G*FACTOR, S=SIZE or computing*FACTOR, several with commas"


def parse_change(text: str) -> NetworkChange:
    """From "L+200us,G*2": UsageError names what is accepted.

    >>> change = parse_change("L+200us,G*2")
    >>> change.added_latency_seconds, change.byte_time, change.gap
    (0.0002, 2.0, 1.0)
    """
    change = UNCHANGED
    for part in text.split(","):
        if part.startswith("L+"):
            added = float(parse_nanoseconds(part[2:], "--change")) * 1e-9
            change = replace(change, added_latency_seconds=change.added_latency_seconds + added)
            continue
        if part.startswith("S="):
            change = replace(change, largest_eager_bytes=parse_bytes(part[2:], "--change"))
            continue
        name, _, factor = part.partition("*")
        try:
            value = float(factor)
        except ValueError:
            value = -1.0
        if name not in FACTORS or not 0.0 <= value < math.inf:
            raise UsageError(f"--change: {part!r} is no change; it accepts {WAYS}.")
        field = FACTORS[name]
        change = replace(change, **{field: value * getattr(change, field)})
    return change
