"""Times of schedules by the simulator, over the set of parameter vectors that a fit leaves.

`chiplog simulate` takes them for any schedule, `chiplog predict` where a closed form is only a bound. Both take the
costs of messages from `chiplog.fitting.predictions.measured_times`, as closed forms do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chiplog.errors import RunFailed
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.regime import Vectors
from chiplog.fitting.settings import REPLICATES
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.loggp import LogGPSpeaker, RegimeNetwork
from chiplog.prediction.network import Space, segment_of
from chiplog.prediction.network_change import UNCHANGED, NetworkChange
from chiplog.prediction.network_crossings import (
    WITH_HANDSHAKE,
    acknowledgement_seconds,
    without_waiting,
)
from chiplog.prediction.sent_sizes import message_counts
from chiplog.schedule.acknowledged import ACKNOWLEDGEMENT_BYTES
from chiplog.schedule.arrays import Schedule
from chiplog.schedule.traffic import (
    MEASURED_TRAFFIC,
    Traffic,
    are_confirmations,
    incasts_of,
    traffic_of,
)
from chiplog.simulation import Conditions, LogGOPS, simulate
from chiplog.simulation.parameters import NO_LIMIT_BYTES, MessageTimes, whole
from chiplog.simulation.simulate import PLAIN, Simulation
from chiplog.statistics import TAILS

PS_PER_SECOND = 1e12
MOST_EVENTS = 100_000
"""Given: of longer schedules, few points of the set and few draws are simulated."""


@dataclass(frozen=True)
class ScheduleTimes:
    """How long a schedule takes under a fit; `used` are the regimes that fractions are for, by default all it needs.

    Under the convention `osu` that is the mean over ranks of when each is done.
    """

    schedule: Schedule
    speaker: LogGPSpeaker
    conditions: Conditions = PLAIN
    used: tuple[int, ...] | None = None
    convention: TimeConvention = TimeConvention.COMMON_START
    change: NetworkChange = UNCHANGED
    """Of the measured network; the schedule is as it is."""
    acknowledged: frozenset[int] = frozenset()
    """Sizes in bytes whose acknowledgements, or confirmations, are messages of the schedule."""
    handshakes: frozenset[int] = frozenset()
    """Sizes in bytes whose messages follow a handshake."""
    errors: Array | None = None
    """By what each draw multiplies all messages of a regime, as of `drawn_errors`; None: by 1."""

    @cached_property
    def _counts(self) -> dict[int, int]:
        """How many messages there are of each size in bytes."""
        return message_counts(self.schedule) or {1: 0}

    @cached_property
    def _schedule(self) -> Schedule:
        """The schedule with the traffic of its messages, where the fit tells how they differ."""
        if not self._tells_traffic:
            return self.schedule
        operations = self.schedule.operations.copy()
        is_answer = operations["traffic"] == Traffic.ACKNOWLEDGEMENT
        traffic = traffic_of(self.schedule)
        if self.speaker.tells_receivers:
            traffic[incasts_of(self.schedule)] = Traffic.INCAST
        begins = self.schedule.requires_start
        begins = begins[are_confirmations(self.schedule)[begins["operation"]]]
        traffic[begins["operation"]] = Traffic.CONFIRMATION + traffic[begins["on"]]
        operations["traffic"] = np.where(is_answer, Traffic.ACKNOWLEDGEMENT, traffic)
        return replace(self.schedule, operations=operations)

    @property
    def _tells_traffic(self) -> bool:
        return self.speaker.tells_exchanges or self.speaker.tells_receivers

    @property
    def largest_eager_bytes(self) -> int | None:
        """S of the fit, or of the change."""
        changed = self.change.largest_eager_bytes
        return self.speaker.largest_eager_bytes if changed is None else changed

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of its messages in bytes, ascending."""
        return tuple(self._counts)

    @cached_property
    def space(self) -> Space:
        """The vectors of the regimes whose sizes the schedule sends."""
        sizes = {*self._counts, *([ACKNOWLEDGEMENT_BYTES] if self.acknowledged else [])}
        needed = {segment_of(self.speaker.fit, size) for size in sizes}
        return self.speaker.space_of(self.used or tuple(sorted(needed)))

    @cached_property
    def is_long(self) -> bool:
        """Does it have too many events to be simulated hundreds of times?"""
        return self.in_the_middle().events > MOST_EVENTS

    def in_the_middle(self, *, trace: bool = False, follow: bool = False) -> Simulation:
        """The simulation with the parameters in the middle of the set."""
        middle = np.full((1, len(self.space.symbols)), 0.5)
        parameters = self.parameters(middle, whole=False)[0]
        return simulate(
            self._schedule, parameters, conditions=self.conditions, trace=trace, follow=follow
        )

    def parameters(self, fractions: Array, *, whole: bool) -> list[LogGOPS]:
        """What the simulator takes, for each vector of one point of the set: the costs of each size that is sent."""
        network = self.speaker.network(self.space.used, fractions, whole)
        limit = self.largest_eager_bytes
        kinds = MEASURED_TRAFFIC if self._tells_traffic else (Traffic.ALONE,)
        alone, *of_traffic = (self._protocols(network, traffic) for traffic in kinds)
        if self.acknowledged:
            others = of_traffic or [alone] * (len(MEASURED_TRAFFIC) - 1)
            ways = [self._confirmations(network, times) for times in (alone, *others)]
            of_traffic = [*others, self._acknowledgements(network), *ways]
        return [
            LogGOPS(protocols, NO_LIMIT_BYTES if limit is None else limit, crossed)
            for protocols, *crossed_lists in zip(alone, *of_traffic, strict=True)
            for crossed in [tuple(crossed_lists)]
        ]

    def _protocols(
        self, network: RegimeNetwork, traffic: Traffic
    ) -> list[tuple[MessageTimes, ...]]:
        """For each vector the costs of each size that is sent, of one kind of traffic."""
        rows: list[list[MessageTimes]] = []
        for size in self._counts:
            segment = segment_of(self.speaker.fit, size)
            costs = self._costs(network, size, traffic)
            if self.errors is not None and network.whole:
                factors = self.errors[segment]
                costs = {
                    name: np.resize(factors, each.shape) * each for name, each in costs.items()
                }
            keeps_up = self.speaker.regimes[segment].receiver_keeps_up
            columns = zip(*(values.tolist() for values in costs.values()), strict=True)
            crossings = WITH_HANDSHAKE if size in self.handshakes else 1
            times = [
                replace(
                    MessageTimes.from_seconds(
                        size, dict(zip(costs, row, strict=True)), receiver_keeps_up=keeps_up
                    ),
                    crossings=crossings,
                )
                for row in columns
            ]
            is_changed = replace(self.change, largest_eager_bytes=None) != UNCHANGED
            rows.append(list(map(self.change.of_times, times)) if is_changed else times)
        return list(zip(*rows, strict=True))

    def _costs(self, network: RegimeNetwork, size: int, traffic: Traffic) -> Vectors:
        """The parameter vectors of messages of that size."""
        fit = self.speaker.fit
        costs = network.at(segment_of(fit, size), size, traffic)
        if size not in self.acknowledged:
            return costs
        alone = network.at(segment_of(fit, size), size)
        empty = network.at(segment_of(fit, ACKNOWLEDGEMENT_BYTES), ACKNOWLEDGEMENT_BYTES)
        return without_waiting(costs, alone, empty, size)

    def _acknowledgements(self, network: RegimeNetwork) -> list[tuple[MessageTimes, ...]]:
        """For each vector what an acknowledgement takes: the median over the sizes that have some."""
        ways = [self._answer_seconds(network, size) for size in sorted(self.acknowledged)]
        return [(self._answer(way),) for way in np.median(ways, axis=0).tolist()]

    def _answer_seconds(self, network: RegimeNetwork, size: int) -> Array:
        """The way of the acknowledgement of a message of that size, of each vector."""
        return acknowledgement_seconds(network.at(segment_of(self.speaker.fit, size), size), size)

    def _answer(self, way_seconds: float) -> MessageTimes:
        """What an acknowledgement takes on the changed network."""
        costs = dict.fromkeys(("o_s", "O_s", "o_r", "O_r", "g", "G", "G_half"), 0.0)
        return self.change.of_times(
            MessageTimes.from_seconds(
                ACKNOWLEDGEMENT_BYTES, {**costs, "L_half": way_seconds}, receiver_keeps_up=False
            )
        )

    def _confirmations(
        self, network: RegimeNetwork, messages: list[tuple[MessageTimes, ...]]
    ) -> list[tuple[MessageTimes, ...]]:
        """For each vector how long it takes until a message's sender knows that it is there, in place of its costs."""
        ways = {size: self._answer_seconds(network, size) for size in self.acknowledged}
        return [
            tuple(
                confirmation_of(times, self._answer(float(ways[times.first_bytes][vector])))
                if times.first_bytes in ways
                else times
                for times in row
            )
            for vector, row in enumerate(messages)
        ]

    def evaluate(self, fractions: Array, whole: bool) -> Array:
        """Times in seconds, as `Evaluate`; of a long schedule only the draws at the ends of the interval."""
        times = []
        for point in fractions:
            vectors = self.parameters(point[np.newaxis], whole=whole)
            if whole and self.is_long:
                vectors = [vectors[place] for place in (0, *self.ends(point))]
            times.append([self.seconds(vector) for vector in vectors])
        return np.array(times)

    def ends(self, point: Array) -> tuple[int, int]:
        """The draws in which messages take least and longest, all but the tails of an interval."""
        network = self.speaker.network(self.space.used, point[np.newaxis], True)
        total = np.zeros(1 + REPLICATES)
        for size, count in self._counts.items():
            seconds = count * network.message(size).one_way
            factors = (
                1.0 if self.errors is None else self.errors[segment_of(self.speaker.fit, size)]
            )
            total += factors * seconds
        order = 1 + np.argsort(total[1:], kind="stable")
        low, high = (order[min(REPLICATES - 1, round(tail * REPLICATES))] for tail in TAILS)
        return int(low), int(high)

    def seconds(self, parameters: LogGOPS) -> float:
        """Until the last rank is done, or the mean over ranks; endless where it is beyond the simulator's clock."""
        try:
            simulation = simulate(self._schedule, parameters, conditions=self.conditions)
        except RunFailed as error:
            if "106 days" in str(error):
                return float("inf")
            raise
        if self.convention is TimeConvention.OSU:
            return float(simulation.finish_ps.mean()) / PS_PER_SECOND
        return simulation.makespan_ps / PS_PER_SECOND


def confirmation_of(message: MessageTimes, answer: MessageTimes) -> MessageTimes:
    """A message and its answer, one after the other, which keep nothing busy."""
    one_way_ps = message.one_way_ps_of(message.first_bytes) + answer.one_way_ps
    return MessageTimes(
        first_bytes=message.first_bytes,
        **dict.fromkeys(("send_ps", "send_as", "nic_ps", "nic_as", "receive_ps", "receive_as"), 0),
        one_way_ps=whole(one_way_ps),
        one_way_as=0,
        receiver_keeps_up=False,
        crossings=message.crossings + answer.crossings,
    )
