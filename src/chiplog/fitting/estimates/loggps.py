"""The parameters of LogGPS: LogGP's and S, the largest message whose send returns although the receiver is late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.loggp import loggp
from chiplog.fitting.estimates.parameters import Estimate, unidentified
from chiplog.fitting.estimates.settings import WAITED_SHARE
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.result import Parameter


def loggps(job: Job) -> SegmentEstimates:
    """LogGP with one S for all segments."""
    threshold = synchronisation_estimate(job.measured, job.limits)
    fitted = loggp(job)
    return replace(
        fitted, estimates=[{**estimates, "S": threshold} for estimates in fitted.estimates]
    )


def synchronisation_estimate(measured: MeasuredSeries, boundaries: Sequence[int]) -> Estimate:
    """S in bytes from sends to a late receiver, at a protocol change where one fits.

    The interval runs from the largest size that was seen not to wait to the largest that may still not.
    """
    waited: dict[int, list[bool]] = {}
    for index, series in enumerate(measured.series):
        if series.pattern == "late_receiver" and series.delay_seconds > 0:
            share = measured.at.value[index] / series.delay_seconds
            waited.setdefault(series.message_bytes, []).append(bool(share > WAITED_SHARE))
    if not waited:
        return unidentified(
            "S", "B", "no sends to a late receiver were measured (pattern late_receiver)."
        )
    waits = {size: np.mean(seen) > 0.5 for size, seen in waited.items()}
    blocked = [size for size, seen in waits.items() if seen]
    if not blocked:
        return unidentified(
            "S",
            "B",
            f"no send waited for a late receiver: S is {max(waits)} B or more.",
            low=float(max(waits)),
        )
    first_blocked = min(blocked)
    free = [size for size in waits if size < first_blocked]
    if not free:
        return unidentified(
            "S",
            "B",
            f"every send waited for a late receiver: S is below {first_blocked} B.",
            high=float(first_blocked - 1),
        )
    last_free = max(free)
    inside = [limit for limit in boundaries if last_free <= limit < first_blocked]
    value = float(inside[0] if inside else last_free)
    low, high = float(last_free), float(first_blocked - 1)
    if inside:
        low = high = value
    parameter = Parameter("S", value, low, high, "B", True, None)
    return Estimate(parameter, np.empty(0))
