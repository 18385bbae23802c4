"""The parameters of LogP: LogGP's of short messages, with flat lines."""

from __future__ import annotations

import numpy as np

from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.loggp import each_segment
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import whole
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.settings import FEWEST_SIZES
from chiplog.statistics import NO_DIFFERENCE


def last_short_size(half: Quantity) -> int:
    """The largest size in bytes up to which half round trips stay within 5 % (at least 3 sizes, if there are)."""
    base = float(np.median(half.value[:FEWEST_SIZES]))
    noise = 2.0 * half.sigma
    longer = np.flatnonzero(half.value - noise > (1.0 + NO_DIFFERENCE) * base)
    first_long = (
        int(longer[longer >= FEWEST_SIZES][0])
        if np.any(longer >= FEWEST_SIZES)
        else half.value.size
    )
    return int(half.message_bytes[first_long - 1])


def logp(job: Job) -> SegmentEstimates:
    """One segment, of those sizes that cost about as much as the smallest."""
    half = job.quantities_in_lines.half_round_trip
    first, last = job.range[0], last_short_size(half) if half.value.size else 0
    parts = whole(np.array([first, max(first, last)]))
    lines = RegimeLines(job.quantities_in_lines, parts, job.rng, flat=True)
    return each_segment(job, lines)
