"""What `chiplog predict` prints where there is nothing to compare, and where nobody sends."""

from __future__ import annotations

import pytest
from prediction import fit_of

from chiplog.cli.prediction_table import print_predictions
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import OPERATIONS, algorithms
from chiplog.fitting.result import Fit
from chiplog.jobs.prediction_page import prediction_page
from chiplog.prediction.over_ranks import predict_over_ranks
from chiplog.prediction.predict import models_of, predict
from chiplog.report.document import text_of

LOGGP = fit_of("loggp", {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9})
OPERATIONS_OF_LOGGP = [name for name in OPERATIONS if LOGGP.model in models_of(name)]


@pytest.fixture
def fit() -> Fit:
    return LOGGP


@pytest.mark.parametrize("operation", OPERATIONS_OF_LOGGP)
def test_an_algorithm_alone_has_no_verdict(
    operation: str, fit: Fit, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is fastest, nor unclear, where nothing else was asked for."""
    for name in algorithms(operation):
        rows = predict([fit], operation, Task(8, 64), algorithm=name)
        assert [row.verdict for row in rows] == ["only", "bound"]
        print_predictions(rows)
        shown = capsys.readouterr().out
        assert name in shown and "verdict" not in shown
        assert not {"fastest", "unclear", "only"} & set(shown.split())


@pytest.mark.parametrize("operation", OPERATIONS_OF_LOGGP)
def test_of_a_single_rank_all_algorithms_take_the_same_time_and_the_reason_is_printed(
    operation: str, fit: Fit, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = predict([fit], operation, Task(1, 64))
    assert {row.verdict for row in rows[:-1]} == {"same" if len(rows) > 2 else "only"}
    print_predictions(rows)
    shown = capsys.readouterr().out
    assert "unclear" not in shown and "fastest" not in shown
    assert shown.endswith("A single rank sends nothing, so that every algorithm takes no time.\n")


def test_the_page_of_a_single_algorithm_names_no_winner(fit: Fit) -> None:
    def page(algorithm: str | None) -> list[str]:
        rows = predict_over_ranks(
            lambda task: predict([fit], "allreduce", task, algorithm=algorithm), Task(8, 64)
        )
        return [text_of(section.title) for section in prediction_page(rows).sections]

    assert page(None) == ["Which algorithm wins", "Time over the number of ranks"]
    assert page("ring") == ["Time over the number of ranks"]
