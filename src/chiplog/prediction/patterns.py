"""Predictions of measured patterns over peers and pairs: RTT(p), the time to post p sends, half round trips of k pairs.

A time has a 95 % interval for the next median that would be measured there: what the data leave of the parameters,
and by how much the fitted curve misses what it was fitted to, corrected for the number of fitted parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats takes a second to load

from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.predictions.known import Array, refusal
from chiplog.fitting.predictions.ranges import Ranges, rows_of
from chiplog.fitting.predictions.regime import Regime, is_of_logp_family
from chiplog.fitting.predictions.settings import REFUSED
from chiplog.fitting.predictions.span import AnswerSpan, Evaluate, span
from chiplog.fitting.result import Curve, Fit, Segment
from chiplog.models.protocol import Points, Theta
from chiplog.models.registry import load_model
from chiplog.prediction.max_rate import MaxRateSpeaker
from chiplog.prediction.network import is_beyond_sizes, segment_of

ROUND_TRIPS, POSTS, PAIRS = "one_to_many", "send_overhead", "pairs"
CURVES = {
    ROUND_TRIPS: "round_trip_over_peers",
    POSTS: "o_s_over_peers",
}
"""The curve of each pattern over peers; those of pairs know their number."""
UPPER_TAIL = 0.975
"""Derived: of a 95 % interval."""


@dataclass(frozen=True)
class PatternTimes:
    """Times in seconds with a 95 % interval, and which of them nothing was measured for; all of shape (points,).

    Of one process to many, RTT(p) is the whole round trip and a post time that of one of p sends; of k pairs a time is
    half a round trip. The ends of the interval are NaN where too few points were fitted to tell.
    """

    seconds: Array
    low_seconds: Array
    high_seconds: Array
    extrapolated: NDArray[np.bool_]


@dataclass(frozen=True)
class MeasuredResiduals:
    """What the curves of a fit show of one pattern, shape (points,): sizes, peers or pairs, and ln(measured/model)."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    residuals: Array


def pattern_times(fit: Fit, asked: Points) -> PatternTimes:
    """The times of the points of one of the patterns one_to_many, send_overhead and pairs.

    A size between two that have a fit each gets the values between these. Raises UsageError where nothing bounds a
    parameter that an answer needs.
    """
    measured = measured_residuals(fit, asked.pattern)
    extrapolated = _is_extrapolated(fit, asked, measured)
    times = np.full((3, asked.message_bytes.size), np.nan)
    for size in np.unique(asked.message_bytes).tolist():
        chosen = asked.message_bytes == size
        times[:, chosen] = _at_size(fit, asked.subset(chosen), measured, extrapolated[chosen])
    return PatternTimes(times[0], times[1], times[2], extrapolated)


def _at_size(
    fit: Fit, asked: Points, measured: MeasuredResiduals, extrapolated: NDArray[np.bool_]
) -> Array:
    """Value and interval of points of one size, shape (3, points)."""
    times = np.zeros((3, asked.message_bytes.size))
    for place in places(fit, int(asked.message_bytes[0]), interpolates=asked.pattern != PAIRS):
        moved = _moved_to(asked, place.message_bytes)
        times += place.share * _in_segment(fit, place.segment, moved, measured, extrapolated)
    return times


@dataclass(frozen=True)
class SegmentPlace:
    """A segment and a size at which it is asked; the shares of all places of one size add up to 1."""

    segment: int
    message_bytes: int
    share: float


def places(fit: Fit, message_bytes: int, *, interpolates: bool) -> tuple[SegmentPlace, ...]:
    """The segment of a size; between two of them both, at the sizes where they end, where the fit `interpolates`."""
    segment = segment_of(fit, message_bytes)
    if message_bytes <= fit.segments[segment].last_bytes or segment + 1 == len(fit.segments):
        return (SegmentPlace(segment, message_bytes, 1.0),)
    if not interpolates:
        return (SegmentPlace(_nearer(fit, segment, message_bytes), message_bytes, 1.0),)
    first, last = fit.segments[segment].last_bytes, fit.segments[segment + 1].first_bytes
    share = (message_bytes - first) / (last - first)
    return SegmentPlace(segment, first, 1.0 - share), SegmentPlace(segment + 1, last, share)


