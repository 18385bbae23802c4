"""What a fitted model says about the measured points: curves and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.fitting.predictions.ranges import Ranges
from chiplog.fitting.predictions.regime import Regime, is_of_logp_family
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.quantities.value_intervals import value_intervals
from chiplog.fitting.regimes.partition import EXCHANGE, SLOPE
from chiplog.fitting.result import Curve, Fit, FitError, summarise
from chiplog.models.piecewise import Piece, piece_index
from chiplog.models.protocol import Model, Points, Theta, entry, points
from chiplog.models.registry import load_model

HALF_ROUND_TRIP = "half_round_trip"
TRAIN = "train"

Predictor = Callable[[Points], NDArray[np.float64]]
"""A fitted model: seconds of points, shape (points,); NaN where it has none."""


@dataclass(frozen=True)
class MeasuredPoints:
    """Undelayed round trips and trains with their measured seconds, shape (points,); one row a size and train."""

    points: Points
    seconds: NDArray[np.float64]


NO_POINTS = MeasuredPoints(points("prtt", np.array([])), np.array([]))


def theta_of(fit: Fit, segment: int) -> Theta:
    """The parameters of a segment in the middle of what the data leave: of the set that predictions go over."""
    model = load_model(fit.model)
    if is_of_logp_family(model):
        return Regime(fit, segment).middle()
    parameters = Ranges(fit, segment).middle()
    return {**parameters, **entries_of(model, fit.curves)} if has_tables(model) else parameters


def pieces_of(fit: Fit) -> tuple[Piece, ...]:
    """The segments of a fit as pieces of a piecewise model.

    A protocol ends at its last byte; where a slope changes between two sizes, the middle between them (of their
    logarithms) is taken.
    """
    pieces = []
    for number, segment in enumerate(fit.segments):
        following = fit.segments[number + 1] if number + 1 < len(fit.segments) else None
        last = segment.last_bytes
        if following is not None and following.border == SLOPE:
            last = int(np.sqrt(max(last, 1) * float(following.first_bytes)))
        pieces.append(Piece(last, theta_of(fit, number)))
    return tuple(pieces)


def _is_point(series: Series, quantity: str) -> bool:
    if series.delay_seconds > 0 or series.pattern not in ("prtt", "ping_pong"):
        return False
    return (series.train == 1) == (quantity == HALF_ROUND_TRIP)


@lru_cache(maxsize=16)  # every model of a run is judged on the same ones
def measured_points(measured: MeasuredSeries, quantity: str) -> MeasuredPoints:
    """The points of one quantity, `half_round_trip` (full round trips) or `train`: mean over the records."""
    records: dict[tuple[int, int], list[float]] = {}
    for index, series in enumerate(measured.series):
        if _is_point(series, quantity):
            key = (series.message_bytes, series.train)
            records.setdefault(key, []).append(float(measured.at.value[index]))
    keys = sorted(records)
    sizes = np.array([size for size, _ in keys], dtype=np.int64)
    trains = np.array([train for _, train in keys], dtype=np.int64)
    seconds = np.array([float(np.median(records[key])) for key in keys])
    return MeasuredPoints(Points("prtt", sizes, trains, np.zeros(sizes.size)), seconds)


def relative_errors(
    predict: Predictor, measured: MeasuredPoints
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """|predicted - measured|/measured and |ln(predicted/measured)| where there is a positive prediction."""
    if measured.seconds.size == 0:
        return np.empty(0), np.empty(0)
    predicted = predict(measured.points)
    valid = np.isfinite(predicted) & (predicted > 0) & (measured.seconds > 0)
    ratio = predicted[valid] / measured.seconds[valid]
    return np.abs(ratio - 1.0), np.abs(np.log(ratio))


def log_misses(predict: Predictor, measured: MeasuredPoints) -> NDArray[np.float64]:
    """|ln(predicted/measured)| of each point, shape (points,); NaN where there is no positive prediction."""
    if measured.seconds.size == 0:
        return np.empty(0)
    predicted = predict(measured.points)
    misses = np.full(predicted.shape, np.nan)
    valid = np.isfinite(predicted) & (predicted > 0) & (measured.seconds > 0)
    misses[valid] = np.abs(np.log(predicted[valid] / measured.seconds[valid]))
    return misses


def fit_error(
    measured: MeasuredSeries,
    predict: Predictor,
    quantities: Sequence[str],
    last_bytes: int | None = None,
) -> FitError:
    """The error over the points of several quantities, up to `last_bytes` where the fit ends there."""
    relative: list[NDArray[np.float64]] = []
    logarithmic: list[NDArray[np.float64]] = []
    for quantity in quantities:
        observed = measured_points(measured, quantity)
        if last_bytes is not None:
            inside = observed.points.message_bytes <= last_bytes
            observed = MeasuredPoints(observed.points.subset(inside), observed.seconds[inside])
        errors = relative_errors(predict, observed)
        relative.append(errors[0])
        logarithmic.append(errors[1])
    return summarise(np.concatenate(relative), np.concatenate(logarithmic))


def predictor(fit: Fit) -> Predictor:
    """A fit as a function of points; NaN where a segment lacks a parameter that the pattern needs.

    It takes the fit's model, segments, draws and what its curves measured; errors may be put into it afterwards.
    """
    model = load_model(fit.model)
    pieces = pieces_of(fit)

    def predict(asked: Points) -> NDArray[np.float64]:
        seconds = np.full(asked.message_bytes.shape, np.nan)
        index = piece_index(asked.message_bytes, pieces)
        for number, piece in enumerate(pieces):
            chosen = index == number
            with suppress(KeyError):
                seconds[chosen] = model.seconds(asked.subset(chosen), piece.theta)
        return seconds

    return predict


def measured_curve(quantity: Quantity) -> Curve:
    """A measured quantity with its intervals (NaN where there is none), for a prediction to be put beside it."""
    low, high = value_intervals(quantity)
    unknown = np.full(quantity.value.shape, np.nan)
    return Curve(quantity.name, quantity.message_bytes, quantity.value, low, high, unknown)


def predicted_quantity(
    predict: Predictor, name: str, message_bytes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What a fitted model says of a quantity by name, in seconds, shape of `message_bytes`.

    The gap is what one more message adds to a train: the larger of gap and overheads. Of an exchange and of an incast
    no model says anything: NaN everywhere.
    """
    if name in (EXCHANGE, INCAST):
        return np.full(message_bytes.shape, np.nan)
    if name == "o_s":
        return predict(points("send_overhead", message_bytes))
    if name == "o_r":
        return predict(points("receive_overhead", message_bytes))
    single = predict(points("prtt", message_bytes))
    if name == HALF_ROUND_TRIP:
        return single / 2.0
    return predict(points("prtt", message_bytes, train=2)) - single


def has_tables(model: Model) -> bool:
    """Is a parameter of the model a table?"""
    return any(parameter.table is not None for parameter in model.parameters)


def entries_of(model: Model, curves: Iterable[Curve]) -> Theta:
    """The entries of the model's tables, in seconds: what the curves of a fit measured."""
    measured = {curve.quantity: curve for curve in curves}
    theta: dict[str, float] = {}
    for parameter in model.parameters:
        if parameter.table in measured:
            table = measured[parameter.table]
            for size, seconds in zip(table.message_bytes, table.measured_seconds, strict=True):
                theta[entry(parameter.symbol, int(size))] = max(0.0, float(seconds))
    return theta


def count_numbers(model: Model, curves: Iterable[Curve]) -> int:
    """How many numbers a fit with tables consists of."""
    tables = {parameter.table for parameter in model.parameters}
    entries = sum(curve.message_bytes.size for curve in curves if curve.quantity in tables)
    return entries + sum(parameter.table is None for parameter in model.parameters)
