"""`fit.predict` and `fit.plot` of one process to many and of k pairs."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import logfp_truth, lop_truth, one_to_many_dataset
from synthetic_pairs import pairs_dataset

import chiplog
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.models.lop_paper import identifiable
from chiplog.models.piecewise import Piece
from chiplog.models.protocol import points
from chiplog.models.registry import load_model

PEERS = tuple(range(1, 17))
SEND = (22.4558e-6, -0.0140, 9.1637e-6, 0.0174e-6, -0.0625, 101.3065)
OVERHEAD = {"l1": 0.52e-6, "l2": 0.84e-6, "l3": -0.12}
P = (1, 2, 4, 8, 16)
SEND_ROUND_TRIPS = (22.7680, 11.8571, 7.1979, 6.0609, 6.9878)
O_S = (1.4745, 0.9668, 0.7365, 0.6266, 0.5729)


def drawn_logfp(seed: int) -> tuple[dict[str, float], Dataset]:
    rng = np.random.default_rng(seed)
    o_min = 10 ** rng.uniform(-7, -6.3)
    theta = {
        "L": 10 ** rng.uniform(-6, -5),
        "o_min": o_min,
        "o_max": o_min * rng.uniform(1, 8),
        "g": o_min * rng.uniform(3, 20),
        "f": float(rng.integers(2, 8)),
    }
    noise = SyntheticDisturbance(noise=0.02)
    return theta, one_to_many_dataset(logfp_truth(theta), PEERS, disturbance=noise, seed=seed)


def pairs_run(
    model: str, theta: dict[str, float], pairs: list[int], noise: float = 0.02, seed: int = 0
) -> Dataset:
    sizes = [1 << exponent for exponent in range(0, 19, 2)]
    pieces = [Piece(sizes[-1], theta)]
    noisy = SyntheticDisturbance(noise=noise)
    return pairs_dataset(
        load_model(model), pieces, sizes, pairs=pairs, samples=20, disturbance=noisy, seed=seed
    )


def test_lop_predicts_the_published_round_trips_and_its_overhead_the_posts() -> None:
    run = one_to_many_dataset(lop_truth(identifiable(SEND), OVERHEAD), PEERS)
    curve = chiplog.fit(run, "lop").predict(8, peers=P)
    assert curve.seconds / np.array(P) == pytest.approx(1e-6 * np.array(SEND_ROUND_TRIPS), rel=2e-3)
    assert curve.quantity == "round_trip"
    posts = chiplog.fit(run, "lop-overhead").predict(8, peers=P)
    assert posts.seconds == pytest.approx(1e-6 * np.array(O_S), rel=2e-3)
    assert posts.quantity == "o_s"


@pytest.mark.parametrize("seed", range(6))
def test_logfp_predicts_drawn_networks_inside_its_intervals(seed: int) -> None:
    theta, run = drawn_logfp(seed)
    fit = chiplog.fit(run, "logfp")
    truth = load_model("logfp").seconds(points("one_to_many", 8, peers=PEERS), theta)
    found = fit.predict(8, peers=PEERS)
    assert found.seconds == pytest.approx(truth, rel=0.04)
    inside = (found.low_seconds <= truth) & (truth <= found.high_seconds)
    assert np.mean(inside) >= 0.9
    assert not found.extrapolated.any()
    posts = fit.predict(8, peers=PEERS, quantity="o_s")
    o = theta["o_min"] + theta["o_max"] / np.array(PEERS)
    assert posts.seconds == pytest.approx(o, rel=0.03)


def test_peers_and_sizes_that_were_not_measured_are_marked_and_arrays_broadcast() -> None:
    _, run = drawn_logfp(1)
    found = chiplog.fit(run, "logfp").predict([[8], [64]], peers=[1, 16, 17])
    assert found.seconds.shape == found.extrapolated.shape == (2, 3)
    assert found.extrapolated.tolist() == [[False, False, True], [True, True, True]]
    assert np.all(found.low_seconds < found.seconds)
    assert [row["peers"] for row in found.rows] == [1, 16, 17] * 2


def test_logp_predicts_the_line_over_the_peers() -> None:
    theta = {"L": 5e-6, "o_s": 0.5e-6, "o_r": 0.0, "g": 2e-6}
    truth = {
        "one_to_many": (load_model("logp"), theta),
        "send_overhead": (load_model("logp"), theta),
    }
    run = one_to_many_dataset(truth, PEERS, disturbance=SyntheticDisturbance(noise=0.01))
    found = chiplog.fit(run, "logp").predict(8, peers=[1, 9, 16])
    assert found.seconds == pytest.approx([11e-6, 27e-6, 41e-6], rel=0.02)


def test_a_number_of_peers_that_the_data_leave_open_is_refused_with_what_would_tell_it() -> None:
    theta = {"L": 5e-6, "o_min": 1e-6, "o_max": 1e-6, "g": 0.5e-6, "f": 3.0}
    run = one_to_many_dataset(
        logfp_truth(theta), PEERS, disturbance=SyntheticDisturbance(noise=0.02)
    )
    fit = chiplog.fit(run, "logfp")
    inside = fit.predict(8, peers=16).seconds
    truth = load_model("logfp").seconds(points("one_to_many", 8, peers=16), theta)
    assert inside == pytest.approx(truth, rel=0.02)
    with pytest.raises(UsageError, match=r"f is not identified.*pattern one_to_many"):
        fit.predict(8, peers=40)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", ["max-rate", "max-rate-4", "max-rate-modified", "postal"])
def test_models_of_pairs_predict_half_round_trips_of_drawn_nodes(model: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = {"s0": 10 ** rng.uniform(-6, -5), "R_C": 2e9, "R_N": rng.uniform(3e9, 12e9)}
    if model == "max-rate-4":
        theta |= {"R_Cb": theta.pop("R_C"), "R_Ci": 1e9}
    if model == "postal":
        del theta["R_N"]
    pairs = [1, 2, 4, 8]
    run = pairs_run(model, theta, pairs, seed=seed)
    fit = chiplog.fit(run, model)
    sizes = np.array([[1], [4096], [1 << 18]])
    truth = load_model(model).seconds(points("pairs", sizes, pairs=[pairs]), theta) / 2
    found = fit.predict(sizes, pairs=pairs)
    assert found.seconds == pytest.approx(truth, rel=0.05)
    assert np.mean((found.low_seconds <= truth) & (truth <= found.high_seconds)) >= 0.9
    assert fit.predict(4096, pairs=[8, 9]).extrapolated.tolist() == [False, True]
    assert fit.predict([1 << 18, 1 << 23], pairs=1).extrapolated.tolist() == [False, True]


def test_wrong_arguments_are_refused_by_their_names() -> None:
    _, run = drawn_logfp(2)
    fit = chiplog.fit(run, "logfp")
    for call, words in (
        (lambda: fit.predict(8), "peers: LogfP predicts times by size and number of peers"),
        (lambda: fit.predict(8, pairs=2), "pairs: LogfP has no number of such; give peers"),
        (lambda: fit.predict(8, peers=0), "peers: is 0; it accepts 1 or more"),
        (lambda: fit.predict(8, peers=1.5), "peers: accepts whole numbers only"),
        (
            lambda: fit.predict(8, peers=1, quantity="L"),
            "quantity: is 'L'; with peers, LogfP takes",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            call()


def test_plots_have_points_and_lines_of_each_size_and_each_number_of_pairs() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    _, run = drawn_logfp(3)
    axes = chiplog.fit(run, "logfp").plot()
    assert [line.get_label() for line in axes.lines] == ["measured", "LogfP"]
    assert axes.get_xlabel() == "peers p"
    pairs = pairs_run("max-rate", {"s0": 3e-6, "R_C": 2e9, "R_N": 7e9}, [1, 4])
    axes = chiplog.fit(pairs, "max-rate").plot()
    assert [line.get_label() for line in axes.lines] == [
        "measured, k = 1",
        "max-rate, k = 1",
        "measured, k = 4",
        "max-rate, k = 4",
    ]
    assert chiplog.fit(run, "lop-overhead").plot().get_ylabel() == "o_s(p) (s)"
