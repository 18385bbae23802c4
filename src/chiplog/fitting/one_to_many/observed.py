"""What was measured of one process to many, over the number of peers, at one message size.

round_trips   RTT(p), the total                                 series one_to_many
overheads     o(p) = time to post p sends / p                   series send_overhead
receive       o_r                                               series receive_overhead, if any
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.operations import ONE_SIDED
from chiplog.dataset.series import Series
from chiplog.fitting.estimates.parameters import Estimate
from chiplog.fitting.quantities.measured import MeasuredSeries, RecordValue
from chiplog.fitting.quantities.over_sizes import receive_overhead
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.models.protocol import Model, sends_of

ROUND_TRIP = "round_trip_over_peers"
OVERHEAD = "o_s_over_peers"


@dataclass(frozen=True)
class OverPeers:
    """A quantity over the number of peers; `peers`, ascending, has the shape of the quantity's value."""

    peers: NDArray[np.int64]
    quantity: Quantity


@dataclass(frozen=True)
class ObservedToMany:
    """All that the models of one process to many read, at one message size."""

    operation: str
    message_bytes: int
    round_trips: OverPeers
    overheads: OverPeers
    receive: Quantity

    @property
    def one_sided(self) -> bool:
        """Does the receiver's CPU have no part, so that o_r is 0?"""
        return self.operation in ONE_SIDED


def stacked(parts: Sequence[OverPeers]) -> OverPeers:
    """What was measured at several sizes, one after the other."""
    quantities = [part.quantity for part in parts]
    whole = replace(
        quantities[0],
        message_bytes=np.concatenate([quantity.message_bytes for quantity in quantities]),
        value=np.concatenate([quantity.value for quantity in quantities]),
        sigma=np.concatenate([quantity.sigma for quantity in quantities]),
        draws=np.concatenate([quantity.draws for quantity in quantities]),
        series=frozenset().union(*(quantity.series for quantity in quantities)),
        samples=np.concatenate([quantity.samples for quantity in quantities]),
    )
    return OverPeers(np.concatenate([part.peers for part in parts]), whole)


PeersEstimator = Callable[[Model, ObservedToMany, np.random.Generator], Mapping[str, Estimate]]
"""Fits a model to one message size: its parameters by symbol, in seconds and numbers of messages."""

SizesEstimator = Callable[
    [Model, Sequence[ObservedToMany], np.random.Generator], Mapping[str, Estimate] | None
]
"""Fits a model to all message sizes at once, with the costs per byte; None where some size lacks what that needs."""


def count_sends(series: Series) -> int:
    """How many messages one operation of the series sends out."""
    return int(sends_of(series.train, series.peers))


def _over_peers(
    measured: MeasuredSeries, name: str, message_bytes: int, factors: dict[int, float]
) -> OverPeers:
    """The series at the indices `factors`, each times its factor, combined to one value a number of peers."""
    entries = [
        RecordValue(((index, factor),), at=count_sends(measured.series[index]))
        for index, factor in factors.items()
    ]
    quantity = measured.quantity(name, entries)
    peers = quantity.message_bytes
    sizes = np.full(peers.size, message_bytes, dtype=np.int64)
    return OverPeers(peers, replace(quantity, message_bytes=sizes))


def observe(measured: MeasuredSeries, operation: str, message_bytes: int) -> ObservedToMany:
    """RTT(p), o(p) and o_r at one message size; each may be empty."""

    def of(pattern: str) -> list[int]:
        return measured.indices(
            lambda series: (
                (series.pattern, series.message_bytes) == (pattern, message_bytes)
                and series.delay_seconds == 0
            )
        )

    totals = {
        index: 2.0 if measured.series[index].direction == "one-way" else 1.0
        for index in of("one_to_many")
    }
    posts = {index: 1.0 / count_sends(measured.series[index]) for index in of("send_overhead")}
    return ObservedToMany(
        operation,
        message_bytes,
        _over_peers(measured, ROUND_TRIP, message_bytes, totals),
        _over_peers(measured, OVERHEAD, message_bytes, posts),
        receive_overhead(measured).within(message_bytes, message_bytes),
    )


def observe_all(
    measured: MeasuredSeries, operation: str, pattern: str
) -> tuple[ObservedToMany, ...]:
    """What was measured at each size of a pattern."""
    sizes = {series.message_bytes for series in measured.series if series.pattern == pattern}
    return tuple(observe(measured, operation, size) for size in sorted(sizes))
