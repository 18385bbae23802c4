"""From a CSV file of round trips to many peers to fits, a comparison and a report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import logfp_truth, one_to_many_dataset

TRUTH = {"f": 7.0, "o_min": 0.18e-6, "o_max": 1.6e-6, "L": 5e-6, "g": 5e-6}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one_to_many")
    made = one_to_many_dataset(
        logfp_truth(TRUTH), range(1, 17), disturbance=SyntheticDisturbance(noise=0.03)
    )
    with (folder / "samples.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(("pattern", "operation", "message_bytes", "peers", "record", "seconds"))
        for one in made.series:
            first = (one.pattern, one.operation, one.message_bytes, one.peers, one.record_id)
            rows.writerows((*first, f"{seconds:.12f}") for seconds in one.seconds)
    finished = chiplog("import", "csv", folder / "samples.csv", "-o", folder / "run.jsonl")
    assert finished.code == 0, finished.stderr
    return folder / "run.jsonl"


def test_fit_writes_f_and_the_overheads(run: Path) -> None:
    finished = chiplog("fit", run, "--model", "logfp,lop,lop-overhead,logp", "--json", "-")
    assert finished.code == 0, finished.stderr
    document = json.loads(finished.stdout)
    validate(document)
    assert [one["model"] for one in document["fits"]] == ["logfp", "lop", "lop-overhead", "logp"]
    found = document["fits"][0]["segments"][0]["parameters"]
    assert found["f"]["value"] == 7
    assert found["o_min"]["value"] == pytest.approx(0.18e-6, rel=0.05)


def test_compare_judges_models_on_held_out_peers(run: Path) -> None:
    finished = chiplog(
        "compare", run, "--models", "logp,lop,logfp", "--hold-out", "peers>12", "--json", "-"
    )
    assert finished.code == 0, finished.stderr
    rows = json.loads(finished.stdout)["rows"]
    assert [(row["model"], row["points"]) for row in rows] == [
        ("logp", 4),
        ("lop", 4),
        ("logfp", 4),
    ]
    assert rows[2]["mean_relative_error"] < 0.02
    assert rows[2]["parameters"] == 5


def test_the_report_shows_the_models(run: Path, tmp_path: Path) -> None:
    finished = chiplog("report", run, "-o", tmp_path / "report.md")
    assert finished.code == 0, finished.stderr
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "LogfP" in text
    assert "f\\_argmin" in text or "f_argmin" in text


def test_a_model_of_pairs_says_what_it_needs(run: Path) -> None:
    finished = chiplog("fit", run, "--model", "loggp")
    assert finished.code == 2
    assert "lacks round trips" in finished.stderr
