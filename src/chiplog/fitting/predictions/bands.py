"""Prediction intervals: where the next measured median of a size lies, 19 times of 20.

A size that was held out is missed by what its line misses sizes by, what its median scatters by, and what the line
itself is off by: all that is in the errors of held-out sizes. So the width at a size is the median error of the sizes
about it, times the factor that covers 95 % of all held-out errors (split conformal prediction, with errors scaled by
size).

Source: J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman, "Distribution-free predictive inference for
regression", JASA 113 (2018), sections 2.2 and 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.predictions.predictor import HALF_ROUND_TRIP, TRAIN, Predictor
from chiplog.fitting.predictions.settings import ABOUT_OCTAVES, FEWEST_HELD_OUT, LEAST_WIDTH
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import Regimes
from chiplog.fitting.regimes.partition import GAP, HALF, RECEIVE, SEND
from chiplog.fitting.result import Band
from chiplog.models.protocol import points
from chiplog.plan.patterns.pattern import train_length
from chiplog.statistics import CONFIDENCE

Floats = NDArray[np.float64]


def bands(
    regimes: Mapping[str, Regimes], gap: Quantity | None, predict: Predictor, last_bytes: int
) -> tuple[Band, ...]:
    """The bands of half round trips and trains; none of a quantity with fewer than `FEWEST_HELD_OUT` held-out sizes.

    `gap` is the gap at all sizes, None for a model without trains; `predict` the fitted model. What it says of a size
    that is held out is taken to differ from what it says now as the regime's own line does.
    """
    half = regimes.get(HALF)
    if half is None or half.held_out_seconds is None:
        return ()
    predicted = predict(points("prtt", half.sizes)) / 2.0
    error = _missed(half.seconds, predicted + _moved(half, half.sizes))
    all_bands = [_band(HALF_ROUND_TRIP, half.sizes, error, last_bytes)]
    if gap is not None and gap.value.size:
        both = np.isin(gap.message_bytes, half.sizes)
        sizes = gap.message_bytes[both]
        trains = np.array([train_length(int(size)) for size in sizes])
        steps = trains - 1
        measured = half.seconds[np.searchsorted(half.sizes, sizes)]
        train = 2.0 * measured + steps * gap.value[both]
        shift = 2.0 * _moved(half, sizes) + steps * _moved_step(regimes, sizes)
        predicted = predict(points("prtt", sizes, train=trains))
        all_bands.append(_band(TRAIN, sizes, _missed(train, predicted + shift), last_bytes))
    return tuple(band for band in all_bands if band is not None)


def _missed(measured: Floats, predicted: Floats) -> Floats:
    """By which share of the prediction, about which the band lies, each measurement is off; infinite where it is 0."""
    share = np.full(measured.shape, np.inf)
    np.divide(measured - predicted, predicted, out=share, where=predicted > 0.0)
    return share


def _moved_step(regimes: Mapping[str, Regimes], sizes: NDArray[np.int64]) -> Floats:
    """By how much a train's step changes when a size is held out: that of the gap, or of what hides it there."""
    moved = np.zeros(sizes.size)
    for name in (RECEIVE, SEND, GAP):
        if name in regimes and regimes[name].held_out_seconds is not None:
            known = np.isin(sizes, regimes[name].sizes)
            moved[known] = _moved(regimes[name], sizes[known])
    return moved


def _moved(regimes: Regimes, sizes: NDArray[np.int64]) -> Floats:
    """By how much the line at each of `sizes`, all of them its own, changes when the size is held out, in seconds."""
    assert regimes.held_out_seconds is not None
    place = np.searchsorted(regimes.sizes, sizes)
    now = regimes.lines.at(np.maximum(sizes.astype(np.float64), 0.5))
    return np.asarray(regimes.held_out_seconds[place] - now)


def _band(quantity: str, sizes: NDArray[np.int64], error: Floats, last_bytes: int) -> Band | None:
    kept = np.isfinite(error) & (sizes <= last_bytes)
    sizes, size_error = sizes[kept], np.abs(error[kept])
    if sizes.size < FEWEST_HELD_OUT:
        return None
    octave = np.log2(np.maximum(sizes, 1))
    about = np.abs(octave[:, None] - octave) <= ABOUT_OCTAVES
    np.fill_diagonal(about, False)
    floor = max(LEAST_WIDTH, 0.5 * float(np.median(size_error)))
    local = np.array(
        [max(floor, float(np.median(size_error[near]))) if near.any() else floor for near in about]
    )
    rank = min(math.ceil(CONFIDENCE * (sizes.size + 1)), sizes.size)
    factor = float(np.sort(size_error / local)[rank - 1])
    return Band(quantity, sizes, np.maximum(factor * local, LEAST_WIDTH))
