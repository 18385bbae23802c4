"""By how much a model misses what it was fitted to, and what other states make of it: parts of every interval.

The parameters' own intervals say what the data leave of a line, not whether times follow a line. So the ends of an
interval also get the width that covers 95 % of the errors: the prediction band at the sizes of the messages, which
held-out errors made; of a fit without bands, the residuals of its curves.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.predictor import TRAIN
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import REPLICATES
from chiplog.prediction.network import segment_of
from chiplog.statistics import CONFIDENCE, NORMAL_975

JUDGED = ("half_round_trip", "round_trip_over_peers")
"""The quantities whose residuals tell a model's error, beside those of k pairs."""


def model_error(fit: Fit, sizes: Iterable[int], *, has_trains: bool = True) -> float:
    """The natural logarithm of the factor within which 95 % of the times lie of messages of `sizes` bytes.

    That of messages alone unless `has_trains`, where the fit knows both. 0 where the fit says nothing about it.
    """
    asked = np.array(sorted(sizes) or [1], dtype=np.int64)
    bands = [band for band in fit.bands if has_trains or band.quantity != TRAIN]
    widths = [float(band.at(asked).max()) for band in bands]
    if widths:
        return math.log1p(max(widths))
    return max(_residual(fit), _known_factor(fit))


def drawn_errors(fit: Fit, sizes: Iterable[int]) -> Array:
    """By what each draw multiplies the messages of a regime, shape (segments, 1 + REPLICATES); 1 in the first column.

    The model misses all messages of a regime alike, and those of each regime by a factor of its own.
    """
    by_segment: dict[int, list[int]] = defaultdict(list)
    for size in sizes:
        by_segment[segment_of(fit, size)].append(size)
    errors = np.ones((len(fit.segments), 1 + REPLICATES))
    for segment, segment_sizes in by_segment.items():
        z = (
            np.random.default_rng([segment, len(fit.segments)]).standard_normal(REPLICATES)
            / NORMAL_975
        )
        errors[segment, 1:] = np.exp(z * model_error(fit, segment_sizes))
    return errors


def with_model_error(span: AnswerSpan, width: float) -> AnswerSpan:
    """The span, whose ends get a `width`, a logarithm, in quadrature with what the parameters leave."""
    if not (width > 0.0 and span.value > 0.0):
        return span
    low = max(span.low, 0.0)
    below = math.inf if low == 0.0 else math.hypot(math.log(span.value / low), width)
    above = math.hypot(math.log(max(span.high, span.value) / span.value), width)
    return AnswerSpan(span.value, span.value * math.exp(-below), span.value * math.exp(above))


def with_states(span: AnswerSpan, fit: Fit) -> AnswerSpan:
    """The span, and that of each other state of the machine: nothing tells which one it will be in."""
    factors = [1.0, *(1.0 + share for share in fit.other_states)]
    return AnswerSpan(span.value, min(factors) * span.low, max(factors) * span.high)


def states_sentence(fit: Fit) -> str | None:
    """What a reader of predictions should know of other states; None where there was one."""
    if not fit.other_states:
        return None
    count, others = "two", "another"
    if len(fit.other_states) > 1:
        count, others = str(1 + len(fit.other_states)), "others"
    shares = " and ".join(_longer_or_shorter(share) for share in fit.other_states)
    return (
        f"{count} states: while it was measured, the machine was at times in {others}, in which "
        f"times are {shares}; intervals hold them all, as nothing tells which one comes."
    )


def _longer_or_shorter(share: float) -> str:
    """`12 % longer`; to one digit where it is less than a percent."""
    return f"{100.0 * abs(share):.{0 if abs(share) >= 0.01 else 1}f} % {'longer' if share > 0 else 'shorter'}"


def _residual(fit: Fit) -> float:
    """The residual that 95 % of those of its curves do not exceed, as a logarithm."""
    parts = [
        np.abs(np.log(curve.predicted_seconds / curve.measured_seconds))
        for curve in fit.curves
        if (curve.quantity in JUDGED or curve.pairs is not None)
        and np.all(curve.predicted_seconds > 0.0)
        and np.all(curve.measured_seconds > 0.0)
    ]
    known = np.sort(np.concatenate(parts)) if parts else np.empty(0)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0
    rank = min(math.ceil(CONFIDENCE * (known.size + 1)), known.size)
    return float(known[rank - 1])


def _known_factor(fit: Fit) -> float:
    """The mean error that the fit states, for files without curves."""
    factor = fit.error.mean_factor
    return math.log(factor) if fit.error.points and math.isfinite(factor) and factor > 1.0 else 0.0
