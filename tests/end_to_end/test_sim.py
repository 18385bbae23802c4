"""From the command to the answer, on a network whose parameters are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import SIM, chiplog, sim_run

from chiplog.dataset.run_file import read_run

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sim_run(
        tmp_path_factory.mktemp("sim") / "run.jsonl",
        *("--sizes", "1:64KiB", "--pattern", "all"),
        target=f"{SIM},change=8KiB:L=9us:g=4us,noise=0.01,seed=3",
    )


def answer(*arguments: object) -> Any:
    finished = chiplog(*arguments, "--json", "-")
    assert finished.code == 0, finished.stderr
    return json.loads(finished.stdout)


def test_the_parameters_below_the_change_come_back(run_file: Path) -> None:
    fit = answer("fit", run_file, "--model", "loggp")["fits"][0]
    below = fit["segments"][0]["parameters"]
    for symbol, truth in TRUTH.items():
        assert below[symbol]["value"] == pytest.approx(truth, rel=0.05), symbol
        assert below[symbol]["low"] <= below[symbol]["value"] <= below[symbol]["high"]


def test_the_change_is_known_to_the_byte(run_file: Path) -> None:
    (change,) = answer("changes", run_file)["consensus"]
    assert (change["last_before_bytes"], change["first_after_bytes"]) == (8192, 8193)


def test_all_models_by_all_methods_are_fitted_side_by_side(run_file: Path) -> None:
    fits = answer("fit", run_file, "--model", "hockney,logp,loggp,plogp", "--method", "all")["fits"]
    assert {fit["method"] for fit in fits if fit["model"] == "loggp"} == {"prtt", "culler", "bell"}
    assert {fit["model"] for fit in fits} == {"hockney", "logp", "loggp", "plogp"}


def test_models_are_compared_on_points_held_out(run_file: Path) -> None:
    rows = answer("compare", run_file, "--models", "hockney,loggp")["rows"]
    assert [row["model"] for row in rows] == ["hockney", "loggp"]
    assert all(row["mean_relative_error"] < 0.5 for row in rows)


def test_a_run_compared_with_itself_is_the_same_and_a_slower_one_hits_the_threshold(
    run_file: Path, tmp_path: Path
) -> None:
    assert answer("compare", run_file, run_file)["rows"][-1]["verdict"] == "same"
    slower = sim_run(
        tmp_path / "slower.jsonl",
        *("--sizes", "1:64KiB", "--no-refine"),
        target="sim:L=7us,o=1us,g=2us,G=0.5ns,noise=0.01",
    )
    finished = chiplog("compare", run_file, slower, "--fail-on", "slower:5%")
    assert finished.code == 3, finished
    assert "--fail-on slower:5%" in finished.stderr


@pytest.mark.parametrize("kind", ["csv", "parquet", "codes"])
def test_a_run_is_exported(run_file: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "exported"
    assert chiplog("export", run_file, "--to", kind, "-o", out).code == 0
    assert out.stat().st_size > 0


@pytest.mark.parametrize("kind", ["simgrid", "loggopsim"])
def test_a_model_is_exported(run_file: Path, tmp_path: Path, kind: str) -> None:
    model, out = tmp_path / "model.json", tmp_path / "exported"
    assert chiplog("fit", run_file, "-o", model).code == 0
    sizes = ["--sizes", "1:8192"] if kind == "loggopsim" else []  # it has one set of parameters
    assert chiplog("export", model, "--to", kind, *sizes, "-o", out).code == 0
    assert out.stat().st_size > 0


def test_every_launch_is_in_the_file(tmp_path: Path) -> None:
    out = sim_run(tmp_path / "run.jsonl", "--sizes", "1:64", "--visits", "1", "--launches", "3")
    assert {one.launch for one in read_run(out).series} == {0, 1, 2}


def test_a_report_is_made_of_run_and_model_files(run_file: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "model.json", tmp_path / "report.md"
    assert chiplog("fit", run_file, "-o", model).code == 0
    finished = chiplog("report", run_file, model, "-o", out)
    assert finished.code == 0, finished.stderr
    assert "LogGP" in out.read_text()


def test_a_failed_target_does_not_lose_the_others(tmp_path: Path) -> None:
    out = tmp_path / "report"
    finished = chiplog(
        "run", SIM, "sim:colour=red", "--sizes", "1:4KiB", "--budget", "20", "-o", out
    )
    assert finished.code == 1
    assert "colour" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert (out / "report.html").stat().st_size < 2_000_000
    model = json.loads((out / "model.json").read_text())
    assert {fit["model"] for fit in model["fits"]} >= {"hockney", "loggp", "plogp"}
    assert len(list((out / "runs").glob("sim-*.jsonl"))) == 3, "one pair, one to many, many pairs"