def _nearer(fit: Fit, segment: int, size: int) -> int:
    """The segment before or after a gap between measured sizes: a protocol's border is unknown within the gap."""
    following = fit.segments[segment + 1]
    if following.border == "protocol":
        return segment
    return segment + int(
        size > np.sqrt(float(fit.segments[segment].last_bytes) * following.first_bytes)
    )


def _moved_to(asked: Points, message_bytes: int) -> Points:
    sizes = np.full_like(asked.message_bytes, message_bytes)
    return Points(asked.pattern, sizes, asked.train, asked.delay_seconds, asked.pairs, asked.peers)


def _in_segment(
    fit: Fit,
    segment: int,
    asked: Points,
    measured: MeasuredResiduals,
    extrapolated: NDArray[np.bool_],
) -> Array:
    """Value and interval under one segment's parameters, shape (3, points)."""
    if np.any(extrapolated):
        refuse_unbounded(fit, segment)
    return widened(_parameter_span(fit, segment, asked), misfit(fit.segments[segment], measured))


def refuse_unbounded(fit: Fit, segment: int) -> None:
    """Raises UsageError for a curve over peers that lacks what it needs beyond the measured numbers of peers."""
    model = load_model(fit.model)
    if PAIRS in model.patterns or is_of_logp_family(model):
        return
    parameters = fit.segments[segment].parameters
    for spec in model.parameters:
        draws = fit.draws.get(f"{segment}/{spec.symbol}", np.empty(0))
        known = spec.symbol in parameters and parameters[spec.symbol].value is not None
        if spec.needed and not known and not np.any(np.isfinite(draws)):
            raise refusal(fit, segment, spec.symbol)


def _parameter_span(fit: Fit, segment: int, asked: Points) -> Array:
    """The middle, the least and the largest answer over what the data leave of the parameters, shape (3, points)."""
    model = load_model(fit.model)
    sets = parameter_sets(fit, segment)
    free = sets.free
    per = _per_answer(asked)

    def evaluate(place: int | slice) -> Evaluate:
        """The answers at a point (or at all) over fractions: shape (fractions, rows), for all a last axis more."""
        chosen = np.zeros(asked.message_bytes.shape, dtype=np.bool_)
        chosen[place] = True
        some, divisor = asked.subset(chosen), per[chosen]

        def answers(fractions: Array, whole: bool) -> Array:
            rows = [
                _seconds(model.seconds, some, row) / divisor for row in sets.at(fractions, whole)
            ]
            table = np.reshape(rows, (len(fractions), -1, divisor.size))
            return table[..., 0] if isinstance(place, int) else table

        return answers

    if free:
        spans = [span(evaluate(place), len(free)) for place in range(per.size)]
    else:
        table = evaluate(slice(None))(np.zeros((1, 0)), True)[0]
        spans = [_of_draws(column) for column in table.T]
    if not all(answer.high < REFUSED for answer in spans):
        lacking = next((symbol for symbol in free), "L")
        raise refusal(fit, segment, lacking)
    return np.array([(answer.value, answer.low, answer.high) for answer in spans]).T


def _of_draws(values: Array) -> AnswerSpan:
    """The value, first of `values`, with the interval of its draws."""
    low, high = interval(values[1:])
    return AnswerSpan(float(values[0]), low, high)


def _seconds(formula: Callable[[Points, Theta], Array], points: Points, row: Theta) -> Array:
    """The formula's seconds; NaN where the data leave a parameter that it needs open."""
    try:
        return formula(points, row)
    except KeyError:
        return np.full(points.message_bytes.shape, np.nan)


