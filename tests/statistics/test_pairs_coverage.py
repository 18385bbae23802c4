"""The intervals of models of k pairs mean what they say, for points and for whole launches that scatter."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from known_networks import PAIRS, pairs_target
from many_runs import COVERED, LONG, Case, claimed, covered, fit_all, share_is_within
from simulated import over_pairs
from synthetic import SyntheticDisturbance
from synthetic_pairs import pairs_dataset

from chiplog.fitting.fit import fit
from chiplog.fitting.pairs.fitting import find_pieces
from chiplog.fitting.pairs.table import pair_table
from chiplog.models.piecewise import Piece
from chiplog.models.registry import load_model

SIZES = tuple(4096 << step for step in range(8))
NUMBERS_OF_PAIRS = (1, 2, 3, 4, 6, 8)
RUNS_OF_THE_PROBE, RUNS_OF_LAUNCHES = (120, 200) if LONG else (60, 60)

pytestmark = pytest.mark.statistics


@pytest.mark.parametrize("model", PAIRS)
def test_intervals_from_one_launch_of_the_probe_cover_the_truth(
    pool: ProcessPoolExecutor, model: str
) -> None:
    series = over_pairs(NUMBERS_OF_PAIRS, SIZES)
    runs = fit_all(
        pool, Case(pairs_target(model, 16), series, model, samples=10, runs=RUNS_OF_THE_PROBE)
    )
    for symbol, truth in PAIRS[model][1].items():
        assert len(claimed(runs, symbol)) == len(runs)
        count = covered(runs, symbol, truth)
        assert share_is_within(count, len(runs), *COVERED), f"{symbol}: {count} of {len(runs)}"


ONE = {
    "max-rate": [Piece(None, {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9})],
    "max-rate-modified": [Piece(None, {"s0": 8e-6, "R_C": 2e9, "R_N": 7e9})],
}
SLOWER = {"s0": 14e-6 + 32768 / 4e9 - 32768 / 3e9, "R_C": 3e9, "R_N": 6e9}
SEVERAL = {
    (32768,): [Piece(32768, {"s0": 14e-6, "R_C": 4e9, "R_N": 12e9}), Piece(None, SLOWER)],
    (1024, 32768): [
        Piece(1024, {"s0": 2e-6, "R_C": 1e9, "R_N": 5e9}),
        Piece(32768, {"s0": 14e-6, "R_C": 4e9, "R_N": 12e9}),
        Piece(None, SLOWER),
    ],
}
"""One pair's time has a jump at 1024 B and none at 32 KiB, where rates halve."""
OCTAVES = tuple(16 << step for step in range(17))
MACHINES = 150 if LONG else 24
LEAST_RIGHT, MOST_INVENTED = 0.95, 0.01
"""Shares of machines with the right regimes, and with regimes where there is one."""


def limits_found(name: str, pieces: list[Piece], seed: int) -> list[int]:
    dataset = pairs_dataset(
        load_model(name),
        pieces,
        OCTAVES,
        pairs=NUMBERS_OF_PAIRS,
        launches=3,
        disturbance=SyntheticDisturbance(noise=0.03, launch_noise=0.03),
        seed=seed,
    )
    table = pair_table(dataset, "median")
    return [piece.last_bytes for piece in find_pieces(table, "auto", seed)[:-1]]


@pytest.mark.parametrize("name", ONE)
def test_no_regime_is_invented_where_there_is_one(pool: ProcessPoolExecutor, name: str) -> None:
    runs = pool.map(
        limits_found, [name] * MACHINES, [ONE[name]] * MACHINES, range(MACHINES), chunksize=10
    )
    invented = sum(len(limits) > 0 for limits in runs)
    assert share_is_within(invented, MACHINES, 0.0, MOST_INVENTED)


@pytest.mark.parametrize("truth", SEVERAL)
def test_regimes_are_found_within_adjacent_sizes(
    pool: ProcessPoolExecutor, truth: tuple[int, ...]
) -> None:
    name = "max-rate-modified"
    runs = pool.map(
        limits_found, [name] * MACHINES, [SEVERAL[truth]] * MACHINES, range(MACHINES), chunksize=10
    )
    right = [
        len(limits) == len(truth)
        and all(one / 2 <= limit <= 2 * one for one, limit in zip(truth, limits, strict=True))
        for limits in runs
    ]
    assert share_is_within(sum(right), MACHINES, LEAST_RIGHT)


def covers(name: str, launches: int, seed: int) -> list[bool]:
    truth = PAIRS[name][1]
    dataset = pairs_dataset(
        load_model(name),
        [Piece(None, truth)],
        SIZES,
        pairs=NUMBERS_OF_PAIRS,
        launches=launches,
        disturbance=SyntheticDisturbance(noise=0.03, launch_noise=0.03),
        seed=seed,
    )
    found = fit(dataset, [name], boundaries=None, seed=seed)[0].segments[0].parameters
    bounds = [(found[symbol].low, found[symbol].high) for symbol in truth]
    return [
        low is not None and high is not None and low <= value <= high
        for (low, high), value in zip(bounds, truth.values(), strict=True)
    ]


@pytest.mark.parametrize("name", ["postal", "max-rate"])
@pytest.mark.parametrize("launches", [4, 12])
def test_intervals_from_launches_that_scatter_cover_the_truth(
    pool: ProcessPoolExecutor, name: str, launches: int
) -> None:
    count = RUNS_OF_LAUNCHES
    runs = list(pool.map(covers, [name] * count, [launches] * count, range(count), chunksize=10))
    for symbol, number in zip(PAIRS[name][1], np.sum(runs, axis=0), strict=True):
        assert share_is_within(int(number), count, *COVERED), f"{symbol}: {number} of {count}"
