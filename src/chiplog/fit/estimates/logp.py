"""The parameters of LogP: LogGP's of short messages, with flat lines."""

from __future__ import annotations

import numpy as np

from chiplog.fit.estimates.job import Job, SegmentEstimates
from chiplog.fit.estimates.loggp import each_segment
from chiplog.fit.estimates.short import last_short_size
from chiplog.fit.regimes import whole
from chiplog.fit.regimes.of_quantities import RegimeLines


def logp(job: Job) -> SegmentEstimates:
    """One segment, of those sizes that cost about as much as the smallest."""
    half = job.quantities_in_lines.half_round_trip
    first, last = job.range[0], last_short_size(half) if half.value.size else 0
    parts = whole(np.array([first, max(first, last)]))
    lines = RegimeLines(job.quantities_in_lines, parts, job.rng, flat=True)
    return each_segment(job, lines)
