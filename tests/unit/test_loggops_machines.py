"""Machines drawn at random are the simulated network's, and their disturbances are as large as they say."""

from __future__ import annotations

import numpy as np
import pytest
from loggops_machines import (
    NOISES,
    PROTOCOL,
    SLOPE,
    draw_machine,
    loggops_dataset,
    machine,
    sim_target,
)
from simulated import simulated_runs
from synthetic import Drift, TwoStates, exact_seconds

from chiplog.plan.request import SeriesRequest

ROUNDING = 0.52e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_probe_measures_a_drawn_machine_as_it_was_drawn(seed: int) -> None:
    drawn = draw_machine(seed, changes=1, slopes=2)
    ends = [piece.last_bytes for piece in drawn.pieces if piece.last_bytes]
    sizes = (1, *ends, *(end + 1 for end in ends), 1 << 20)
    series = tuple(SeriesRequest("prtt", size, train) for size in sizes for train in (1, 10))
    for one in next(simulated_runs(sim_target(drawn), series, samples=3)).series:
        exact = exact_seconds(drawn.pieces, one.pattern, one.message_bytes, one.train)
        assert float(np.median(one.seconds)) == pytest.approx(exact, abs=ROUNDING, rel=0.0)


def test_borders_are_what_was_asked_for() -> None:
    drawn = draw_machine(3, changes=2, slopes=1)
    assert len(drawn.last_bytes(PROTOCOL)) == 2
    (end,) = drawn.last_bytes(SLOPE)
    below, above = (exact_seconds(drawn.pieces, "prtt", size) for size in (end, end + 1))
    assert above == pytest.approx(below, rel=0.01)
    for end in drawn.last_bytes(PROTOCOL):
        below, above = (exact_seconds(drawn.pieces, "prtt", size) for size in (end, end + 1))
        assert above > 1.29 * below


def test_lines_that_meet_below_zero_are_refused() -> None:
    one = machine(L=5e-6, o_s=1e-6, o_r=1e-6, g=2e-6, G=0.5e-9)
    with pytest.raises(ValueError, match="g = -"):
        one.with_border(1 << 16, SLOPE, G=0.9e-9)


def test_a_drift_has_its_deviation_and_its_correlation() -> None:
    logs = np.log(Drift(0.9, 0.05).factors(100_000, np.random.default_rng(0)))
    assert logs.std() == pytest.approx(0.05, rel=0.06)
    assert np.corrcoef(logs[1:], logs[:-1])[0, 1] == pytest.approx(0.9, abs=0.02)


def test_states_take_turns_of_their_length_for_their_share() -> None:
    slow = TwoStates(1.3, 0.4, 20.0).factors(100_000, np.random.default_rng(0)) > 1.0
    assert slow.mean() == pytest.approx(0.4, abs=0.04)
    turns = np.count_nonzero(slow[1:] & ~slow[:-1])
    assert slow.sum() / turns == pytest.approx(20.0, rel=0.1)


@pytest.mark.parametrize("noise", ["log-normal", "skewed", "outliers"])
def test_the_median_of_the_samples_is_the_truth(noise: str) -> None:
    drawn = draw_machine(0, changes=0, slopes=0)
    dataset = loggops_dataset(drawn, NOISES[noise], sizes=(64,), samples=20_000, visits=1)
    for one in dataset.series:
        exact = exact_seconds(
            drawn.pieces, one.pattern, one.message_bytes, one.train, one.delay_seconds
        )
        excess = 1.01 if noise == "outliers" else 1.002
        assert 0.998 < one.median / exact < excess


def test_the_reference_witnesses_the_state_and_delays_keep_their_length() -> None:
    drawn = draw_machine(1, changes=0, slopes=0)
    states = loggops_dataset(drawn, NOISES["states"], samples=200)
    factors = []
    for one in states.series:
        assert one.reference is not None
        seen = one.reference.half_round_trip_seconds / exact_seconds(drawn.pieces, "prtt", 1) * 2.0
        is_slow = seen > 1.15
        if one.pattern == "receive_overhead":
            truth = exact_seconds(drawn.pieces, one.pattern, one.message_bytes, one.train)
            assert one.median / truth == pytest.approx(1.3 if is_slow else 1.0, rel=0.05)
        factors.append(is_slow)
    assert 0.1 < np.mean(factors) < 0.8
