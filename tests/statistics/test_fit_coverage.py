"""With noise and outliers, the parameters are close and their intervals mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import Ask, SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.fitting.fit import fit
from chiplog.models.piecewise import Piece

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
ASSESSMENT = (
    Ask("prtt"),
    Ask("prtt", 10),
    Ask("prtt", 10, 0.3),
    Ask("receive_overhead", 1, 1.5),
)
SEEDS = 100
SYMBOLS = ("L", "o_s", "g", "G")

pytestmark = pytest.mark.statistics


@pytest.fixture(scope="module")
def runs() -> dict[str, np.ndarray]:
    """Relative error, low/truth and high/truth of each parameter, shape (seeds, 3)."""
    found: dict[str, list[tuple[float, float, float]]] = {symbol: [] for symbol in SYMBOLS}
    for seed in range(SEEDS):
        dataset = synthetic_dataset(
            [Piece(None, TRUTH)],
            size_grid(),
            asks=ASSESSMENT,
            samples=20,
            visits=3,
            disturbance=SyntheticDisturbance(noise=0.05, outliers=0.01),
            seed=seed,
        )
        parameters = fit(dataset, ["loggp"], boundaries=None, seed=seed)[0].segments[0].parameters
        for symbol in SYMBOLS:
            one, truth = parameters[symbol], TRUTH[symbol]
            assert one.value is not None
            assert one.low is not None
            assert one.high is not None
            found[symbol].append((abs(one.value / truth - 1), one.low / truth, one.high / truth))
    return {symbol: np.array(rows) for symbol, rows in found.items()}


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_with_noise_the_median_error_is_at_most_two_percent(
    runs: dict[str, np.ndarray], symbol: str
) -> None:
    assert np.median(runs[symbol][:, 0]) <= 0.02


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_intervals_cover_the_truth_in_90_to_99_percent_of_runs(
    runs: dict[str, np.ndarray], symbol: str
) -> None:
    covered = np.mean((runs[symbol][:, 1] <= 1.0) & (runs[symbol][:, 2] >= 1.0))
    assert 0.90 <= covered <= 0.99


def test_launches_that_differ_widen_the_intervals_to_cover_the_truth() -> None:
    covered, calm = [], []
    for seed in range(40):
        for noise, into in ((0.03, covered), (0.0, calm)):
            dataset = synthetic_dataset(
                [Piece(None, TRUTH)],
                size_grid(1 << 16, per_octave=1),
                asks=ASSESSMENT,
                samples=10,
                visits=1,
                launches=4,
                disturbance=SyntheticDisturbance(noise=0.02, launch_noise=noise),
                seed=seed,
            )
            g = fit(dataset, ["loggp"], boundaries=None)[0].segments[0].parameters["g"]
            assert g.low is not None
            assert g.high is not None
            into.append(g.low <= TRUTH["g"] <= g.high)
    assert np.mean(covered) >= 0.85
    assert np.mean(calm) >= 0.85


def test_noise_does_not_make_a_hidden_gap_look_identified() -> None:
    hidden = {"L": 5e-6, "o_s": 2e-6, "o_r": 1e-6, "g": 1e-6, "G": 1e-13}
    seen = 0
    for seed in range(40):
        dataset = synthetic_dataset(
            [Piece(None, hidden)],
            size_grid(4096),
            asks=ASSESSMENT,
            samples=20,
            disturbance=SyntheticDisturbance(noise=0.05, outliers=0.01),
            seed=seed,
        )
        g = fit(dataset, ["loggp"], boundaries=None)[0].segments[0].parameters["g"]
        seen += g.identified
    assert seen <= 1
