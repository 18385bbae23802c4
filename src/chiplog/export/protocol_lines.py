"""Straight lines over size for each protocol of a fit: what the simulators' piecewise parameters are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import UsageError
from chiplog.fit.result import Curve, Fit, Segment

NEGLIGIBLE = 1e-9
"""A growth below this share of a line's constant is the rounding of the solver."""

LOGGP_MODELS = ("loggps", "loggp")


@dataclass(frozen=True)
class Line:
    """`seconds + seconds_per_byte * s`; neither is negative."""

    seconds: float
    seconds_per_byte: float

    def at(self, message_bytes: float) -> float:
        """Seconds at a size."""
        return self.seconds + self.seconds_per_byte * message_bytes

    def minus(self, other: Line) -> Line:
        """The difference, cut at zero."""
        return Line(
            max(0.0, self.seconds - other.seconds),
            max(0.0, self.seconds_per_byte - other.seconds_per_byte),
        )


ZERO = Line(0.0, 0.0)


@dataclass(frozen=True)
class ProtocolLines:
    """One protocol: the sizes it holds for, and its times over them."""

    first_bytes: int
    last_bytes: int
    half_round_trip: Line
    o_s: Line
    o_r: Line

    @property
    def network(self) -> Line:
        """What of a message's way is spent in neither processor."""
        return self.half_round_trip.minus(self.o_s).minus(self.o_r)


def fit_to_use(fits: Iterable[Fit], models: tuple[str, ...], purpose: str) -> Fit:
    """The fit of the first of `models` that is there, by the method prtt if several are.

    Raises UsageError that names the models that serve.
    """
    found = [fit for fit in fits if fit.model in models and fit.segments]
    if not found:
        raise UsageError(
            f"{purpose} needs a fit of {' or '.join(models)}; the model file holds none."
        )
    return min(found, key=lambda fit: (models.index(fit.model), fit.method != "prtt"))


def protocol_lines(fit: Fit) -> tuple[ProtocolLines, ...]:
    """The lines of each segment: through the measured medians where there are two of them, else the parameters'."""
    curves = {curve.quantity: curve for curve in fit.curves}
    return tuple(
        ProtocolLines(
            segment.first_bytes,
            segment.last_bytes,
            _line(curves.get("half_round_trip"), segment, _half_of_parameters),
            _line(curves.get("o_s"), segment, lambda s: Line(value(s, "o_s"), 0.0)),
            _line(curves.get("o_r"), segment, lambda s: Line(value(s, "o_r"), 0.0)),
        )
        for segment in fit.segments
    )


def eager_limit_bytes(fit: Fit, lines: Sequence[ProtocolLines]) -> int | None:
    """The largest size whose send does not wait for its receive: S, if it was measured; None where there is none.

    Else it ends before the first protocol in whose middle the send takes half of the message's way or more, or before
    the last protocol; a fit with one protocol has none.
    """
    limit = value(fit.segments[0], "S")
    if limit > 0:
        return int(limit)
    if len(lines) == 1:
        return None
    waiting = next(
        (index for index in range(1, len(lines)) if _waits(lines[index])), len(lines) - 1
    )
    return lines[waiting - 1].last_bytes


def _waits(lines: ProtocolLines) -> bool:
    middle = math.sqrt(max(1, lines.first_bytes) * lines.last_bytes)
    return lines.o_s.at(middle) >= lines.half_round_trip.at(middle) / 2


def value(segment: Segment, symbol: str) -> float:
    """A parameter's value; 0 where the segment has none or could not identify it."""
    parameter = segment.parameters.get(symbol)
    return 0.0 if parameter is None or parameter.value is None else parameter.value


def _half_of_parameters(segment: Segment) -> Line:
    if "alpha" in segment.parameters:
        rate = value(segment, "R")
        return Line(value(segment, "alpha"), 1.0 / rate if rate > 0 else 0.0)
    per_byte = value(segment, "G")
    constant = value(segment, "L") + value(segment, "o_s") + value(segment, "o_r") - per_byte
    return Line(max(0.0, constant), per_byte)


def _line(curve: Curve | None, segment: Segment, of_parameters: Callable[[Segment], Line]) -> Line:
    if curve is not None:
        inside = (curve.message_bytes >= segment.first_bytes) & (
            curve.message_bytes <= segment.last_bytes
        )
        inside &= np.isfinite(curve.measured_seconds) & (curve.measured_seconds > 0)
        sizes, seconds = curve.message_bytes[inside], curve.measured_seconds[inside]
        if np.unique(sizes).size >= 2:
            return _relative_least_squares(sizes.astype(np.float64), seconds)
    return of_parameters(segment)


def _relative_least_squares(sizes: NDArray[np.float64], seconds: NDArray[np.float64]) -> Line:
    """The line with the least sum of squared relative residuals, constrained to be nowhere negative."""
    from scipy.optimize import (
        nnls,  # its import takes longer than a prediction, which seldom needs a line
    )

    scale = float(sizes.max())
    design = np.column_stack((1.0 / seconds, sizes / scale / seconds))
    norms = np.linalg.norm(design, axis=0)
    solution = nnls(design / norms, np.ones(sizes.size))[0] / norms
    constant, growth = float(solution[0]), float(solution[1])
    return Line(constant, growth / scale if growth > NEGLIGIBLE * constant else 0.0)
