"""What models are judged on: half round trips over the message size, or RTT(p) over the number of peers.

Sizes count that cover the range evenly: not the cold first one, nor those that a bisection crowded around a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.caution import without_cold_start
from chiplog.fitting.choice import of_pairs
from chiplog.fitting.one_to_many.fitting import round_trip_points
from chiplog.fitting.predictions.predictor import HALF_ROUND_TRIP, MeasuredPoints, measured_points
from chiplog.fitting.quantities.measured import MeasuredSeries, is_round_trip
from chiplog.fitting.request import LeftOut
from chiplog.machine_state.states import in_one_state
from chiplog.models.protocol import Model
from chiplog.models.registry import MODELS, load_model
from chiplog.protocol_changes.detect.observed import GRID

ONE_TO_MANY = "one_to_many"
SOME_REPLICATES = 150
"""Derived: of fits that are asked for predictions only, standard errors, which weigh sizes, are then known to 6 %."""
FEW_REPLICATES = 20
"""Given: where predictions don't depend on them; a search each would be most of the time."""
_OVER_PEERS_PATTERNS = (ONE_TO_MANY, "send_overhead", "receive_overhead")


@dataclass(frozen=True)
class HeldOutPoints:
    """The points that are held out and predicted, and how they are told apart."""

    is_point: Callable[[Series], bool]
    value: Callable[[Series], int]
    points: Callable[[MeasuredSeries, str], MeasuredPoints]
    """From what was measured of an operation."""
    values_text: str
    """What the values are, in the plural."""
    unit: str
    replicates: int
    """Of a fit that is asked for its predictions only: many where what is identified decides how it predicts."""
    by_size: bool
    """Whether sizes are dealt out, so that protocol changes between them matter."""

    def values(self, dataset: Dataset) -> list[int]:
        """The distinct values at which there are points, ascending."""
        return sorted({self.value(series) for series in dataset.series if self.is_point(series)})


def _of_the_grid(series: Series) -> bool:
    return series.tag.get("purpose", GRID) == GRID


OVER_SIZES = HeldOutPoints(
    lambda series: is_round_trip(series) and _of_the_grid(series),
    lambda series: series.message_bytes,
    lambda measured, _: measured_points(measured, HALF_ROUND_TRIP),
    "sizes",
    " B",
    SOME_REPLICATES,
    by_size=True,
)
OVER_PEERS = HeldOutPoints(
    lambda series: series.pattern == ONE_TO_MANY and _of_the_grid(series),
    lambda series: series.peers,
    round_trip_points,
    "numbers of peers",
    "",
    FEW_REPLICATES,
    by_size=False,
)


def _of_round_trips(model: Model) -> bool:
    return "prtt" in model.patterns or "ping_pong" in model.patterns


def default_models(dataset: Dataset) -> tuple[str, ...]:
    """The models that can be judged together on the dataset: on round trips, else on RTT(p); and on pairs."""
    over_peers, over_sizes = _only_over_peers(dataset), bool(OVER_SIZES.values(dataset))
    has_pairs = any(series.pattern == "pairs" for series in dataset.series)

    def judged(model: Model) -> bool:
        if of_pairs(model.name):
            return has_pairs
        if over_peers:
            return ONE_TO_MANY in model.patterns
        return _of_round_trips(model) and over_sizes

    return tuple(model.name for model in MODELS.all() if judged(model))


def _only_over_peers(dataset: Dataset) -> bool:
    return bool(OVER_PEERS.values(dataset)) and not OVER_SIZES.values(dataset)


def judged_on(
    dataset: Dataset, models: Sequence[str], hold_out: str | None
) -> tuple[HeldOutPoints, list[str], list[LeftOut]]:
    """RTT(p) where a model describes nothing else, peers are held out or there is nothing else; then the models that
    describe it, and those that don't.
    """
    loaded = [load_model(name) for name in models]
    peers_held_out = hold_out is not None and "peers" in hold_out
    if not peers_held_out and not _only_over_peers(dataset) and all(map(_of_round_trips, loaded)):
        return OVER_SIZES, list(models), []
    speaking = [model.name for model in loaded if ONE_TO_MANY in model.patterns]
    left_out = [
        LeftOut(
            model.name,
            None,
            f"it says nothing about pattern '{ONE_TO_MANY}'; it speaks about {', '.join(model.patterns)}.",
        )
        for model in loaded
        if model.name not in speaking
    ]
    return OVER_PEERS, speaking, left_out


def in_shown_state(dataset: Dataset) -> Dataset:
    """The points in the state of the machine that fits are made from: what is held out is judged in that one, too."""
    return in_one_state(without_cold_start(dataset)[0]).dataset


def fitted_part(dataset: Dataset, judged: HeldOutPoints) -> Dataset:
    """What the models may be fitted to: for RTT(p), the series of one process to many only."""
    if judged is OVER_SIZES:
        return dataset
    chosen = tuple(series for series in dataset.series if series.pattern in _OVER_PEERS_PATTERNS)
    return replace(dataset, series=chosen)
