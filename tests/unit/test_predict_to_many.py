"""Predictions of one process to many: t_1:n and t_list of the LoP paper, and those of LogfP and LogP."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import logfp_truth, lop_truth, one_to_many_dataset

from chiplog.collectives.algorithm import Task
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit
from chiplog.models.lop_paper import identifiable
from chiplog.models.registry import load_model
from chiplog.prediction.predict import predict
from chiplog.prediction.result import Prediction

SEND = (22.4558e-6, -0.0140, 9.1637e-6, 0.0174e-6, -0.0625, 101.3065)
OVERHEAD = {"l1": 0.52e-6, "l2": 0.84e-6, "l3": -0.12}
ALL_PEERS = tuple(range(1, 65))
P = (1, 2, 4, 8, 16, 64)
ROUND_TRIPS = (22.7680, 11.8571, 7.1979, 6.0609, 6.9878, 9.3529)
O_S = (1.4745, 0.9668, 0.7365, 0.6266, 0.5729, 0.5331)
T_ONE_TO_MANY = (9.909, 7.941, 6.288, 8.061, 23.717, 171.334)
T_LIST = (9.909, 8.908, 8.498, 12.447, 32.310, 204.922)


@pytest.fixture(scope="module")
def lop_run() -> Dataset:
    return one_to_many_dataset(lop_truth(identifiable(SEND), OVERHEAD), ALL_PEERS, samples=8)


@pytest.fixture(scope="module")
def lop_fits(lop_run: Dataset) -> tuple[Fit, ...]:
    return fit(lop_run, ["lop", "lop-overhead"])


def rows_of(fits: tuple[Fit, ...], peers: int, **options: object) -> dict[str, Prediction]:
    task = Task(peers + 1, 8)
    rows = predict(fits, "one-to-many", task, **options)  # type: ignore[arg-type]
    return {row.algorithm: row for row in rows}


@pytest.mark.parametrize(
    ("peers", "single", "listed"), list(zip(P, T_ONE_TO_MANY, T_LIST, strict=True))
)
def test_the_times_as_printed_are_those_of_the_paper(
    lop_fits: tuple[Fit, ...], peers: int, single: float, listed: float
) -> None:
    rows = rows_of(lop_fits, peers, paper_literal=True)
    assert 1e6 * rows["one-by-one"].seconds == pytest.approx(single, rel=0.01)
    assert 1e6 * rows["list"].seconds == pytest.approx(listed, rel=0.01)
    assert set(rows) == {"one-by-one", "list"}


@pytest.mark.parametrize(("peers", "trip", "o"), list(zip(P, ROUND_TRIPS, O_S, strict=True)))
def test_the_consistent_times_are_half_the_round_trip_and_wait_for_the_posts_of_a_list(
    lop_fits: tuple[Fit, ...], peers: int, trip: float, o: float
) -> None:
    rows = rows_of(lop_fits, peers)
    single = peers * trip / 2 - O_S[0]
    assert 1e6 * rows["one-by-one"].seconds == pytest.approx(single, rel=5e-3)
    assert 1e6 * rows["list"].seconds == pytest.approx(single + (peers - 1) * o, rel=5e-3)
    assert rows["one-by-one"].low <= rows["one-by-one"].seconds <= rows["one-by-one"].high
    assert rows["lower-bound"].seconds <= rows["one-by-one"].seconds
    assert not rows["list"].extrapolated


@pytest.mark.parametrize("seed", range(5))
def test_logfp_says_when_the_last_message_of_a_drawn_network_arrives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    o_min = 10 ** rng.uniform(-7, -6.3)
    theta = {"L": 4e-6, "o_min": o_min, "o_max": 3 * o_min, "g": o_min * rng.uniform(4, 12)}
    theta["f"] = float(rng.integers(2, 7))
    run = one_to_many_dataset(
        logfp_truth(theta), range(1, 17), disturbance=SyntheticDisturbance(noise=0.02), seed=seed
    )
    fits = fit(run, ["lop", "lop-overhead", "logfp"])
    rows = rows_of(fits, 12)
    o = o_min + 3 * o_min / 12
    waits = max(11 * o, (12 - theta["f"]) * theta["g"])
    assert rows["one-by-one"].model == "logfp"
    assert rows["one-by-one"].seconds == pytest.approx(theta["L"] + o + waits, rel=0.06)
    listed = theta["L"] + 12 * o + (12 - theta["f"]) * theta["g"]
    assert rows["list"].seconds == pytest.approx(listed, rel=0.06)
    assert (rows["one-by-one"].verdict, rows["list"].verdict) == ("fastest", "slower")


def test_logp_says_when_the_last_message_arrives() -> None:
    logp = load_model("logp")
    theta = {"L": 5e-6, "o_s": 0.5e-6, "o_r": 0.0, "g": 2e-6}
    truth = {"one_to_many": (logp, theta), "send_overhead": (logp, theta)}
    fits = fit(one_to_many_dataset(truth, range(1, 17)), ["logp"])
    rows = rows_of(fits, 9)
    assert rows["one-by-one"].seconds == pytest.approx(5.5e-6 + 8 * 2e-6, rel=1e-3)
    assert rows["list"].seconds == pytest.approx(9.5e-6 + 8 * 2e-6, rel=1e-3)


def test_a_list_that_was_measured_is_not_derived(lop_run: Dataset) -> None:
    theta = {"L": 2e-6, "o_min": 0.1e-6, "o_max": 0.1e-6, "g": 1e-6, "f": 3.0}
    listed = one_to_many_dataset(logfp_truth(theta), ALL_PEERS, samples=8)
    series = tuple(replace(one, posting="list") for one in listed.series)
    both = replace(lop_run, series=(*lop_run.series, *series))
    rows = rows_of(fit(both, ["logfp"]), 8, model="logfp")
    o = 0.1e-6 + 0.1e-6 / 8
    assert rows["list"].seconds == pytest.approx(2e-6 + o + 5e-6, rel=0.01)
    only = rows_of(fit(replace(lop_run, series=series), ["logfp"]), 8)
    assert set(only) == {"list", "lower-bound"}
    with pytest.raises(UsageError, match="posted one by one"):
        rows_of(fit(replace(lop_run, series=series), ["logfp"]), 8, algorithm="one-by-one")


def test_more_peers_than_were_measured_are_said_to_be(lop_fits: tuple[Fit, ...]) -> None:
    row = rows_of(lop_fits, 70)["one-by-one"]
    assert row.extrapolated and row.reason == "70 peers, up to 64 were measured"
    assert predict(lop_fits, "one-to-many", Task(100, 8), peers=3)[0].peers == 3


def test_what_cannot_be_said_is_refused(lop_fits: tuple[Fit, ...]) -> None:
    curve, overhead = lop_fits
    with pytest.raises(UsageError, match=r"lop with lop-overhead, logfp or logp"):
        rows_of((curve,), 8)
    with pytest.raises(UsageError, match="no model in the file predicts one-to-many"):
        rows_of((overhead,), 8)
    with pytest.raises(UsageError, match="3 ranks have 1 to 2 peers"):
        predict(lop_fits, "one-to-many", Task(3, 8), peers=3)
    with pytest.raises(UsageError, match="there are one-by-one, list"):
        rows_of(lop_fits, 8, algorithm="linear")
    with pytest.raises(UsageError, match="does not predict one-to-many"):
        rows_of(lop_fits, 8, model="loggp")


def test_a_printed_time_below_zero_is_refused() -> None:
    theta = {"L": 1e-6, "o_min": 1e-6, "o_max": 2e-6, "g": 2e-6, "f": 3.0}
    fits = fit(one_to_many_dataset(logfp_truth(theta), range(1, 17)), ["lop", "lop-overhead"])
    with pytest.raises(UsageError, match="overheads of whole posts off the round trip of one"):
        rows_of(fits, 4, paper_literal=True)
