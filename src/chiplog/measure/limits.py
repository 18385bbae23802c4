"""Until when a run may measure, on the wall clock: starting ranks and all else between records counts."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

MOST_START_SECONDS = 2.0
"""Of the first start of the ranks, what does not count: a budget of a second is for measuring, not for `mpirun`."""
LOADING_SECONDS = 0.3
"""What loading NumPy, SciPy and the search for protocol changes takes on an idle core."""
REFINEMENT_SHARE = 0.2
"""Of the time for measuring, what is kept for measuring again around protocol changes."""


@dataclass(frozen=True)
class Limits:
    """Times of `time.monotonic` in seconds."""

    visits: float = math.inf
    """After it, no size is visited once more, and no ranks are started once more."""
    end: float = math.inf
    """After it, nothing is measured but the first visit of each size."""
    last: float = math.inf
    """After it, nothing is measured at all: sizes that were not reached are missing."""
    least_seconds: float | None = None
    """For measuring, however late the ranks begin; None where up to MOST_START_SECONDS of their start do not count."""
    stop: float = math.inf
    """Then what still runs is stopped: the start of ranks and the record that is being taken, too."""
    loading_seconds: float = LOADING_SECONDS
    """What loading takes that decides what the visits lead to: more on a busy machine."""

    @property
    def seconds_for_visits(self) -> float:
        """How long sizes may still be visited once more; infinite without a limit, not below 0."""
        return max(0.0, self.visits - time.monotonic())

    def later(self, seconds: float) -> Limits:
        """The same limits, so many seconds later."""
        return replace(
            self,
            visits=self.visits + seconds,
            end=self.end + seconds,
            last=self.last + seconds,
        )

    def after_start(self, seconds: float) -> Limits:
        """The limits once the ranks have begun for the first time, which took so many seconds."""
        if self.least_seconds is None:
            return self.later(min(seconds, MOST_START_SECONDS))
        return self.later(max(0.0, self.least_seconds - (self.last - time.monotonic())))

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return time.monotonic() >= self.end

    @property
    def has_time_for_more(self) -> bool:
        """Whether there is time for what the visits lead to: loading what decides that takes a while, too."""
        return self.end - time.monotonic() >= self.loading_seconds

    @property
    def is_past_last(self) -> bool:
        """Whether not even first visits may begin any more."""
        return time.monotonic() >= self.last


def within(seconds: float, stop: float = math.inf, slow: float = 1.0) -> Limits:
    """Limits that end everything after so many seconds from now: a fifth of them is kept for what the grid leads to.

    `slow` says how many times as long as on an idle core this process's work takes.
    """
    now = time.monotonic()
    return Limits(
        now + (1.0 - REFINEMENT_SHARE) * seconds,
        now + seconds,
        now + seconds,
        stop=stop,
        loading_seconds=slow * LOADING_SECONDS,
    )


NO_LIMITS = Limits()
