"""One value a size from the values of several records: visits of a size, and launches.

A quantity's value at a size is the robust weighted mean over its records; where these differ more than their samples
allow, the replicates are widened by as much.

Source: P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Stat. 35 (1964); for the widening,
R. T. Birge, "The calculation of errors by the method of least squares", Phys. Rev. 40 (1932).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.quantities.settings import WORST_Z
from chiplog.fitting.quantities.value_intervals import student_factor
from chiplog.fitting.settings import HUBER_DEVIATIONS, LEAST_FREEDOM, SHORTEST_SECONDS
from chiplog.statistics import MEDIAN_ABSOLUTE

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Combined(NamedTuple):
    """One value a size, its standard error and its replicates, shapes (sizes,), (sizes,) and (sizes, replicates)."""

    value: Floats
    sigma: Floats
    draws: Floats


@dataclass(frozen=True)
class RecordValues:
    """The values of records with what is known of each; the arrays have the shape (records,) and ascend in size."""

    sizes: Integers
    launches: Integers
    value: Floats
    draws: Floats
    """Bootstrap replicates, shape (records, replicates)."""
    sigma: Floats
    rounding: Floats
    """The error that the others have in common with it, since they fell on the same steps of the clock."""
    samples: Integers
    """How many each record has."""

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the records of each size begin, shape (sizes,)."""
        return np.flatnonzero(np.concatenate(([True], self.sizes[1:] != self.sizes[:-1])))

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How many records each size has."""
        return np.diff(np.append(self.starts, self.sizes.size))

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The number of each record's size, from 0."""
        return np.repeat(np.arange(self.starts.size), self.counts)

    @cached_property
    def error(self) -> Floats:
        """`sigma`, never 0."""
        return np.maximum(self.sigma, SHORTEST_SECONDS)

    def total(self, values: Floats) -> Floats:
        """The sums over the records of each size, shape (sizes,)."""
        return np.asarray(np.add.reduceat(values, self.starts))


def combine(records: RecordValues, rng: np.random.Generator) -> Combined:
    """One value per size: Huber-weighted mean of the records, widened by their disagreement."""
    group = records.group
    disagreement = _disagreement(records)
    spread = max(disagreement, 1.0)
    error = records.error * spread
    weight = records.error**-2.0
    z = np.abs(records.value - _medians(records)[group]) / error
    weight *= np.where(
        records.counts[group] > 2, HUBER_DEVIATIONS / np.maximum(z, HUBER_DEVIATIONS), 1.0
    )
    share = weight / records.total(weight)[group]
    value = records.total(share * records.value)
    wider = student_factor(group.size - value.size) if disagreement > 1.0 else 1.0
    deviation = wider * spread * (records.draws - records.value[:, None])
    draws = value[:, None] + np.add.reduceat(share[:, None] * deviation, records.starts, axis=0)
    draws += _launch_shifts(records, share, error, rng)
    sigma = spread * np.sqrt(records.total((share * records.error) ** 2))
    common = np.minimum.reduceat(records.rounding, records.starts)
    missing = np.sqrt(np.maximum(common**2 - sigma**2, 0.0))
    if np.any(missing):
        draws += missing[:, None] * rng.standard_normal(draws.shape)
        sigma = np.maximum(sigma, common)
    return Combined(value, sigma, draws)


def _medians(records: RecordValues) -> Floats:
    """The median of the records of each size, shape (sizes,)."""
    ordered = records.value[np.lexsort((records.value, records.group))]
    low = records.starts + (records.counts - 1) // 2
    high = records.starts + records.counts // 2
    return np.asarray(0.5 * (ordered[low] + ordered[high]))


def _disagreement(records: RecordValues) -> float:
    """By which factor records of one size differ more than their samples say, over all sizes.

    A few wild records are bounded; where most differ by so much, the median of the squares says how much that is.
    """
    group, counts = records.group, records.counts
    several = counts[group] > 1
    if not np.any(several):
        return 1.0
    mean = np.bincount(group, records.value) / counts
    z = (records.value - mean[group])[several] / records.error[several]
    z *= np.sqrt(counts[group][several] / (counts[group][several] - 1.0))
    square = float(np.mean(np.minimum(z**2, WORST_Z**2)))
    if square > HUBER_DEVIATIONS**2:
        square = max(square, float(np.median(z**2)) / MEDIAN_ABSOLUTE**2)
    return float(np.sqrt(square))


def _launch_shifts(
    records: RecordValues, share: Floats, error: Floats, rng: np.random.Generator
) -> Floats | float:
    """Replicates of the shift that whole launches have, shape (sizes, replicates).

    A multiplier bootstrap over launches: each replicate adds the launches' deviations with random weights of
    Student's t, since there are few launches. What the launches differ by through noise within them is taken off,
    as the samples' replicates carry that.
    """
    names, replicates = np.unique(records.launches), records.draws.shape[1]
    if names.size < 2:
        return 0.0
    combined = records.total(share * records.value)
    shift = np.zeros((names.size, combined.size))
    excess = 0.0
    for row, launch in enumerate(names):
        chosen = records.launches == launch
        group, of_launch = records.group[chosen], share[chosen]
        weight = np.bincount(group, of_launch, combined.size)
        mean = np.bincount(group, of_launch * records.value[chosen], combined.size)
        noise = np.bincount(group, (of_launch * error[chosen]) ** 2, combined.size)
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
