"""Tables of one value a size: what is a protocol change in them, what is none, and what they can't tell."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray
from synthetic_tables import table_of

from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import ChangesResult

Floats = NDArray[np.float64]

OCTAVES = 2.0 ** np.arange(24)


def searched(sizes: Floats, micros: Floats) -> ChangesResult:
    rows = zip(sizes.astype(int).tolist(), (1e-6 * micros).tolist(), strict=True)
    return find_changes(table_of(dict(rows)))


def scattered(micros: Floats, deviation: float, seed: int) -> Floats:
    random = np.random.default_rng(seed)
    return np.asarray(micros * np.exp(deviation * random.standard_normal(micros.size)))


def outlying(seed: int) -> bool:
    """Whether a drawn table of one protocol shows a change, where one size is off by up to half as long again."""
    random = np.random.default_rng((seed, 24))
    line = 10 ** random.uniform(-0.3, 1.0) * (1.0 + OCTAVES / 10 ** random.uniform(2.0, 4.5))
    micros = scattered(line, random.choice([0.003, 0.01, 0.03]), seed)
    factor = random.uniform(1.1, 1.5)
    micros[random.integers(OCTAVES.size)] *= factor if random.random() < 0.8 else 1.0 / factor
    return bool(searched(OCTAVES, micros).consensus)


def test_a_single_outlier_of_up_to_half_again_makes_no_change_in_99_of_100_tables() -> None:
    with ProcessPoolExecutor(2) as pool:
        assert sum(pool.map(outlying, range(300), chunksize=25)) <= 3


@pytest.mark.parametrize("place", [0, 3, 12, 22, 23])
def test_one_outlying_mean_of_eight_to_twenty_four_is_no_change(place: int) -> None:
    micros = scattered(np.full(OCTAVES.size, 35.2), 0.01, 1)
    micros[place] = 43.8
    assert searched(OCTAVES, micros).consensus == ()


@pytest.mark.parametrize(
    ("per_octave", "octaves"), [(1, 2), (4, 2), (8, 2), (2, 3), (4, 3), (8, 3)]
)
def test_rates_that_sag_over_octaves_are_no_change(per_octave: int, octaves: int) -> None:
    sizes = np.unique(np.round(2.0 ** np.arange(0, 23, 1 / per_octave)))
    ends = [0, 15, 15 + octaves, 24]
    rate = np.interp(np.log2(sizes), ends, [18e3, 18e3, 6e3, 6e3])
    assert searched(sizes, scattered(3.0 + sizes / rate, 0.01, 2)).consensus == ()


def test_a_rate_that_falls_from_one_size_to_the_next_is_one_change() -> None:
    rate = np.where(OCTAVES > 2**16, 6e3, 18e3)
    (change,) = searched(OCTAVES, scattered(3.0 + OCTAVES / rate, 0.01, 3)).consensus
    assert (change.last_before_bytes, change.first_after_bytes) == (2**16, 2**17)


def test_a_flat_rate_asks_for_no_sizes() -> None:
    result = searched(OCTAVES, scattered(OCTAVES / 12e3, 0.002, 4))
    assert result.consensus == ()
    assert result.series[0].would_tell == ()
    assert result.ends == ()


@pytest.mark.parametrize("deviation", [0.003, 0.01, 0.02])
def test_sizes_that_are_dense_around_a_threshold_show_its_jump(deviation: float) -> None:
    sizes = np.arange(60_000.0, 72_001.0, 500.0)
    micros = 4.0 + sizes / 5.3e3 + np.where(sizes > 65_536, 9.5, 0.0)
    (change,) = searched(sizes, scattered(micros, deviation, 5)).consensus
    assert change.last_before_bytes <= 65_536 < change.first_after_bytes
    assert change.first_after_bytes - change.last_before_bytes <= 1_000


@pytest.mark.parametrize("seed", range(5))
def test_13_percent_beside_half_a_percent_of_scatter_is_a_change(seed: int) -> None:
    sizes = np.unique(np.round(2.0 ** np.arange(0, 22.5, 0.5)))
    micros = (1.8 + sizes / 9e3) * np.where(sizes > 4096, 1.13, 1.0)
    changes = searched(sizes, scattered(micros, 0.005, seed)).consensus
    assert len(changes) == 1
    assert changes[0].last_before_bytes <= 4096 < changes[0].first_after_bytes
