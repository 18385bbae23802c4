"""What models are judged on: half round trips over the message size, or RTT(p) over the number of peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chiplog.dataset.series import Dataset, Series
from chiplog.fit.choice import of_pairs
from chiplog.fit.measured import REPLICATES, Measured, is_round_trip
from chiplog.fit.one_to_many.run import round_trip_points
from chiplog.fit.predictions import HALF_ROUND_TRIP, MeasuredPoints, measured_points
from chiplog.models.protocol import Model
from chiplog.models.refuse import unknown_pattern
from chiplog.models.registry import BUILT_IN, load_model

ONE_TO_MANY = "one_to_many"
FEW_REPLICATES = 20
"""Where predictions don't depend on them; a search each would be most of the time."""
_OVER_PEERS_PATTERNS = (ONE_TO_MANY, "send_overhead", "receive_overhead")


@dataclass(frozen=True)
class Judged:
    """The points that are held out and predicted, and how they are told apart."""

    is_point: Callable[[Series], bool]
    value: Callable[[Series], int]
    points: Callable[[Measured, str], MeasuredPoints]
    """From what was measured of an operation."""
    values_text: str
    """What the values are, in the plural."""
    unit: str
    replicates: int
    """Of a fit that is asked for its predictions only: many where what is identified decides how it predicts."""

    def values(self, dataset: Dataset) -> list[int]:
        """The distinct values at which there are points, ascending."""
        return sorted({self.value(one) for one in dataset.series if self.is_point(one)})


OVER_SIZES = Judged(
    is_round_trip,
    lambda one: one.message_bytes,
    lambda measured, _: measured_points(measured, HALF_ROUND_TRIP),
    "sizes",
    " B",
    REPLICATES,
)
OVER_PEERS = Judged(
    lambda one: one.pattern == ONE_TO_MANY,
    lambda one: one.peers,
    round_trip_points,
    "numbers of peers",
    "",
    FEW_REPLICATES,
)


def _of_round_trips(model: Model) -> bool:
    return "prtt" in model.patterns or "ping_pong" in model.patterns


def default_models(dataset: Dataset) -> tuple[str, ...]:
    """The built-in models that can be judged together on the dataset: on round trips, else on RTT(p); and on pairs."""
    over_peers, over_sizes = _only_over_peers(dataset), bool(OVER_SIZES.values(dataset))
    has_pairs = any(one.pattern == "pairs" for one in dataset.series)

    def judged(model: Model) -> bool:
        if of_pairs(model.name):
            return has_pairs
        if over_peers:
            return ONE_TO_MANY in model.patterns
        return _of_round_trips(model) and (over_sizes or not has_pairs)

    return tuple(name for name in BUILT_IN if judged(load_model(name)))


def _only_over_peers(dataset: Dataset) -> bool:
    return bool(OVER_PEERS.values(dataset)) and not OVER_SIZES.values(dataset)


def judged_on(dataset: Dataset, models: Sequence[str], hold_out: str | None) -> Judged:
    """RTT(p) where a model speaks of nothing else, peers are held out or there is nothing else.

    Raises UsageError for a model that says nothing about RTT(p) then.
    """
    loaded = [load_model(name) for name in models]
    peers_held_out = hold_out is not None and "peers" in hold_out
    if not peers_held_out and not _only_over_peers(dataset) and all(map(_of_round_trips, loaded)):
        return OVER_SIZES
    for one in loaded:
        if ONE_TO_MANY not in one.patterns:
            raise unknown_pattern(one.name, ONE_TO_MANY, one.patterns)
    return OVER_PEERS


def fitted_part(dataset: Dataset, judged: Judged) -> Dataset:
    """What the models may be fitted to: for RTT(p), the series of one process to many only."""
    if judged is OVER_SIZES:
        return dataset
    chosen = tuple(one for one in dataset.series if one.pattern in _OVER_PEERS_PATTERNS)
    return replace(dataset, series=chosen)
