"""How long a measurement will go on."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.measurement.progress import ProgressBar, TimeLeft


@pytest.mark.parametrize(
    ("per_record", "factor"),
    [(0.02, 0.5), (0.0, 6.0), (0.3, 0.0), (0.01, 1.0)],
    ids=["mixed", "slow-messages", "slow-records", "as-predicted"],
)
def test_after_a_tenth_of_the_records_the_time_left_is_right_within_a_factor_of_1_5(
    per_record: float, factor: float
) -> None:
    generator = np.random.default_rng(7)
    predictions = generator.permutation(np.repeat(np.geomspace(1e-6, 0.1, 60), 12))
    times = (per_record + factor * predictions) * np.exp(0.3 * generator.normal(size=720))
    left = TimeLeft()
    left.expect(predictions.tolist())
    for predicted, took in zip(predictions[:72], times[:72], strict=True):
        left.done(predicted, took)
    truth = times[72:].sum()
    assert truth / 1.5 < left.seconds < truth * 1.5


def test_before_the_first_record_the_prediction_stands() -> None:
    left = TimeLeft()
    left.expect([1.0, 2.0])
    assert left.seconds == 3.0


def test_small_records_say_nothing_of_large_ones() -> None:
    left = TimeLeft()
    left.expect([1e-6] * 10 + [10.0])
    for _ in range(10):
        left.done(1e-6, 0.01)
    assert left.seconds == pytest.approx(10.0, rel=0.01)


def test_no_more_time_is_left_than_the_budget_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chiplog.measurement.progress.time.monotonic", lambda: 100.0)
    with ProgressBar("shm") as bar:
        bar.expect(30.0, 30.0)
        bar.ends_by(105.0, 0.2)
        assert bar.seconds_left(100.0) == 5.0
