"""The intervals of models of k pairs mean what they say, for points and for whole launches that scatter."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.fit.run import fit
from chiplog.models.piecewise import Piece
from chiplog.models.registry import load_model
from chiplog.testing.synthetic import Disturbance
from chiplog.testing.synthetic_pairs import pairs_dataset

TRUTHS = {
    "postal": {"s0": 5e-6, "R_C": 2e9},
    "max-rate": {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9},
}
SIZES = tuple(8192 << step for step in range(6))
SEEDS = 60
BOUNDS = (0.85, 1.0)
"""95 % of 60, give or take three standard deviations."""

pytestmark = pytest.mark.statistics


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(("launches", "launch_noise"), [(1, 0.0), (4, 0.03), (12, 0.03)])
def test_intervals_cover_the_truth(name: str, launches: int, launch_noise: float) -> None:
    covered: dict[str, list[bool]] = {symbol: [] for symbol in TRUTHS[name]}
    for seed in range(SEEDS):
        dataset = pairs_dataset(
            load_model(name),
            [Piece(None, TRUTHS[name])],
            SIZES,
            pairs=(1, 2, 4, 8),
            launches=launches,
            disturbance=Disturbance(noise=0.03, launch_noise=launch_noise),
            seed=seed,
        )
        parameters = fit(dataset, [name], boundaries=None, seed=seed)[0].segments[0].parameters
        for symbol, truth in TRUTHS[name].items():
            one = parameters[symbol]
            assert one.low is not None
            assert one.high is not None
            covered[symbol].append(one.low <= truth <= one.high)
    for symbol, hits in covered.items():
        assert BOUNDS[0] <= np.mean(hits) <= BOUNDS[1], symbol
