"""One process to many at several message sizes: one parameter set where that predicts, else a fit of each size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import Truth, logfp_truth, lop_truth, one_to_many_dataset

import chiplog
from chiplog.cli.fit_text import fits_text
from chiplog.collectives.algorithm import Task
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit
from chiplog.models.lop_paper import identifiable
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.prediction.predict import predict

PEERS = range(1, 17)
LOGFP = {
    "L": 5e-6,
    "o_min": 0.2e-6,
    "o_max": 1.6e-6,
    "g": 5e-6,
    "f": 7.0,
    "G": 0.5e-9,
    "O_s": 2e-11,
}


def run_of(
    truth: Callable[[int], Truth], sizes: Sequence[int], noise: float = 0.02, seed: int = 0
) -> Dataset:
    parts = [
        one_to_many_dataset(
            truth(size),
            PEERS,
            message_bytes=size,
            disturbance=SyntheticDisturbance(noise=noise),
            seed=seed + size,
        )
        for size in sizes
    ]
    series = tuple(
        replace(one, record_id=one.record_id + 100_000 * number)
        for number, part in enumerate(parts)
        for one in part.series
    )
    return replace(parts[0], series=series)


def value_of(found: Fit, symbol: str) -> float:
    value = found.segments[0].parameters[symbol].value
    assert value is not None
    return value


@pytest.mark.parametrize("sizes", [(1, 8192), (1, 1024, 16384)])
def test_one_logfp_holds_for_all_sizes_of_a_network_with_costs_per_byte(
    sizes: tuple[int, ...],
) -> None:
    (found,) = fit(run_of(lambda _: logfp_truth(LOGFP), sizes), ["logfp"])
    assert [(one.first_bytes, one.last_bytes) for one in found.segments] == [(1, sizes[-1])]
    for symbol, tolerance in {"L": 0.02, "g": 0.02, "G": 0.03, "O_s": 0.05, "o_min": 0.02}.items():
        assert value_of(found, symbol) == pytest.approx(LOGFP[symbol], rel=tolerance)
        parameter = found.segments[0].parameters[symbol]
        assert parameter.low is not None and parameter.high is not None
        assert parameter.low * 0.98 <= LOGFP[symbol] <= parameter.high * 1.02
    assert value_of(found, "f") == 7
    assert "costs of each further byte: G of the network" in fits_text([found])


@pytest.mark.parametrize("seed", range(5))
def test_drawn_networks_are_predicted_at_sizes_that_were_not_measured(seed: int) -> None:
    rng = np.random.default_rng(seed)
    o_min = 10 ** rng.uniform(-7, -6.3)
    theta = {
        "L": 10 ** rng.uniform(-6, -5),
        "o_min": o_min,
        "o_max": o_min * rng.uniform(1, 8),
        "g": o_min * rng.uniform(4, 20),
        "f": float(rng.integers(1, 8)),
        "G": 10 ** rng.uniform(-10.3, -9),
        "O_s": 10 ** rng.uniform(-12, -11),
    }
    run = run_of(lambda _: logfp_truth(theta), (1, 4096), seed=seed)
    found = chiplog.fit(run, "logfp").predict(2048, peers=[1, 4, 9, 16])
    truth = load_model("logfp").seconds(points("one_to_many", 2048, peers=[1, 4, 9, 16]), theta)
    assert found.seconds == pytest.approx(truth, rel=0.04)
    assert not found.extrapolated.any()


def test_lop_and_its_overhead_have_a_cost_per_byte_too() -> None:
    send = identifiable((22.4558e-6, -0.0140, 9.1637e-6, 0.0174e-6, -0.0625, 101.3065))
    curve, posts = {**send, "G": 0.4e-9}, {"l1": 0.52e-6, "l2": 0.84e-6, "l3": -0.12, "O_s": 3e-11}
    run = run_of(lambda _: lop_truth(curve, posts), (1, 8192), noise=0.005)
    found, overhead = fit(run, ["lop", "lop-overhead"])
    assert len(found.segments) == len(overhead.segments) == 1
    assert value_of(found, "G") == pytest.approx(0.4e-9, rel=0.03)
    assert value_of(overhead, "O_s") == pytest.approx(3e-11, rel=0.05)
    row = predict((found, overhead), "one-to-many", Task(9, 4096))[0]
    theta: Mapping[str, float] = curve
    trip = load_model("lop").seconds(points("one_to_many", 4096, peers=8), theta)[0]
    first = load_model("lop-overhead").seconds(points("send_overhead", 4096), posts)[0]
    assert row.seconds == pytest.approx(trip / 2 - first, rel=0.02)
    assert not row.extrapolated


def test_sizes_that_no_cost_per_byte_joins_stand_side_by_side_with_the_reason() -> None:
    def truth(size: int) -> Truth:
        slower = {"g": 2e-6, "L": 20e-6, "f": 3.0} if size > 1 else {}
        return logfp_truth({**LOGFP, "G": 0.0, **slower})

    (found,) = fit(run_of(truth, (1, 8192)), ["logfp"])
    assert [one.first_bytes for one in found.segments] == [1, 8192]
    assert [one.parameters["f"].value for one in found.segments] == [7, 3]
    assert any("No cost per byte joins the sizes" in one for one in found.warnings)
    assert "per byte, 1 B to 8 KiB, in ns/B: L +1.8" in fits_text([found])
    between = chiplog.fit(run_of(truth, (1, 8192)), "logfp").predict(4096, peers=1)
    assert between.extrapolated.all()


def test_barriers_are_predicted_for_the_size_that_is_asked() -> None:
    fits = fit(run_of(lambda _: logfp_truth(LOGFP), (1, 8192)), ["logfp"])
    small, large = (
        predict(fits, "barrier", Task(8, size, peers=1), algorithm="dissemination")[0].seconds
        for size in (1, 4096)
    )
    assert large - small == pytest.approx(3 * 4095 * (0.5e-9 + 2e-11), rel=0.1)
