"""The plot of a fit: measured points, the model's lines and their bands on matplotlib's axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.api.predicted import Predicted, predict_of
from chiplog.errors import UsageError
from chiplog.fitting.result import Curve, Fit
from chiplog.models.protocol import sends_of
from chiplog.prediction.patterns import CURVES, POSTS, ROUND_TRIPS
from chiplog.report.format import message_size
from chiplog.report.names import model_name

POINTS_BETWEEN = 16
"""Given: points of a line in an octave of sizes, so that bends show."""
BAND_ALPHA = 0.2
"""Given: how much of what is below a band it covers."""


@dataclass(frozen=True)
class FittedLine:
    """One measured series with the model's prediction; x is the size, or the number of peers."""

    label: str
    x: NDArray[np.int64]
    measured_seconds: NDArray[np.float64]
    line_x: NDArray[np.int64]
    predicted: Predicted
    divisor: NDArray[np.float64] | float = 1.0
    """What the predicted seconds are divided by."""


@dataclass(frozen=True)
class FittedLines:
    """All lines of a fit, and what the axes are about."""

    name: str
    lines: tuple[FittedLine, ...]
    x_label: str
    y_label: str
    over_sizes: bool


def fitted_lines(fit: Fit) -> FittedLines:
    """What the plot of a fit shows; UsageError where nothing was measured that the model predicts."""
    for pattern, label in ((ROUND_TRIPS, "round trip per peer (s)"), (POSTS, "o_s(p) (s)")):
        curves = [curve for curve in fit.curves if curve.quantity == CURVES[pattern]]
        if curves:
            lines = tuple(_over_peers(fit, curve, pattern) for curve in curves)
            return FittedLines(model_name(fit.model), lines, "peers p", label, over_sizes=False)
    pairs = [(curve, curve.pairs) for curve in fit.curves if curve.pairs is not None]
    halves = [
        (curve, None)
        for curve in fit.curves
        if curve.quantity == "half_round_trip" and curve.message_bytes.size
    ][:1]
    if not pairs and not halves:
        raise UsageError("no half round trip was measured.")
    lines = tuple(_over_sizes(fit, curve, k) for curve, k in pairs or halves)
    return FittedLines(
        model_name(fit.model), lines, "message size (B)", "half round trip (s)", over_sizes=True
    )


def draw(found: FittedLines, axes: Any) -> Any:
    """Draws the lines on matplotlib's axes and returns these."""
    for line, colour in zip(found.lines, _colours(len(found.lines)), strict=True):
        suffix = f", {line.label}" if len(found.lines) > 1 else ""
        axes.plot(line.x, line.measured_seconds, "o", color=colour, label=f"measured{suffix}")
        seconds, low, high = (
            values / line.divisor
            for values in (
                line.predicted.seconds,
                line.predicted.low_seconds,
                line.predicted.high_seconds,
            )
        )
        model_colour = colour if len(found.lines) > 1 else "C1"
        axes.plot(line.line_x, seconds, color=model_colour, label=f"{found.name}{suffix}")
        axes.fill_between(line.line_x, low, high, color=model_colour, alpha=BAND_ALPHA)
    axes.set(xlabel=found.x_label, ylabel=found.y_label)
    if found.over_sizes:
        axes.set(xscale="log", yscale="log")
    axes.legend()
    return axes


def _colours(count: int) -> Iterator[str]:
    return (f"C{number % 10}" for number in range(count))


def _over_peers(fit: Fit, curve: Curve, pattern: str) -> FittedLine:
    assert curve.peers is not None
    size = int(curve.message_bytes[0])
    line_x = np.arange(curve.peers.min(), curve.peers.max() + 1)
    quantity = "round_trip" if pattern == ROUND_TRIPS else "o_s"
    predicted = predict_of(fit, size, line_x, None, quantity)
    if pattern == POSTS:
        return FittedLine(
            message_size(size), curve.peers, curve.measured_seconds, line_x, predicted
        )
    per_peer = curve.measured_seconds / sends_of(1, curve.peers)
    return FittedLine(
        message_size(size), curve.peers, per_peer, line_x, predicted, line_x.astype(np.float64)
    )


def _over_sizes(fit: Fit, curve: Curve, pairs: int | None) -> FittedLine:
    if pairs is None:
        line_x = curve.message_bytes
        predicted = predict_of(fit, line_x, None, None, None)
        return FittedLine("", line_x, curve.measured_seconds, line_x, predicted)
    first, last = max(int(curve.message_bytes.min()), 1), max(int(curve.message_bytes.max()), 1)
    count = int(POINTS_BETWEEN * np.log2(last / first)) + 2
    between = np.geomspace(first, last, count).astype(np.int64)
    line_x = np.unique(np.concatenate((curve.message_bytes, between)))
    predicted = predict_of(fit, line_x, None, pairs, None)
    return FittedLine(
        f"k = {pairs}", curve.message_bytes, curve.measured_seconds, line_x, predicted
    )
