"""One value a size from the values of several records: visits of a size, and launches.

A quantity's value at a size is the robust weighted mean over its records; where these differ more than their samples
allow, the replicates are widened by as much.

Source: P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Stat. 35 (1964); for the widening,
R. T. Birge, "The calculation of errors by the method of least squares", Phys. Rev. 40 (1932).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.quantities.quantity import Quantity
from chiplog.fit.quantities.value_intervals import student_factor

HUBER = 2.0
WORST_Z = 4.0
MEDIAN_SQUARE = 0.4549
"""The median of the square of a standard normal variate."""
LEAST_FREEDOM = 2
"""Degrees of freedom for the spread between launches, however few there are; 1 would give no interval at all."""


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(np.concatenate(([True], sizes[1:] != sizes[:-1])))


def combine(
    name: str,
    sizes: NDArray[np.int64],
    launches: NDArray[np.int64],
    value: NDArray[np.float64],
    draws: NDArray[np.float64],
    sigma: NDArray[np.float64],
    samples: NDArray[np.int64],
    rounding: NDArray[np.float64],
    used: frozenset[int],
    rng: np.random.Generator,
    *,
    is_difference: bool = False,
) -> Quantity:
    """One value per size: Huber-weighted mean of the records, widened by their disagreement.

    `samples` counts those of each record; `rounding` is the error of each record that the others have in common with
    it, since they fell on the same steps of the clock.
    """
    starts = _starts(sizes)
    counts = np.diff(np.append(starts, sizes.size))
    group = np.repeat(np.arange(starts.size), counts)
    error = np.maximum(sigma, 1e-15)
    weight = error**-2.0
    median = _medians(value, starts, counts)
    disagreement = _disagreement(value, error, group, counts)
    spread = max(disagreement, 1.0)
    wider = student_factor(sizes.size - starts.size) if disagreement > 1.0 else 1.0
    z = np.abs(value - median[group]) / (error * spread)
    weight *= np.where(counts[group] > 2, HUBER / np.maximum(z, HUBER), 1.0)
    share = weight / np.add.reduceat(weight, starts)[group]
    combined = np.add.reduceat(share * value, starts)
    deviation = wider * spread * (draws - value[:, None])
    replicates = combined[:, None] + np.add.reduceat(share[:, None] * deviation, starts, axis=0)
    replicates += _launch_shifts(
        sizes, launches, value, combined, share, error * spread, starts, rng, draws.shape[1]
    )
    sigma_combined = spread * np.sqrt(np.add.reduceat((share * error) ** 2, starts))
    common = np.minimum.reduceat(rounding, starts)
    missing = np.sqrt(np.maximum(common**2 - sigma_combined**2, 0.0))
    if np.any(missing):
        replicates += missing[:, None] * rng.standard_normal(replicates.shape)
        sigma_combined = np.maximum(sigma_combined, common)
    return Quantity(
        name,
        sizes[starts],
        combined,
        sigma_combined,
        replicates,
        used,
        np.add.reduceat(samples, starts),
        is_difference,
    )


def _medians(
    value: NDArray[np.float64], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The median of each group of neighbouring values, shape of `starts`."""
    group = np.repeat(np.arange(starts.size), counts)
    ordered = value[np.lexsort((value, group))]
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    return np.asarray(0.5 * (ordered[low] + ordered[high]))


def _disagreement(
    value: NDArray[np.float64],
    error: NDArray[np.float64],
    group: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> float:
    """By which factor records of one size differ more than their samples say, over all sizes.

    A few wild records are bounded; where most differ by so much, the median of the squares says how much that is.
    """
    several = counts[group] > 1
    if not np.any(several):
        return 1.0
    mean = np.bincount(group, value) / counts
    z = (value - mean[group])[several] / error[several]
    z *= np.sqrt(counts[group][several] / (counts[group][several] - 1.0))
    square = float(np.mean(np.minimum(z**2, WORST_Z**2)))
    if square > HUBER**2:
        square = max(square, float(np.median(z**2)) / MEDIAN_SQUARE)
    return float(np.sqrt(square))


def _launch_shifts(
    sizes: NDArray[np.int64],
    launches: NDArray[np.int64],
    value: NDArray[np.float64],
    combined: NDArray[np.float64],
    share: NDArray[np.float64],
    error: NDArray[np.float64],
    starts: NDArray[np.int64],
    rng: np.random.Generator,
    replicates: int,
) -> NDArray[np.float64] | float:
    """Replicates of the shift that whole launches have, shape (sizes, replicates).

    A multiplier bootstrap over launches: each replicate adds the launches' deviations with random weights of
    Student's t, since there are few launches. What the launches differ by through noise within them is taken off,
    as the samples' replicates carry that.
    """
    names = np.unique(launches)
    if names.size < 2:
        return 0.0
    group = np.repeat(np.arange(starts.size), np.diff(np.append(starts, sizes.size)))
    shift = np.zeros((names.size, starts.size))
    excess = 0.0
    for row, launch in enumerate(names):
        in_launch = launches == launch
        weight = np.bincount(group[in_launch], share[in_launch], starts.size)
        mean = np.bincount(group[in_launch], share[in_launch] * value[in_launch], starts.size)
        noise = np.bincount(
            group[in_launch], (share[in_launch] * error[in_launch]) ** 2, starts.size
        )
        present = weight > 0
        shift[row, present] = mean[present] / weight[present] - combined[present]
        variance = noise[present] / weight[present] ** 2
        total = np.sum(shift[row, present] / variance)
        excess += total**2 / np.sum(1.0 / variance) / (names.size - 1)
    noise_free = np.sqrt(max(0.0, 1.0 - 1.0 / excess)) if excess > 0 else 0.0
    freedom = max(names.size - 1, LEAST_FREEDOM)
    multipliers = rng.standard_normal((names.size, replicates))
    multipliers /= np.sqrt(rng.chisquare(freedom, size=replicates) / freedom)
    scale = noise_free / np.sqrt(names.size * (names.size - 1.0))
    return np.asarray(scale * (shift.T @ multipliers))
