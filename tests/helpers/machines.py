"""Machines whose protocol changes are known, drawn at random, and measured beside noise that isn't friendly.

A machine's half round trip follows a line within each protocol, and jumps at each limit. What disturbs it belongs to
the moment of a record (drift, states of the machine) or to the single sample (its scatter, its outliers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from synthetic import as_run, size_grid

from chiplog.dataset.series import Dataset, Series
from chiplog.protocol_changes.change import Change

Floats = NDArray[np.float64]

SAMPLE_NOISE = 0.05
"""Relative standard deviation of one sample."""
TABLE_SAMPLES = 400
"""Samples behind the one mean that a table has of each size; outliers there are of twice the time."""
DRIFT, CORRELATION = 0.05, 0.9
"""Standard deviation of the drift, and its correlation from one record to the next."""
SLOW, STAY = 1.15, 0.95
"""The slower of two states, and the probability that the next record meets the same one."""
OUTLIERS = 0.1
SAMPLES, VISITS = 20, 3
RAW_SAMPLES, RAW_SLOW, SLOW_SHARE, DWELL = 25, 1.2, 0.2, 50
"""Of a run that visits each size once, in ascending order: samples of a size, how many times as long the slow state
takes, for what share of the samples, and how many samples it lasts on average, as a drift does."""


@dataclass(frozen=True)
class Grid:
    """Sizes in bytes, how far changes are apart (in sizes), and the least of their jumps."""

    sizes: tuple[int, ...]
    apart: int
    least_jump: float


def _irregular(count: int) -> tuple[int, ...]:
    """About so many sizes up to 1 MiB that follow no grid, as calibrations for SimGrid draw them."""
    random = np.random.default_rng(0)
    sizes = np.unique(np.exp(random.uniform(0.0, np.log(1 << 20), count)).astype(int))
    return tuple(int(size) for size in sizes)


GRIDS = {
    "octave": Grid(size_grid(1 << 22, per_octave=1), 3, 0.5),
    "half": Grid(size_grid(1 << 22, per_octave=2), 5, 0.2),
    "dense": Grid(_irregular(700), 30, 0.2),
}
"""A size an octave; two an octave, as `--sizes 1:4MiB` gives them; and some 490."""
NOISES = ("log-normal", "skewed", "drift", "states", "outliers", "all")


@dataclass(frozen=True)
class Drawn:
    """A measured machine, and its truth: half round trips, the last size of each protocol but the last, the jumps."""

    dataset: Dataset
    sizes: tuple[int, ...]
    exact_seconds: Floats
    limits: tuple[int, ...]
    jumps: tuple[float, ...]


def draw(
    grid: str,
    noise: str,
    *,
    table: bool = False,
    raw: bool = False,
    dwell: int = DWELL,
    changes: int | None = None,
    bends: int = 0,
    seed: int = 0,
) -> Drawn:
    """A machine of 0 to 4 changes on one of `GRIDS` beside one of `NOISES`.

    A run has three visits of 20 samples of each size, in shuffled order; a `raw` one has one visit of 25 samples of
    each size in ascending order, so that states and drift go on from one size to the next, for `dwell` samples on
    average; a table has one mean of each size, measured in ascending order, and no more.
    """
    random = np.random.default_rng((seed, 14))
    count = int(random.integers(0, 5)) if changes is None else changes
    chosen = GRIDS[grid]
    places = _ends(random, len(chosen.sizes), chosen.apart, count + bends)
    bent = sorted(random.choice(count + bends, bends, replace=False))
    ends = [place for k, place in enumerate(places) if k not in bent]
    jumps = _jumps(random, len(ends), chosen.least_jump)
    exact = _exact_seconds(
        random, np.array(chosen.sizes, dtype=np.float64), ends, jumps, [places[k] for k in bent]
    )
    if raw:
        series = _raw(random, chosen, exact, noise, dwell)
    else:
        measure = _table if table else _run
        series = measure(random, chosen, exact, noise)
    limits = tuple(chosen.sizes[end] for end in ends)
    return Drawn(as_run(series, seed), chosen.sizes, exact, limits, tuple(jumps))


def found_and_false(drawn: Drawn, changes: Sequence[Change]) -> tuple[int, int]:
    """How many limits are among the changes, give or take one size, and how many changes are no limit."""
    left = list(changes)
    found = 0
    for limit in drawn.limits:
        match = next((change for change in left if _is_at(drawn.sizes, change, limit)), None)
        if match is not None:
            left.remove(match)
            found += 1
    return found, len(left)


def _is_at(sizes: Sequence[int], change: Change, limit: int) -> bool:
    at = sizes.index(limit)
    low, high = sizes.index(change.last_before_bytes), sizes.index(change.first_after_bytes)
    return low - 1 <= at <= high and low <= at + 1 <= high + 1


def _ends(random: np.random.Generator, sizes: int, apart: int, count: int) -> list[int]:
    """Indices of the last sizes of all protocols but the last, `apart` from each other and from both ends."""
    room = sizes - (count + 1) * apart
    places = np.sort(random.integers(0, room + 1, count))
    return [int(place) + (k + 1) * apart - 1 for k, place in enumerate(places)]


def _jumps(random: np.random.Generator, count: int, least: float) -> list[float]:
    """Of the time from one protocol to the next, most of them up."""
    up = np.exp(random.uniform(np.log(least), np.log(3.0), count))
    return [float(j if random.random() < 0.8 else 1.0 / (1.0 + j) - 1.0) for j in up]


def _exact_seconds(
    random: np.random.Generator,
    size: Floats,
    ends: Sequence[int],
    jumps: Sequence[float],
    bends: Sequence[int],
) -> Floats:
    """The time of each size; the cost of a byte changes by up to a factor of 2 at each limit, and of 4 at a bend."""
    intercept = 10.0 ** random.uniform(-6.3, -4.5)
    slope = intercept / 10.0 ** random.uniform(2.5, 4.5)
    seconds = intercept + slope * size
    places = sorted(
        [(end, jump, 2.0) for end, jump in zip(ends, jumps, strict=True)]
        + [(b, 0.0, 4.0) for b in bends]
    )
    for end, jump, most in places:
        limit = size[end]
        at_limit = (intercept + slope * limit) * (1.0 + jump)
        slope = min(slope * most ** random.uniform(-1.0, 1.0), at_limit / limit)
        intercept = at_limit - slope * limit
        seconds = np.where(size > limit, intercept + slope * size, seconds)
    return np.asarray(seconds)


def _of_moments(random: np.random.Generator, records: int, noise: str) -> Floats:
    """The factor of each record in the order in which they are taken, shape (records,)."""
    factor = np.ones(records)
    if noise in ("drift", "all"):
        steps = random.standard_normal(records) * np.sqrt(1.0 - CORRELATION**2)
        drift = random.standard_normal()
        for k in range(records):
            drift = CORRELATION * drift + steps[k] if k else drift
            factor[k] = np.exp(DRIFT * drift)
    if noise in ("states", "all"):
        turns = random.random(records) >= STAY
        turns[0] = random.random() < 0.5
        factor[np.cumsum(turns) % 2 == 1] *= SLOW
    return factor


def _of_samples(random: np.random.Generator, shape: tuple[int, ...], noise: str) -> Floats:
    if noise == "skewed":
        return np.asarray(1.0 + SAMPLE_NOISE * random.exponential(size=shape))
    return np.asarray(np.exp(SAMPLE_NOISE * random.standard_normal(shape)))


def _run(random: np.random.Generator, grid: Grid, exact: Floats, noise: str) -> list[Series]:
    order = [(visit, k) for visit in range(VISITS) for k in range(len(grid.sizes))]
    random.shuffle(order)
    factors = _of_moments(random, len(order), noise)
    series = []
    for record, ((visit, k), factor) in enumerate(zip(order, factors, strict=True)):
        samples = exact[k] * factor * _of_samples(random, (SAMPLES,), noise)
        if noise in ("outliers", "all"):
            samples[random.random(SAMPLES) < OUTLIERS] *= 10.0
        series.append(_ping_pong(grid.sizes[k], 2.0 * samples, visit, record))
    return series


def _raw(
    random: np.random.Generator, grid: Grid, exact: Floats, noise: str, dwell: int
) -> list[Series]:
    shape = len(grid.sizes), RAW_SAMPLES
    factor = np.ones(len(grid.sizes) * RAW_SAMPLES)
    if noise in ("states", "all"):
        turns = random.random(factor.size)
        is_slow = random.random() < SLOW_SHARE
        for k, turn in enumerate(turns):
            lasts = dwell if is_slow else dwell * (1.0 - SLOW_SHARE) / SLOW_SHARE
            is_slow ^= bool(turn < 1.0 / lasts)
            factor[k] *= RAW_SLOW if is_slow else 1.0
    if noise in ("drift", "all"):
        stays = np.exp(-1.0 / dwell)
        drift, steps = random.standard_normal(), random.standard_normal(factor.size)
        for k, step in enumerate(steps):
            drift = stays * drift + np.sqrt(1.0 - stays**2) * step
            factor[k] *= np.exp(DRIFT * drift)
    samples = exact[:, None] * factor.reshape(shape) * _of_samples(random, shape, noise)
    if noise in ("outliers", "all"):
        samples[random.random(shape) < OUTLIERS] *= 10.0
    return [
        _ping_pong(size, 2.0 * row, 0, record)
        for record, (size, row) in enumerate(zip(grid.sizes, samples, strict=True))
    ]


def _table(random: np.random.Generator, grid: Grid, exact: Floats, noise: str) -> list[Series]:
    count = len(grid.sizes)
    means = _of_samples(random, (count, TABLE_SAMPLES), noise)
    if noise in ("outliers", "all"):
        means[random.random(means.shape) < OUTLIERS] *= 2.0
    # A table's sizes differ by more than its means' own errors: what differs from one size to the next is added.
    rough = np.exp(0.01 * random.standard_normal(count))
    seconds = exact * means.mean(axis=1) * rough * _table_moments(random, count, noise)
    return [
        replace(_ping_pong(size, np.array([2.0 * value]), 0, record), messages=2 * TABLE_SAMPLES)
        for record, (size, value) in enumerate(zip(grid.sizes, seconds, strict=True))
    ]


def _table_moments(random: np.random.Generator, count: int, noise: str) -> Floats:
    """A table's size is the mean over many moments, ten of them here."""
    return np.asarray(_of_moments(random, 10 * count, noise).reshape(count, 10).mean(axis=1))


def _ping_pong(size: int, seconds: Floats, visit: int, record: int) -> Series:
    return Series(
        pattern="ping_pong",
        operation="send",
        posting="normal",
        direction="round-trip",
        message_bytes=size,
        train=1,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=visit,
        record_id=record,
        placement_seconds=None,
        messages=2 * seconds.size,
        bytes_sent=2 * seconds.size * size,
        elapsed_seconds=float(seconds.sum()),
        warmup_seconds=np.empty(0),
        seconds=seconds,
        tag={"purpose": "grid"},
    )
