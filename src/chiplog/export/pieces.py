"""A fit as others take it: for ranges of sizes, lines that give back what was measured.

A regime's lines go through many sizes and miss some. Whoever takes the fit along wants the times of the machine, so
where half a round trip or a train of ten is off by more than HOLDS, the range around that size is a piece of its own,
whose lines are the regime's, made longer or shorter by what they miss there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from chiplog.fitting.predictions.regime import Regime, curve_of
from chiplog.fitting.result import Fit

HOLDS = 0.05
"""Given: the share by which a half round trip, and a train of TRAIN messages, may be off at a measured size."""
CORRECTED = 0.04
"""Given: beyond it a piece is corrected, so that what others round or simplify has room below HOLDS."""
TRAIN = 10
"""Given: messages of the train that is checked, PRTT(10)."""

STEP = ("o_s", "O_s", "g", "G")
"""What a message adds to a train is made of these, and of o_r and O_r where trains tell of the receiver."""
WAY = ("L_half", "G_half")


@dataclass(frozen=True)
class ExportPiece:
    """A range of sizes, and the parameters that hold in it, in seconds and seconds per byte, as of `Regime`."""

    first_bytes: int
    last_bytes: int
    values: Mapping[str, float]
    receiver_keeps_up: bool
    is_corrected: bool = False
    """Was the regime off at the one measured size in the range?"""

    def one_way(self, message_bytes: float) -> float:
        """T(s) in seconds."""
        return self._line("L_half", "G_half", message_bytes)

    def step(self, message_bytes: float) -> float:
        """What one more message adds to a train, in seconds."""
        lines = [self._line("o_s", "O_s", message_bytes), self._line("g", "G", message_bytes)]
        if not self.receiver_keeps_up:
            lines.append(self._line("o_r", "O_r", message_bytes))
        return max(lines)

    def _line(self, start: str, slope: str, message_bytes: float) -> float:
        return self.values[start] + max(message_bytes - 1, 0) * self.values[slope]


@dataclass(frozen=True)
class MeasuredSize:
    """What was measured at one size: half a round trip and, where there were trains, a train's step; seconds."""

    message_bytes: int
    half_round_trip: float
    step: float | None

    @property
    def train(self) -> float | None:
        """PRTT(10) in seconds."""
        return None if self.step is None else prtt(self.half_round_trip, self.step)


def prtt(half_round_trip: float, step: float) -> float:
    """2 T + (n-1) step in seconds, of a train of TRAIN messages."""
    return 2.0 * half_round_trip + (TRAIN - 1) * step


def measured_sizes(fit: Fit) -> tuple[MeasuredSize, ...]:
    """The medians that the fit holds, by size; none of a fit without curves."""
    half, gap = _table(fit, "half_round_trip"), _table(fit, "gap")
    first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    return tuple(
        MeasuredSize(size, seconds, gap.get(size))
        for size, seconds in half.items()
        if first <= size <= last
    )


def _table(fit: Fit, quantity: str) -> dict[int, float]:
    curve = curve_of(fit, quantity)
    if curve is None:
        return {}
    rows = zip(curve.message_bytes.tolist(), curve.measured_seconds.tolist(), strict=True)
    return {size: seconds for size, seconds in rows if math.isfinite(seconds) and seconds > 0}


def middle_of(regime: Regime) -> dict[str, float]:
    """The parameters in the middle of a regime's set, in seconds and seconds per byte."""
    vectors = regime.at(np.full((1, len(regime.free)), 0.5))
    return {name: float(vector[0]) for name, vector in vectors.items()}


class _Ranged(Protocol):
    @property
    def last_bytes(self) -> int: ...


Ranged = TypeVar("Ranged", bound=_Ranged)


def at_size(ranges: Sequence[Ranged], message_bytes: int) -> Ranged:
    """The one of ascending ranges that a size is in; the last one holds for larger sizes, too."""
    return next((each for each in ranges if message_bytes <= each.last_bytes), ranges[-1])


def pieces_of(fit: Fit, regimes: Sequence[Regime]) -> tuple[ExportPiece, ...]:
    """The pieces of all regimes, ascending, in the middle of each one's set."""
    pieces: list[ExportPiece] = []
    measured = measured_sizes(fit)
    for regime in regimes:
        first, last = regime.first_bytes, regime.last_bytes
        piece = ExportPiece(first, last, middle_of(regime), regime.receiver_keeps_up)
        pieces += _corrected(piece, [at for at in measured if first <= at.message_bytes <= last])
    return tuple(pieces)


def _corrected(piece: ExportPiece, measured: Sequence[MeasuredSize]) -> list[ExportPiece]:
    """The piece cut around each size at which it is off."""
    if not measured:
        return [piece]
    sizes = [known_size.message_bytes for known_size in measured]
    cuts = [piece.first_bytes]
    cuts += [math.isqrt(a * b) + 1 for a, b in pairwise(sizes)]
    ends = [*(cut - 1 for cut in cuts[1:]), piece.last_bytes]
    pieces: list[ExportPiece] = []
    for measured_size, first, last in zip(measured, cuts, ends, strict=True):
        values = _scaled(piece, measured_size)
        is_off = values is not piece.values
        if pieces and not is_off and not pieces[-1].is_corrected:
            pieces[-1] = replace(pieces[-1], last_bytes=last)
        else:
            pieces.append(ExportPiece(first, last, values, piece.receiver_keeps_up, is_off))
    return pieces


def _scaled(piece: ExportPiece, measured: MeasuredSize) -> Mapping[str, float]:
    """The piece's own values where they hold at that size, else the values that give it back."""
    way, step = piece.one_way(measured.message_bytes), piece.step(measured.message_bytes)
    if not way > 0:
        return piece.values
    factors = dict.fromkeys(WAY, measured.half_round_trip / way)
    is_off = abs(way / measured.half_round_trip - 1.0) > CORRECTED
    if measured.step is not None and measured.train is not None and step > 0:
        is_off |= abs(prtt(way, step) / measured.train - 1.0) > CORRECTED
        symbols = STEP if piece.receiver_keeps_up else (*STEP, "o_r", "O_r")
        factors |= dict.fromkeys(symbols, measured.step / step)
    if not is_off:
        return piece.values
    return {name: value * factors.get(name, 1.0) for name, value in piece.values.items()}
