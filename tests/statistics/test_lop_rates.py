"""With 3 % noise, LoP's curve comes back, whatever its parameters do, and their intervals mean what they say."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from known_networks import PUBLISHED_LOP, PUBLISHED_OVERHEAD, lop_target
from many_runs import Case, covered, fit_all

from chiplog.models.lop import seconds_per_message
from chiplog.testing.simulated import over_peers

PEERS = np.arange(1, 33)
SERIES = over_peers(PEERS.tolist())
LEAST_COVERED, MOST_COVERED = 0.90, 0.995

pytestmark = [pytest.mark.statistics, pytest.mark.alone]


@pytest.mark.parametrize("published", PUBLISHED_LOP)
def test_the_curve_is_within_one_percent_at_its_worst_point_in_most_runs(
    pool: ProcessPoolExecutor, published: str
) -> None:
    theta = PUBLISHED_LOP[published]
    runs = fit_all(pool, Case(lop_target(theta, PUBLISHED_OVERHEAD, 33), SERIES, "lop"))
    worst = []
    for found in runs:
        values = {name: one.value for name, one in found.items() if one.value is not None}
        ratio = seconds_per_message(PEERS, values) / seconds_per_message(PEERS, theta)
        worst.append(float(np.max(np.abs(ratio - 1))))
    assert np.median(worst) <= 0.01
    assert max(worst) <= 0.04
    for symbol, value in theta.items():
        assert LEAST_COVERED <= covered(runs, symbol, value) <= MOST_COVERED, symbol


def test_intervals_of_the_overhead_cover_the_truth(pool: ProcessPoolExecutor) -> None:
    target = lop_target(PUBLISHED_LOP["send"], PUBLISHED_OVERHEAD, 33)
    runs = fit_all(pool, Case(target, SERIES, "lop-overhead"))
    for symbol, value in PUBLISHED_OVERHEAD.items():
        assert LEAST_COVERED <= covered(runs, symbol, value) <= MOST_COVERED, symbol
