"""How often two tables of one mean a size of one system get a verdict, and how often a slower range of sizes does."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest
from many_runs import LONG
from synthetic_tables import curve_seconds, table_of

from chiplog.comparison.runs import compare_runs
from chiplog.dataset.series import Dataset

GRIDS = {
    "an octave": tuple(2**n for n in range(23)),
    "two octaves": tuple(4**n for n in range(12)),
    "half an octave": tuple(sorted({int(2 ** (n / 2)) for n in range(45)})),
}
PAIRS = 400 if LONG else 100
MOST_WRONG = 0.01
LEAST_FOUND = 0.95

pytestmark = [pytest.mark.statistics, pytest.mark.timeout(1800)]


def drawn(
    draw: np.random.Generator, sizes: tuple[int, ...], scatter: float, shape: str, outliers: float
) -> np.ndarray:
    """Seconds of each size; `scatter` is that of all sizes, or that of the smallest with little at the largest."""
    count = len(sizes)
    of_size = {
        "even": np.full(count, scatter),
        "falling": scatter * np.linspace(1.0, 0.1, count),
        "stepped": np.where(np.arange(count) < count / 3, scatter, scatter / 8),
    }[shape]
    off = np.where(draw.random(count) < outliers, draw.uniform(1.0, 2.0, count), 1.0)
    return curve_seconds(sizes) * off * np.exp(of_size * draw.standard_normal(count))


def table(sizes: tuple[int, ...], seconds: np.ndarray) -> Dataset:
    return table_of(dict(zip(sizes, seconds.tolist(), strict=True)))


def gets_a_verdict(grid: str, scatter: float, shape: str, outliers: float, pair: int) -> bool:
    draw = np.random.default_rng([pair, int(1000 * scatter), len(grid), len(shape)])
    sizes = GRIDS[grid]
    offset = (1.0, 1.1, 1 / 1.1)[pair % 3]
    before, after = (drawn(draw, sizes, scatter, shape, outliers) for _ in range(2))
    rows = compare_runs(table(sizes, before), table(sizes, offset * after))
    return bool({"slower", "faster"} & {row.verdict for row in rows})


def is_found(grid: str, scatter: float, factor: float, pair: int) -> bool:
    draw = np.random.default_rng([pair, int(1000 * scatter), len(grid)])
    sizes = GRIDS[grid]
    before, after = (drawn(draw, sizes, scatter, "even", 0.0) for _ in range(2))
    count = max(4, len(sizes) // 4)
    begin = int(draw.integers(0, len(sizes) - count + 1))
    after[begin : begin + count] *= factor
    rows = compare_runs(table(sizes, before), table(sizes, after))
    slower = {row.message_bytes for row in rows if row.verdict == "slower" and row.low > 1.0}
    return len(slower & {*sizes[begin : begin + count]}) >= count - 1


@pytest.mark.parametrize("outliers", [0.0, 0.05])
@pytest.mark.parametrize("shape", ["even", "falling", "stepped"])
@pytest.mark.parametrize("scatter", [0.01, 0.05, 0.15])
@pytest.mark.parametrize("grid", GRIDS)
def test_two_tables_of_one_system_get_no_verdict(
    pool: ProcessPoolExecutor, grid: str, scatter: float, shape: str, outliers: float
) -> None:
    """With launches that differ by up to 10 %, and single sizes that are off by up to a factor of 2."""
    judge = partial(gets_a_verdict, grid, scatter, shape, outliers)
    assert sum(pool.map(judge, range(PAIRS), chunksize=10)) <= MOST_WRONG * PAIRS


@pytest.mark.parametrize(("scatter", "factor"), [(0.01, 1.5), (0.018, 1.5), (0.1, 5.0)])
@pytest.mark.parametrize("grid", GRIDS)
def test_a_slower_range_of_sizes_is_found(
    pool: ProcessPoolExecutor, grid: str, scatter: float, factor: float
) -> None:
    judge = partial(is_found, grid, scatter, factor)
    assert sum(pool.map(judge, range(PAIRS), chunksize=10)) >= LEAST_FOUND * PAIRS
