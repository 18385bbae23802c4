"""How often a history that is looked at every day raises a false alarm in a year, and how soon it finds a shift.

Noise is that of a node's effect in the robust fit of a sweep: with 31 or more partners a node's spread from day to day
is a few tenths of a percent. It lasts from day to day, has heavy tails, and single days are far off.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from many_runs import LONG, MISTAKE
from scipy.signal import lfilter
from scipy.stats import binom, poisson

from chiplog.run_history.sequential import IN_A_ROW, watch

DAYS = 365
WARM_UP = 60
"""Days before the year, in which the past of each node is gathered; alarms in them count as well."""
WINDOW = 30
STREAMS = 64
"""A machine of 32 nodes, bandwidth and latency."""
SHIFT = 0.05
SPIKE = 0.2


@dataclass(frozen=True)
class DailyNoise:
    """The noise of a healthy node's effect from sweep to sweep, in logarithms."""

    spread: float = 0.005
    correlation: float = 0.0
    """Of a day with the next one."""
    freedom: float | None = None
    """Of Student's t; None is normal."""
    spikes: float = 0.0
    """Share of days that are off by SPIKE, upwards or downwards."""
    missing: float = 0.0
    """Share of days that lack the node."""

    def days(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """(count, STREAMS) values of healthy nodes."""
        shape = (count + 50, STREAMS)
        if self.freedom is None:
            steps = generator.standard_normal(shape)
        else:
            scale = (self.freedom / (self.freedom - 2)) ** 0.5
            steps = generator.standard_t(self.freedom, shape) / scale
        share = (1 - self.correlation**2) ** 0.5
        values = lfilter([share], [1, -self.correlation], steps, axis=0)[50:] * self.spread
        sides = np.sign(generator.standard_normal(values.shape))
        values += np.where(generator.random(values.shape) < self.spikes, SPIKE * sides, 0)
        values[generator.random(values.shape) < self.missing] = np.nan
        return values


NOISES = {
    "independent": DailyNoise(),
    "correlated": DailyNoise(correlation=0.6),
    "heavy tails and spikes": DailyNoise(freedom=4, spikes=0.01),
    "all together": DailyNoise(correlation=0.5, freedom=5, spikes=0.01, missing=0.01),
}


def starts(days: int) -> np.ndarray:
    return np.maximum(np.arange(days) - WINDOW, 0)


def false_alarms(noise: DailyNoise, seed: int) -> int:
    """The changes that are claimed of a healthy machine in a year."""
    values = noise.days(WARM_UP + DAYS, np.random.default_rng(seed))
    return len(watch(values, starts(len(values)), streams=STREAMS).changes)


def found_in_time(noise: DailyNoise, seed: int) -> int:
    """How many of 8 nodes that become slower by 5 % are claimed by the third run, with the right day within a run."""
    generator = np.random.default_rng(10**6 + seed)
    values = noise.days(WARM_UP + IN_A_ROW, generator)
    slow = slice(0, 8)
    values[WARM_UP:, slow] = np.where(
        np.isfinite(values[WARM_UP:, slow]), values[WARM_UP:, slow] + SHIFT, np.nan
    )
    changes = watch(values, starts(len(values)), streams=STREAMS).changes
    return len({one.node for one in changes if one.node < 8 and one.since >= WARM_UP - 1})


@pytest.mark.parametrize("name", NOISES)
def test_at_most_one_false_alarm_in_a_machine_year(pool: ProcessPoolExecutor, name: str) -> None:
    years = 1000 if LONG else 3
    found = sum(pool.map(partial(false_alarms, NOISES[name]), range(years), chunksize=2))
    print(f"{name}: {found} false alarms in {years} years, {found / years:.3f} a year")
    assert poisson.sf(found - 1, years) >= MISTAKE
    if LONG:
        assert found / years <= 1


@pytest.mark.parametrize("name", [name for name in NOISES if NOISES[name].missing == 0])
def test_a_shift_of_5_percent_is_found_within_three_sweeps(
    pool: ProcessPoolExecutor, name: str
) -> None:
    machines = 250 if LONG else 6
    found = sum(pool.map(partial(found_in_time, NOISES[name]), range(machines), chunksize=2))
    print(f"{name}: {found} of {8 * machines} shifts found within three sweeps")
    assert binom.cdf(found, 8 * machines, 0.95) >= MISTAKE
