"""What a fit returns: parameters with intervals, segments, protocol changes, errors and cost.

Everything here is frozen and in SI units (seconds, bytes, seconds per byte); `report` and `cli` read it and compute
nothing new.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.protocol_changes.change import Change


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model with its 95 % interval.

    Where it is not identified, `value` is None, and `low` and `high` are the bounds of the set of values that the data
    leave; None is no bound on that side.
    """

    symbol: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    identified: bool
    reason: str | None = None


FREE = "free"
"""The form of a segment of loggops where a message alone and a train have slopes of their own."""
RECEIVER = "receiver"
"""The form of a segment of logp and loggp where receives bound the trains: a further message takes at least o_r."""


@dataclass(frozen=True)
class Segment:
    """One regime: the sizes that it holds for and its parameters by symbol."""

    first_bytes: int
    last_bytes: int
    parameters: dict[str, Parameter]
    border: str | None = None
    """What its lower end is: "protocol" (a protocol change), "slope" (a byte's cost changes), None of the first."""
    form: str | None = None
    """`FREE`, `RECEIVER`, or None for the model's published form."""


@dataclass(frozen=True)
class FitError:
    """`|predicted - measured|` / measured over the points of the model's patterns; `mean_factor` is
    exp(mean `|ln(predicted/measured)|`).
    """

    points: int
    mean_relative: float
    median_relative: float
    max_relative: float
    mean_factor: float


NOT_JUDGED = FitError(0, math.nan, math.nan, math.nan, math.nan)


def summarise(relative: NDArray[np.float64], logarithmic: NDArray[np.float64]) -> FitError:
    """The error over all points; NaN without any."""
    if relative.size == 0:
        return NOT_JUDGED
    return FitError(
        int(relative.size),
        float(relative.mean()),
        float(np.median(relative)),
        float(relative.max()),
        float(np.exp(logarithmic.mean())),
    )


"""Derived: the error over no points."""


@dataclass(frozen=True)
class Cost:
    """What the measurement behind a fit cost; warm-up included."""

    messages: int
    bytes: int
    seconds: float


_OF_PAIRS = re.compile(r"half_round_trip\(k=(\d+)\)")


@dataclass(frozen=True)
class Curve:
    """Measured medians of one quantity over size with the model's prediction, for tables and plots.

    All arrays have shape (points,); `low` and `high` are the 95 % interval of the median, in seconds.
    """

    quantity: str
    """`half_round_trip`, `gap`, `o_s`, `o_r`, …; of one process to many `round_trip_over_peers`, `o_s_over_peers`,
    and LoP's `L_over_peers`, `L_list_over_peers` with their forms as printed, `L_printed_over_peers`, ….
    """
    message_bytes: NDArray[np.int64]
    measured_seconds: NDArray[np.float64]
    low_seconds: NDArray[np.float64]
    high_seconds: NDArray[np.float64]
    predicted_seconds: NDArray[np.float64]
    peers: NDArray[np.int64] | None = None
    """The numbers of peers, where the curve is over these."""

    @property
    def pairs(self) -> int | None:
        """The number of pairs whose half round trips the curve holds; None of other curves."""
        match = _OF_PAIRS.fullmatch(self.quantity)
        return int(match[1]) if match else None


@dataclass(frozen=True)
class Band:
    """Where the next measured median will lie, 19 times of 20: about the prediction, by size.

    Arrays have shape (sizes,); between two sizes the logarithm of the width is linear in that of the size.
    """

    quantity: str
    """`half_round_trip` or `train` (trains without delay, whole)."""
    message_bytes: NDArray[np.int64]
    relative_half_width: NDArray[np.float64]

    def at(self, message_bytes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The relative half width at any sizes, shape of `message_bytes`."""
        known, asked = (
            np.log(np.maximum(sizes, 1)) for sizes in (self.message_bytes, message_bytes)
        )
        return np.asarray(np.exp(np.interp(asked, known, np.log(self.relative_half_width))))


@dataclass(frozen=True)
class Fit:
    """One model fitted by one method to one dataset."""

    model: str
    method: str
    transport: str
    operation: str
    direction: str
    statistic: str
    segments: tuple[Segment, ...]
    changes: tuple[Change, ...]
    error: FitError
    cost: Cost
    curves: tuple[Curve, ...] = ()
    warnings: tuple[str, ...] = ()
    draws: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Bootstrap draws by "segment index/symbol", shape (draws,): what predictions carry through."""
    placement: str | None = None
    """How the ranks were bound, e.g. "filled" or "round-robin"; None where that isn't known."""
    between: tuple[str, str] | None = None
    """Of models of k pairs: the two groups of ranks that the pairs ran between; None where they aren't known."""
    convention: str | None = None
    """Of models of k pairs: what the samples were, "round-trip" or "one-way"."""
    advice: tuple[str, ...] = ()
    """What a designer of programs takes from it, one sentence a protocol; only some models have such."""
    posting: str = "normal"
    """How the operation was handed over: normal, inline or list."""
    bands: tuple[Band, ...] = ()
    """Prediction intervals; none where too few sizes were measured to tell."""
    target: str | None = None
    """What was measured, as it was named: "tcp:bind=10.0.0.1"; None in files that do not say."""
    ranks: int | None = None
    """How many ranks took part; None in files that do not say."""
    hosts: int | None = None
    """On how many hosts they ran; None in files that do not say."""
    launches: int | None = None
    """Over how many launches the intervals are; None in files that do not say."""
    held_out: FitError | None = None
    """The errors on half round trips that were held out from further fits like this one; None where none were made."""
    busy: str | None = None
    """What shows that the machine was busy with other programs while it measured, in a few words; else None."""
    other_state_bytes: tuple[int, ...] = ()
    """Sizes that were measured while the machine was in another state: drawn, but neither fitted nor predicted from."""
    other_states: tuple[float, ...] = ()
    """By what share times differ in other states that the machine was in for half of the points and more."""

    def band(self, quantity: str) -> Band | None:
        """The prediction interval of a quantity; None where it has none."""
        return next((band for band in self.bands if band.quantity == quantity), None)


def cost_of(all_series: Sequence[Series], used: Iterable[int]) -> Cost:
    """Messages, bytes and seconds of exactly the series with the indices `used`, warm-up included."""
    chosen = [all_series[index] for index in used]
    return Cost(
        sum(series.messages for series in chosen),
        sum(series.bytes_sent for series in chosen),
        sum(series.elapsed_seconds for series in chosen),
    )
