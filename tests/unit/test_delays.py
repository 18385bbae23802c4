"""Delays are longer than the gap between messages, or what they show is a bound and not an overhead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic import Ask, SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.delays import TrainGap, TrainGaps, short_delays, without_short_delays
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit, Parameter
from chiplog.jobs.measure import measure
from chiplog.models.piecewise import Piece
from chiplog.plan import PlanOptions, Request, SeriesRequest, StopRule
from chiplog.plan.delays import DelayChoice, sufficient_delay

O = 1e-6
SIZES = size_grid(1 << 14, per_octave=1)
SHORT = (
    Ask("prtt"),
    Ask("prtt", 10),
    Ask("prtt", 10, 1.0),
    Ask("prtt", 3, 1.0),
    Ask("receive_overhead", 4, 1.0),
)
"""The assessment without its fallback: every delay is a round trip."""


def network(g: float, o_s: float = O, o_r: float = O) -> dict[str, float]:
    return {"L": 1e-6, "o_s": o_s, "o_r": o_r, "g": g, "G": 0.5e-9}


def of_first_segment(found: Fit) -> Mapping[str, Parameter]:
    return found.segments[0].parameters


def as_received(dataset: Dataset, g: float) -> Dataset:
    """`dataset` with late receivers that wait for messages g apart, as the models' formulas do not say."""

    def late(seconds: np.ndarray, size: int, n: int, d: float) -> np.ndarray:
        apart = max(O + d, g + (size - 1) * 0.5e-9)
        return np.full_like(seconds, O + (n - 1) * apart)

    return replace(
        dataset,
        series=tuple(
            replace(one, seconds=late(one.seconds, one.message_bytes, one.train, one.delay_seconds))
            if one.pattern == "receive_overhead"
            else one
            for one in dataset.series
        ),
    )


@pytest.mark.parametrize("g", [8e-6, 12e-6, 20e-6, 50e-6])
def test_stored_delays_of_one_round_trip_bound_overheads_behind_higher_gaps(g: float) -> None:
    data = as_received(synthetic_dataset([Piece(None, network(g))], SIZES, asks=SHORT), g)
    found = of_first_segment(fit(data, ["loggp"], boundaries=None)[0])
    for symbol, truth in network(g).items():
        one = found[symbol]
        if one.identified:
            assert one.value == pytest.approx(truth, rel=0.03)
        else:
            assert one.low is not None and one.high is not None
            assert one.low <= truth <= one.high
    # Above 4 kB, one round trip is longer than a gap of 8 us: there, o_r is seen.
    assert found["o_r"].identified == (g < 10e-6)
    assert found["g"].identified
    L_half = found["L_half"].value
    assert L_half is not None
    assert (found["o_s"].high or 0.0) <= L_half * 1.001


def test_a_delay_is_short_where_the_gap_is_as_long_and_longer_ones_alone_count() -> None:
    asks = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.0), Ask("prtt", 10, 5.0))
    data = synthetic_dataset([Piece(None, network(20e-6))], (1, 64), asks=asks, visits=1)
    short = {data.series[index].delay_seconds for index in short_delays(data.series)}
    round_trips = {one.median for one in data.series if one.train == 1}
    assert sorted(short) == pytest.approx(sorted(round_trips))
    assert len(without_short_delays(data.series)) == len(data.series) - 2
    low = synthetic_dataset([Piece(None, network(2e-6))], (1, 64), asks=asks, visits=1)
    assert not short_delays(low.series)


def test_the_delay_follows_from_the_first_trains() -> None:
    assert sufficient_delay(TrainGap(6e-6, 2e-6, 0.0)) == "rtt"
    assert sufficient_delay(TrainGap(6e-6, 6e-6, 0.0)) == "rtt2"
    assert sufficient_delay(TrainGap(6e-6, 50e-6, 1e-6)) == "rtt2"
    assert sufficient_delay(TrainGap(1e-6, 100e-6, 1e-6)) == pytest.approx(201e3)
    assert sufficient_delay(TrainGap(6e-6, -1e-6, 9e-6)) == "rtt2"


