"""The model's error is in the interval of every prediction, beside what the data leave of its parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.result import Band, Curve, Fit, FitError
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.model_error import model_error, with_model_error
from chiplog.prediction.predict import predict
from chiplog.schedule.goal import read_goal

VALUES = {"L": 2e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 1.5e-6, "G": 1e-9}
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


def banded(*widths: float) -> Fit:
    sizes = np.array([1, 1 << 20])
    band = Band("half_round_trip", sizes, np.array(widths))
    return replace(fit_of("loggp", VALUES), bands=(band,))


def test_the_band_at_the_sizes_of_the_messages_is_the_models_error() -> None:
    fit = banded(0.05, 0.5)
    assert model_error(fit, {1}) == pytest.approx(math.log(1.05))
    assert model_error(fit, {1, 1 << 20}) == pytest.approx(math.log(1.5))


def test_without_bands_the_residuals_of_the_curves_are() -> None:
    sizes = np.arange(1, 41)
    measured = np.full(40, 1e-6)
    predicted = measured * np.exp(np.linspace(0.0, 0.39, 40))
    curve = Curve("half_round_trip", sizes, measured, measured, measured, predicted)
    assert model_error(fit_of("loggp", VALUES, curves=[curve]), {8}) == pytest.approx(0.38)


def test_a_fit_without_curves_has_the_error_that_it_states() -> None:
    fit = replace(fit_of("loggp", VALUES), error=FitError(9, 0.2, 0.1, 0.4, 1.2))
    assert model_error(fit, {8}) == pytest.approx(math.log(1.2))
    assert model_error(fit_of("loggp", VALUES), {8}) == 0.0


def test_an_interval_never_gets_narrower_and_stays_positive() -> None:
    found = with_model_error(AnswerSpan(2.0, 1.9, 2.2), math.log(3.0))
    assert 0.0 < found.low < 2.0 / 3.0 * 1.01
    assert found.high > 6.0 * 0.99
    assert with_model_error(AnswerSpan(2.0, 1.9, 2.2), 0.0) == AnswerSpan(2.0, 1.9, 2.2)
    assert with_model_error(AnswerSpan(2.0, 0.0, 2.2), 0.1).low == 0.0


def test_errors_of_trains_widen_only_what_waits_for_a_message_that_was_sent_before(
    tmp_path: Path,
) -> None:
    sizes = np.array([1, 1 << 20])
    alone, trains = (
        Band(quantity, sizes, np.full(2, width))
        for quantity, width in (("half_round_trip", 0.1), ("train", 1.0))
    )
    fit = replace(fit_of("loggp", VALUES), bands=(alone, trains))
    assert model_error(fit, {8}, has_trains=False) == pytest.approx(math.log(1.1))
    assert model_error(fit, {8}) == pytest.approx(math.log(2.0))

    def high_over_middle(goal: str) -> float:
        path = tmp_path / "schedule.goal"
        path.write_text(goal)
        answer = FittedParameters(fit).simulate(read_goal(path), follow=True)
        return answer.high_ps / answer.simulation.makespan_ps

    assert high_over_middle(GOAL) == pytest.approx(1.1, rel=1e-3)
    several = "".join(f"l{number}: send 8b to 1\n" for number in range(3))
    received = several.replace("send", "recv").replace("to 1", "from 0")
    in_a_row = f"num_ranks 2\nrank 0 {{\n{several}}}\nrank 1 {{\n{received}}}\n"
    gaps, whole = 2 * 1.5e-6, 2 * 1.5e-6 + 4e-6 + 7e-9
    assert high_over_middle(in_a_row) == pytest.approx(1.1 + 0.9 * gaps / whole, rel=5e-3)


def test_predictions_and_simulations_of_one_fit_have_the_same_error(tmp_path: Path) -> None:
    path = tmp_path / "one.goal"
    path.write_text(GOAL)
    fit = banded(0.2, 0.2)
    row = predict([fit], "barrier", Task(8))[0]
    assert row.low == pytest.approx(row.seconds / 1.2, rel=1e-6)
    assert row.high == pytest.approx(row.seconds * 1.2, rel=1e-6)
    found = FittedParameters(fit).simulate(read_goal(path))
    makespan = found.simulation.makespan_ps
    assert found.low_ps == pytest.approx(makespan / 1.2, rel=1e-6)
    assert found.high_ps == pytest.approx(makespan * 1.2, rel=1e-6)


def test_the_error_concerns_messages_but_not_what_is_computed_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "one.goal"
    fitted = FittedParameters(banded(0.2, 0.2))
    path.write_text(GOAL)
    alone = fitted.simulate(read_goal(path))
    computing = "l0: calc 1000000\nl1: send 8b to 1\nl1 requires l0\n"
    path.write_text(GOAL.replace("l1: send 8b to 1\n", computing))
    after = fitted.simulate(read_goal(path))
    assert after.low_ps - 10**9 == pytest.approx(alone.low_ps, abs=2)
    assert after.high_ps - 10**9 == pytest.approx(alone.high_ps, abs=2)
    assert alone.low_ps < alone.simulation.makespan_ps < alone.high_ps
