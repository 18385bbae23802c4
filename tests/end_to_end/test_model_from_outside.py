"""A package of its own adds a model, and the commands know it: nothing in chiplog's tree names it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import chiplog, sim_run
from outside import with_package

MODEL, LABEL = "loggp-1o", "LogGP (one o)"


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run.jsonl"
    sizes = ("--sizes", "1:256KiB:1", "--pattern", "prtt,ping_pong,receive_overhead")
    return sim_run(out, *sizes)


@pytest.fixture(scope="module")
def model_file(installed: Path, run_file: Path) -> Path:
    out = run_file.parent / "model.json"
    finished = with_package(installed, "fit", run_file, "--model", f"loggp,{MODEL}", "-o", out)
    assert finished.code == 0, finished.stderr
    return out


def test_the_model_is_listed_where_its_package_is_installed(installed: Path) -> None:
    assert f"{MODEL}  " in with_package(installed, "list", "models").stdout
    assert MODEL in with_package(installed, "list", "operations").stdout
    assert MODEL in with_package(installed, "list", "methods").stdout
    assert MODEL not in chiplog("list", "models").stdout


def test_the_model_is_fitted_by_its_own_estimator(model_file: Path) -> None:
    """The simulated network has o = 1 us for both, L = 5 us, g = 2 us and G = 0.5 ns."""
    loggp, mine = json.loads(model_file.read_text())["fits"]
    assert (loggp["model"], mine["model"]) == ("loggp", MODEL)
    values = {symbol: one["value"] for symbol, one in mine["segments"][0]["parameters"].items()}
    assert values["o"] == pytest.approx(1e-6, rel=0.01)
    assert values["L"] == pytest.approx(5e-6, rel=0.01)
    assert values["G"] == pytest.approx(0.5e-9, rel=0.01)
    assert "o_s" not in values
    assert mine["error"]["max_relative"] < 0.01


def test_the_model_is_compared_with_all_others(installed: Path, run_file: Path) -> None:
    finished = with_package(installed, "compare", run_file, "--json", "-")
    assert finished.code == 0, finished.stderr
    rows = {one["model"]: one for one in json.loads(finished.stdout)["rows"]}
    assert {"loggp", MODEL} <= rows.keys()
    assert rows[MODEL]["mean_relative_error"] < 0.01


def test_the_report_shows_the_model_by_its_label_and_in_its_colours(
    installed: Path, run_file: Path
) -> None:
    out = run_file.parent / "report.html"
    finished = with_package(installed, "report", run_file, "-o", out)
    assert finished.code == 0, finished.stderr
    page = out.read_text(encoding="utf-8")
    assert f"<td >{LABEL}</td>" in page
    assert re.search(rf":root {{[^}}]*--model-{MODEL}: #6a3d9a", page)
    assert len(re.findall(rf"--model-{MODEL}: #cab2d6", page)) == 2  # dark by choice, or by system
    assert f".colour-{MODEL} {{ --colour: var(--model-{MODEL}); --dashes: 1 3; }}" in page
    assert f'"name":"{LABEL}","kind":"line","colour":"{MODEL}"' in page


def test_collectives_are_predicted_with_the_model(installed: Path, model_file: Path) -> None:
    rows = {}
    for model in ("loggp", MODEL):
        finished = with_package(
            installed, "predict", model_file, "bcast", "--ranks", 8, "--model", model, "--json", "-"
        )
        assert finished.code == 0, finished.stderr
        rows[model] = json.loads(finished.stdout)["rows"]
    assert {one["model"] for one in rows[MODEL]} == {MODEL}
    by_name = {one["algorithm"]: one["seconds"] for one in rows["loggp"]}
    for one in rows[MODEL]:
        assert one["seconds"] == pytest.approx(by_name[one["algorithm"]], rel=0.02)


def test_a_file_with_the_model_is_read_where_its_package_is_not_installed(model_file: Path) -> None:
    finished = chiplog("predict", model_file, "bcast", "--ranks", 8, "--json", "-")
    assert finished.code == 0, finished.stderr
    assert {one["model"] for one in json.loads(finished.stdout)["rows"]} == {"loggp"}
    refused = chiplog("predict", model_file, "bcast", "--ranks", 8, "--model", MODEL)
    assert (refused.code, refused.stderr.count("\n")) == (2, 1)
    assert f"'{MODEL}' predicts no collective operation" in refused.stderr