def test_requests_get_longer_delays_at_sizes_whose_trains_show_high_gaps() -> None:
    asks = (Ask("prtt"), Ask("prtt", 10))
    # A round trip grows by 2 G a byte, a gap by G: above 28 kB one round trip is enough.
    data = synthetic_dataset([Piece(None, network(20e-6))], (1, 1 << 20), asks=asks, visits=1)
    choice = DelayChoice(data.series)

    def delays(size: int) -> list[float | str]:
        series = (
            SeriesRequest("prtt", size),
            SeriesRequest("prtt", size, 10, "rtt"),
            SeriesRequest("receive_overhead", size, 4, "rtt"),
            SeriesRequest("late_receiver", size, 1, "rtt"),
        )
        request = choice.applied(Request(1, 0, series, StopRule(0.1, 3, 3, 10**6)))
        return [one.delay_ns for one in request.series]

    assert delays(8) == [0, "rtt2", "rtt2", "rtt"]
    assert delays(1 << 19) == [0, "rtt", "rtt", "rtt"]


def test_without_trains_no_delay_changes() -> None:
    series = (SeriesRequest("receive_overhead", 8, 4, "rtt"),)
    request = Request(1, 0, series, StopRule(0.1, 3, 3, 10**6))
    assert DelayChoice().applied(request) == request
    assert TrainGaps().nearest(("send", "normal", None, 8)) is None


@pytest.mark.parametrize("g", [8, 12, 20, 50])
def test_a_simulated_network_of_high_gaps_is_measured_to_three_percent(
    g: int, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    sizes = tuple(1 << step for step in range(0, 15, 2))
    options = PlanOptions("sim", ("prtt",), sizes, visits=2)
    measure(f"sim:L=1us,o=1us,g={g}us,G=0.5ns", run, options, refine=False)
    (found,) = fit(read_run(run), ["loggp"])
    for segment in found.segments:
        for symbol, truth in {**network(g * 1e-6), "L_half": 3e-6}.items():
            assert segment.parameters[symbol].value == pytest.approx(truth, rel=0.03), symbol


def test_one_visit_is_enough_since_sizes_with_short_delays_are_visited_again(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run.jsonl"
    options = PlanOptions("sim", ("prtt",), (1, 64, 4096, 1 << 16, 1 << 18), visits=1, seed=3)
    measure("sim:L=1us,o=1us,g=20us,G=0.5ns", run, options, refine=False)
    (found,) = fit(read_run(run), ["loggp"], boundaries=None)
    o_r = of_first_segment(found)["o_r"]
    assert o_r.value == pytest.approx(O, rel=0.03)


def test_receives_that_bound_the_trains_leave_g_a_bound() -> None:
    truth = network(0.5e-6, o_r=9e-6)
    asks = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.5), Ask("receive_overhead", 1, 1.5))
    data = synthetic_dataset(
        [Piece(None, {**truth, "O_s": 0.0, "O_r": 0.0})], SIZES[:10], asks=asks
    )
    (found,) = fit(data, ["loggp"], boundaries=None)
    g = of_first_segment(found)["g"]
    assert not g.identified
    assert g.high == pytest.approx(9e-6, rel=0.01)
    assert found.segments[0].form == "receiver"
    assert found.error.max_relative < 0.01


def test_overheads_that_exceed_half_the_round_trip_are_said() -> None:
    asks = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.0))
    data = synthetic_dataset(
        [Piece(None, network(2e-6))], SIZES, asks=asks, disturbance=SyntheticDisturbance(noise=0.01)
    )
    receives = synthetic_dataset(
        [Piece(None, network(2e-6, o_r=5e-6))], SIZES, asks=(Ask("receive_overhead", 1, 1.5),)
    )
    both = Dataset(data.header, (*data.series, *receives.series), True, "both")
    (found,) = fit(both, ["loggp"], boundaries=None)
    assert not of_first_segment(found)["L"].identified
    assert any("o_s + o_r exceed L_half" in one for one in found.warnings)
