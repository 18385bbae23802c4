"""The line that times follow within one protocol."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.regimes.crossing import line_crossing_bytes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """T(s) = `intercept_seconds` + s * `slope_seconds_per_byte`, neither negative."""

    intercept_seconds: float
    slope_seconds_per_byte: float

    @classmethod
    def flat(cls) -> Line:
        """The line of a quantity of which nothing is known: only ratios are used of it."""
        return cls(1.0, 0.0)

    def __call__(self, message_bytes: Floats | float) -> Floats:
        """Seconds, in the shape of `message_bytes`."""
        return np.asarray(
            self.intercept_seconds + self.slope_seconds_per_byte * np.asarray(message_bytes)
        )

    def crossing_bytes(self, other: Line) -> float | None:
        """The size in bytes at which the two lines cross; None where they never do at 1 B or above."""
        own, its = ((float(line(1.0)), line.slope_seconds_per_byte) for line in (self, other))
        return line_crossing_bytes(own, its)
