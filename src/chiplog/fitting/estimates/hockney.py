"""The parameters of Hockney's model for one protocol: the line through the half round trips over s."""

from __future__ import annotations

import numpy as np

from chiplog.fitting.estimates.job import Job, SegmentEstimates
from chiplog.fitting.estimates.parameters import Estimates, identified, interval, unidentified
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import partition
from chiplog.fitting.regimes.line import fit_line
from chiplog.fitting.text import seconds_text, sizes_text


def hockney(job: Job) -> SegmentEstimates:
    """A line in each regime of the half round trips."""
    half = job.quantities_in_lines.half_round_trip
    parts = partition((half,), job.limits)
    ranges = parts.own[half.name]
    return SegmentEstimates(
        parts, [hockney_estimates(half.within(*sizes), job.rng) for sizes in ranges]
    )


def hockney_estimates(half: Quantity, rng: np.random.Generator) -> Estimates:
    """alpha, R and n_half = alpha R."""
    line = fit_line(half, half.message_bytes.astype(np.float64), rng)
    estimates: Estimates = {}
    if line.only_bytes is not None:
        return _of_one_size(line.only_bytes, interval(line.intercept_draws)[1])
    if line.intercept > 0:
        estimates["alpha"] = identified("alpha", "s", line.intercept, line.intercept_draws)
    else:
        reason = "the half round trips, taken back to 0 B, give no start-up time."
        most = max(0.0, interval(line.intercept_draws)[1])
        estimates["alpha"] = unidentified("alpha", "s", reason, high=most)
    if line.slope <= 0 or interval(line.slope_draws)[0] <= 0:
        sizes = sizes_text(int(half.message_bytes[0]), int(half.message_bytes[-1]))
        high = interval(line.slope_draws)[1]
        reason = (
            f"the half round trips of {sizes} do not grow with the size beyond doubt: a byte costs at most "
            f"{seconds_text(high)}."
        )
        least = 1.0 / high if high > 0 else None
        estimates["R"] = unidentified("R", "B/s", reason, low=least)
        start = estimates["alpha"].parameter.low
        fewest = start * least if start and least else 0.0
        estimates["n_half"] = unidentified("n_half", "B", reason, low=fewest)
        return estimates
    draws = 1.0 / np.maximum(line.slope_draws, 1e-30)
    estimates["R"] = identified("R", "B/s", 1.0 / line.slope, draws)
    if not estimates["alpha"].parameter.identified:
        reason = "n_half = alpha R, and alpha is not identified."
        high = interval(np.maximum(line.intercept_draws, 0.0) * draws)[1]
        estimates["n_half"] = unidentified("n_half", "B", reason, high=high)
        return estimates
    estimates["n_half"] = identified(
        "n_half", "B", line.intercept / line.slope, line.intercept_draws * draws
    )
    return estimates


def _of_one_size(message_bytes: int, most: float) -> Estimates:
    """Bounds: of a single half round trip, at most `most` seconds, nobody knows what its bytes cost."""
    reason = f"there are half round trips of {message_bytes:,} B alone: two sizes tell what a byte costs."
    return {
        "alpha": unidentified("alpha", "s", reason, high=most),
        "R": unidentified("R", "B/s", reason, low=message_bytes / most if most > 0 else None),
        "n_half": unidentified("n_half", "B", reason),
    }
