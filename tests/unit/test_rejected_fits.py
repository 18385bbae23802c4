"""A fit that its own check rejects is used by no command, unless it is asked for; then every output says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from prediction import fit_of

import chiplog
from chiplog.api.fitted import FittedModel
from chiplog.collectives.algorithm import Task
from chiplog.errors import UsageError
from chiplog.export.export_file import export_file
from chiplog.fitting.model_file import read_model, write_model
from chiplog.fitting.result import Fit, FitError
from chiplog.fitting.verdict import quality_of, rejection
from chiplog.jobs.prediction_page import prediction_page
from chiplog.jobs.simulated_model import fitted_parameters
from chiplog.prediction.predict import predict
from chiplog.prediction.result import predictions_to_json
from chiplog.report.markdown import render_document
from chiplog.tune.choice import tuning_to_json
from chiplog.tune.model_tuning import tune

VALUES = {"L": 2e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 1.5e-6, "G": 1e-9}
BAD = FitError(40, 0.96, 0.40, 7.71, 1.9)
ROUGH = FitError(40, 0.12, 0.09, 0.4, 1.12)
BUSY = "16 other programs ran on 2 CPUs"
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


def good() -> Fit:
    return fit_of("loggp", VALUES)


def bad(model: str = "loggp") -> Fit:
    return replace(fit_of(model, VALUES), error=BAD, busy=BUSY)


def model_file(folder: Path, *fits: Fit) -> Path:
    path = folder / "model.json"
    write_model(path, fits)
    return path


def schedule(folder: Path) -> Path:
    path = folder / "one.goal"
    path.write_text(GOAL)
    return path


def predicts(folder: Path, anyway: bool) -> None:
    predict([bad()], "barrier", Task(64), anyway=anyway)


def simulates(folder: Path, anyway: bool) -> None:
    chiplog.simulate(schedule(folder), model_file(folder, bad()), anyway=anyway)


def tunes(folder: Path, anyway: bool) -> None:
    tune(model_file(folder, bad()), "barrier", "2:8", "chiplog", folder / "out.json", anyway=anyway)


def exports_simgrid(folder: Path, anyway: bool) -> None:
    export_file(model_file(folder, bad()), "simgrid", folder / "out.xml", anyway=anyway)


def exports_loggopsim(folder: Path, anyway: bool) -> None:
    export_file(model_file(folder, bad()), "loggopsim", folder / "out.txt", anyway=anyway)


def predicts_in_python(folder: Path, anyway: bool) -> None:
    chiplog.predict(FittedModel(bad()), "bcast", ranks=8, anyway=anyway)


def predicts_round_trips(folder: Path, anyway: bool) -> None:
    FittedModel(bad()).predict([1, 1024], anyway=anyway)


USES = (
    predicts,
    simulates,
    tunes,
    exports_simgrid,
    exports_loggopsim,
    predicts_in_python,
    predicts_round_trips,
)


@pytest.mark.parametrize("use", USES)
def test_a_rejected_fit_is_refused_with_the_reason_and_what_to_measure(
    use: Callable[[Path, bool], None], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"off by 96 % on average \(771 % at worst\)") as refused:
        use(tmp_path, False)
    assert BUSY in str(refused.value)
    assert "measure again when it is idle" in str(refused.value)
    assert refused.value.exit_code == 2
    use(tmp_path, True)


def test_each_prediction_from_a_rejected_fit_says_so_also_in_json_and_on_the_page() -> None:
    rows = predict([bad()], "barrier", Task(64), anyway=True)
    written = predictions_to_json(rows)["rows"]
    assert all("96 % on average" in row["rejected"] for row in written)
    assert "Not to be relied on" in render_document(prediction_page(rows))
    assert {row.rejected for row in predict([good()], "barrier", Task(64))} == {None}


def test_a_tuning_from_a_rejected_fit_says_so_in_its_file_and_in_json(tmp_path: Path) -> None:
    path = model_file(tmp_path, bad())
    for program, version in (("chiplog", None), ("openmpi", "5.0.6"), ("ucc", None)):
        ranks = "8" if program == "ucc" else "2:8"
        written = tune(
            path,
            "barrier",
            ranks,
            program,
            tmp_path / "out",
            version=version,
            anyway=True,
        )
        assert "96 % on average" in written.files.text
        assert "96 % on average" in tuning_to_json(written.tuning, {})["rejected"]


@pytest.mark.parametrize(("to", "mark"), [("simgrid", "<!--"), ("loggopsim", "#")])
def test_an_export_of_a_rejected_fit_says_so_in_a_comment(
    to: str, mark: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    export_file(model_file(tmp_path, bad()), to, path, anyway=True)
    before, _, _ = path.read_text().partition("NOT TO BE RELIED ON")
    assert mark in before
    assert before != path.read_text()


def test_a_fit_that_stands_is_taken_before_a_rejected_one_whatever_their_precedence(
    tmp_path: Path,
) -> None:
    fits = [bad("loggops"), good()]
    assert predict(fits, "barrier", Task(8))[0].model == "loggp"
    assert predict(fits, "barrier", Task(8), anyway=True)[0].model == "loggp"
    assert fitted_parameters(model_file(tmp_path, *fits)).fit.model == "loggp"
    with pytest.raises(UsageError, match="loggops by prtt does not describe"):
        predict(fits, "barrier", Task(8), model="loggops")


def test_errors_on_held_out_points_reject_a_fit_that_describes_its_own_points(
    tmp_path: Path,
) -> None:
    fit = replace(good(), held_out=BAD)
    assert "on held-out points" in str(rejection(fit))
    (again,) = read_model(model_file(tmp_path, replace(fit, busy=BUSY)))
    assert (again.held_out, again.busy) == (BAD, BUSY)
    assert json.loads((tmp_path / "model.json").read_text())["fits"][0]["rejected"]


def test_a_rough_fit_and_one_that_was_not_judged_stand() -> None:
    assert quality_of(ROUGH) == "rough"
    assert rejection(replace(good(), error=ROUGH, busy=BUSY)) is None
    assert rejection(replace(good(), error=replace(BAD, points=0))) is None
