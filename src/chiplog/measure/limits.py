"""Until when a run may measure, on the wall clock: starting ranks and all else between records counts."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Times of `time.monotonic` in seconds."""

    visits: float = math.inf
    """After it, no size is visited once more, and no ranks are started once more."""
    end: float = math.inf
    """After it, nothing is measured but the first visit of each size."""

    @property
    def seconds_for_visits(self) -> float:
        """How long sizes may still be visited once more; infinite without a limit, not below 0."""
        return max(0.0, self.visits - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return time.monotonic() >= self.end


NO_LIMITS = Limits()
