"""A network, or ranks, that differ from those that were measured, for what-if questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.plan.units import parse_nanoseconds
from chiplog.schedule.arrays import CALC, Schedule
from chiplog.simulation.conditions import Conditions
from chiplog.simulation.parameters import LogGOPS, MessageTimes, Protocol


def latency_of(costs: dict[str, Array], message_bytes: int) -> Array:
    """L of a message of one size in seconds: what its CPUs and its bytes leave of its time."""
    further = float(max(message_bytes, 1) - 1)
    way = costs["L_half"] + further * costs["G_half"]
    return np.asarray(np.maximum(way - _busy(costs, further) - further * costs["G"], 0.0))


def _busy(costs: dict[str, Array], further: float) -> Array:
    """How long a message keeps both CPUs."""
    return np.asarray(costs["o_s"] + costs["o_r"] + further * (costs["O_s"] + costs["O_r"]))


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

    def of_costs(self, costs: dict[str, Array], message_bytes: int) -> dict[str, Array]:
        """The costs of messages of one size in seconds: L_half, G_half, o_s, O_s, o_r, O_r, g and G."""
        further = float(max(message_bytes, 1) - 1)
        wire = further * costs["G"]
        busy = _busy(costs, further)
        way = costs["L_half"] + further * costs["G_half"]
        added = (
            (self.latency - 1.0) * latency_of(costs, message_bytes)
            + (self.overhead - 1.0) * busy
            + (self.byte_time - 1.0) * np.minimum(wire, way)
            + self.added_latency_seconds
        )
        overheads = {name: self.overhead * costs[name] for name in ("o_s", "O_s", "o_r", "O_r")}
        return {
            **costs,
            **overheads,
            "L_half": np.maximum(way + added, 0.0),
            "G_half": np.zeros_like(way),
            "g": self.gap * costs["g"],
            "G": self.byte_time * costs["G"],
        }

    def of_parameters(self, parameters: LogGOPS) -> LogGOPS:
        """The parameters of LogGOPS so changed."""
        return replace(parameters, protocols=self._protocols(parameters.protocols))

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
        added_ps = 1e12 * self.added_latency_seconds
        if isinstance(protocol, MessageTimes):
            return self._times(protocol, added_ps)
        return replace(
            protocol,
            L_ps=round(self.latency * protocol.L_ps + added_ps),
            o_ps=round(self.overhead * protocol.o_ps),
            O_as=round(self.overhead * protocol.O_as),
            g_ps=round(self.gap * protocol.g_ps),
            G_as=round(self.byte_time * protocol.G_as),
        )

    def _times(self, times: MessageTimes, added_ps: float) -> MessageTimes:
        """Of messages of `first_bytes`, where their bytes' time is in the start of the line."""
        further = max(times.first_bytes, 1) - 1
        busy = times.send_ps + times.receive_ps
        latency = max(times.one_way_ps - busy - round(1e-6 * further * times.nic_as), 0)
        way = times.one_way_ps + (self.latency - 1.0) * latency + added_ps
        way += (self.overhead - 1.0) * busy
        way_as = times.one_way_as + (self.byte_time - 1.0) * times.nic_as
        way += 1e-6 * further * min(way_as, 0.0)
        return replace(
            times,
            send_ps=round(self.overhead * times.send_ps),
            send_as=round(self.overhead * times.send_as),
            receive_ps=round(self.overhead * times.receive_ps),
            receive_as=round(self.overhead * times.receive_as),
            nic_ps=round(self.gap * times.nic_ps),
            nic_as=round(self.byte_time * times.nic_as),
            one_way_ps=max(round(way), 0),
            one_way_as=max(round(way_as), 0),
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
WAYS = "L+TIME, L*FACTOR, o*FACTOR, g*FACTOR, G*FACTOR or computing*FACTOR, several with commas"


def parse_change(text: str) -> NetworkChange:
    """From "L+200us,G*2": UsageError names what is accepted.

    >>> parse_change("L+200us,G*2")
    NetworkChange(latency=1.0, added_latency_seconds=0.0002, overhead=1.0, gap=1.0, byte_time=2.0, computing=1.0)
    """
    change = UNCHANGED
    for part in text.split(","):
        if part.startswith("L+"):
            added = float(parse_nanoseconds(part[2:], "--change")) * 1e-9
            change = replace(change, added_latency_seconds=change.added_latency_seconds + added)
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
