"""The intervals of models of k pairs mean what they say, for points and for whole launches that scatter."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from known_networks import PAIRS, pairs_target
from many_runs import COVERED, Case, claimed, covered, fit_all, share_is_within

from chiplog.fit.run import fit
from chiplog.models.piecewise import Piece
from chiplog.models.registry import load_model
from chiplog.testing.simulated import over_pairs
from chiplog.testing.synthetic import Disturbance
from chiplog.testing.synthetic_pairs import pairs_dataset

SIZES = tuple(4096 << step for step in range(8))
NUMBERS_OF_PAIRS = (1, 2, 3, 4, 6, 8)
RUNS_OF_THE_PROBE, RUNS_OF_LAUNCHES = 120, 200

pytestmark = [pytest.mark.statistics, pytest.mark.alone]


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


def covers(name: str, launches: int, seed: int) -> list[bool]:
    truth = PAIRS[name][1]
    dataset = pairs_dataset(
        load_model(name),
        [Piece(None, truth)],
        SIZES,
        pairs=NUMBERS_OF_PAIRS,
        launches=launches,
        disturbance=Disturbance(noise=0.03, launch_noise=0.03),
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