def _per_answer(asked: Points) -> Array:
    """What a pattern's whole operation is divided by: posts by their number, pairs' round trips by two."""
    if asked.pattern == POSTS:
        return asked.sends.astype(np.float64)
    return np.full(asked.message_bytes.shape, 2.0 if asked.pattern == PAIRS else 1.0)


@dataclass(frozen=True)
class ParameterSets:
    """The parameter sets that the data leave of one segment: `at(fractions, whole)` lists them."""

    free: list[str]
    at: Callable[[Array, bool], list[dict[str, float]]]


def parameter_sets(fit: Fit, segment: int) -> ParameterSets:
    """The parameter sets of a segment, and which of its parameters lie in ranges of their own."""
    model = load_model(fit.model)
    known: Ranges | Regime
    if is_of_logp_family(model):
        known = Regime(fit, segment)
    elif PAIRS in model.patterns:
        known = MaxRateSpeaker(fit).ranges_of(segment)
    else:
        known = Ranges(fit, segment)
    return ParameterSets(
        known.free, lambda fractions, whole: list(rows_of(known.at(fractions, whole=whole)))
    )


def measured_residuals(fit: Fit, pattern: str) -> MeasuredResiduals:
    """Where the fit's curves have points of a pattern, and by how much the model misses them."""
    counted = ((curve, _counts(curve, pattern)) for curve in fit.curves)
    parts = [
        (curve.message_bytes, counts, _residuals(curve))
        for curve, counts in counted
        if counts is not None
    ]
    if not parts:
        return MeasuredResiduals(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return MeasuredResiduals(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _counts(curve: Curve, pattern: str) -> NDArray[np.int64] | None:
    """The numbers of peers or pairs of each point; None for a curve of another pattern."""
    if pattern == PAIRS:
        if curve.pairs is None:
            return None
        return np.full(curve.message_bytes.shape, curve.pairs, np.int64)
    return curve.peers if curve.quantity == CURVES[pattern] else None


def _residuals(curve: Curve) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(curve.measured_seconds / curve.predicted_seconds))


def widened(spans: Array, width: float) -> Array:
    """Values with intervals, shape (3, points), whose ends get a `width`, a logarithm, beside what they have."""
    value, low, high = spans[0], np.maximum(spans[1], 0.0), spans[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.hypot(np.log(value / np.minimum(low, value)), width)
        above = np.hypot(np.log(np.maximum(high, value) / value), width)
    return np.stack([value, value * np.exp(-below), value * np.exp(above)])


def misfit(segment: Segment, measured: MeasuredResiduals) -> float:
    """By how much the next median may miss the curve of a segment, as a logarithm; NaN from too few points."""
    inside = (measured.sizes >= segment.first_bytes) & (measured.sizes <= segment.last_bytes)
    residuals = measured.residuals[inside]
    residuals = residuals[np.isfinite(residuals)]
    fitted = sum(parameter.value is not None for parameter in segment.parameters.values())
    spare = residuals.size - fitted
    if spare < 1:
        return np.nan
    deviation = float(np.sqrt(np.sum(residuals**2) / spare))
    return float(stdtrit(spare, UPPER_TAIL) * deviation * np.sqrt(1.0 + 1.0 / residuals.size))


def _is_extrapolated(fit: Fit, asked: Points, measured: MeasuredResiduals) -> NDArray[np.bool_]:
    """Sizes and numbers of peers or pairs outside of the measured ones; 0 and 1 B count as the smallest size."""
    counts = asked.pairs if asked.pattern == PAIRS else asked.sends
    sizes = asked.message_bytes
    outside = is_beyond_sizes(fit, sizes)
    if asked.pattern != PAIRS:
        inside = [
            (sizes >= segment.first_bytes) & (sizes <= segment.last_bytes)
            for segment in fit.segments
        ]
        outside |= ~np.any(inside, axis=0)
    if measured.counts.size:
        outside |= (counts < measured.counts.min()) | (counts > measured.counts.max())
    return np.asarray(outside)
