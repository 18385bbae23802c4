"""States told from noisy indicators in the order of time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from chiplog.machine_state.blocks import noise_scale, states_in_time

Floats = NDArray[np.float64]
RECORDS = 300


def differs_by(least: float, logs: Floats):  # type: ignore[no-untyped-def]
    def apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
        distance = np.abs(np.median(logs[one], axis=0) - np.median(logs[other], axis=0))
        return bool(np.max(distance) > np.log1p(least))

    return apart


def told(logs: Floats) -> NDArray[np.int64]:
    return states_in_time(logs, differs_by(0.05, logs))


NOISES = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape),
    "heavy": lambda rng, shape: rng.standard_t(3, shape),
    "two modes": lambda rng, shape: 3.0 * (rng.random(shape) < 0.3) + 0.3 * rng.random(shape),
    "outliers": lambda rng, shape: rng.standard_normal(shape) + 20.0 * (rng.random(shape) < 0.05),
}


@pytest.mark.parametrize("noise", NOISES)
def test_noise_that_is_new_in_each_record_is_no_state(noise: str) -> None:
    """Of 20 runs with 10 % noise no run loses more than a tenth of its records to an invented state."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        state = told(0.1 * NOISES[noise](rng, (RECORDS, 3)))
        assert np.max(np.bincount(state)) >= 0.9 * RECORDS


@pytest.mark.parametrize(
    ("spell", "ratio", "noise"), [(40, 1.05, 0.02), (15, 1.3, 0.1), (6, 2.0, 0.1)]
)
def test_two_states_that_take_turns_are_told_apart(spell: int, ratio: float, noise: float) -> None:
    rng = np.random.default_rng(3)
    truth = (np.arange(RECORDS) // spell) % 2
    for _ in range(10):
        logs = truth[:, None] * np.log(ratio) * np.array([1.0, 1.2, 0.0])
        state = told(logs + noise * rng.standard_normal((RECORDS, 3)))
        of_truth = [
            [np.sum((state == one) & (truth == true)) for true in (0, 1)] for one in set(state)
        ]
        assert sum(map(max, of_truth)) >= 0.95 * RECORDS
        assert len(of_truth) <= 3


def test_a_state_that_comes_back_is_the_same_state() -> None:
    logs = np.log(np.repeat([1.0, 1.5, 1.0, 1.5], 20))[:, None]
    assert told(logs).tolist() == np.repeat([0, 1, 0, 1], 20).tolist()


def test_levels_that_are_not_apart_are_one_state_however_sure_they_differ() -> None:
    logs = np.log(np.repeat([1.0, 1.04], 100))[:, None]
    assert np.unique(told(logs)).size == 1


def test_one_record_and_none_that_differ_have_one_state() -> None:
    assert told(np.zeros((1, 2))).tolist() == [0]
    assert told(np.zeros((30, 2))).tolist() == [0] * 30


def test_the_noise_is_that_within_states_not_that_between_them() -> None:
    rng = np.random.default_rng(5)
    quiet = 0.03 * rng.standard_normal((400, 1))
    states = np.log(np.repeat([1.0, 2.0], 200))[:, None]
    assert noise_scale(quiet + states) == pytest.approx(0.03, rel=0.2)
