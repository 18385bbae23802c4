"""What the parameters of the network matter to a simulated time."""

from __future__ import annotations

from dataclasses import dataclass

SLOWER = 0.01
"""Given: the schedule may become so much slower."""

LEAST_SHARE = 0.0005
"""Given: less than half a thousandth of the time is not worth a figure."""


@dataclass(frozen=True, slots=True)
class GainRow:
    """Which share of the time a better parameter saves, and its interval."""

    parameter: str
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ToleranceRow:
    """From which value of a parameter on the time is 1 % longer, and its interval; None where no value makes it so.

    L in seconds, of the shortest messages; G in seconds a byte, of the longest ones. Those of all others change by as
    many seconds, or in the same ratio.
    """

    parameter: str
    now: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What better parameters would save, and what worse ones may cost."""

    gains: tuple[GainRow, ...]
    tolerances: tuple[ToleranceRow, ...]


@dataclass(frozen=True, slots=True)
class SensitivityCurve:
    """The time over a parameter, L in seconds or G in seconds a byte, and its interval; `now` is the model's value."""

    parameter: str
    now: float
    values: tuple[float, ...]
    seconds: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
