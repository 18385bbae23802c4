"""`chiplog predict` as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Finished, chiplog
from json_schemas import validate
from prediction import fit_of

from chiplog.fitting.model_file import write_model
from chiplog.fitting.result import Fit

LOGGP = fit_of(
    "loggp",
    {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9},
    spread=0.02,
    last_bytes=65536,
)


def model_file(tmp_path: Path, *fits: Fit) -> Path:
    path = tmp_path / "model.json"
    write_model(path, fits)
    return path


def rows_of(finished: Finished) -> list[dict[str, Any]]:
    assert finished.code == 0, finished.stderr
    document = json.loads(finished.stdout)
    validate(document)
    rows: list[dict[str, Any]] = document["rows"]
    return rows


def refused(finished: Finished, *words: str) -> None:
    assert finished.code == 2, finished.stderr
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    for word in words:
        assert word in finished.stderr


def test_several_numbers_of_ranks_give_the_rows_of_each(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    several = rows_of(chiplog("predict", path, "barrier", "--ranks", "27,4", "--json", "-"))
    separate = [
        rows_of(chiplog("predict", path, "barrier", "--ranks", ranks, "--json", "-"))
        for ranks in (4, 27)
    ]
    assert several == separate[0] + separate[1]
    printed = chiplog("predict", path, "barrier", "--ranks", "4,27").stdout
    assert "barrier, 4, 27 ranks" in printed
    assert printed.count("dissemination  ") == 2 * 2
    refused(chiplog("predict", path, "barrier", "--ranks", "4,x"), "--ranks", "4,8")


def test_all_algorithms_come_fastest_first_and_the_lower_bound_last(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    rows = rows_of(chiplog("predict", path, "barrier", "--ranks", 64, "--json", "-"))
    assert len(rows) == 9 + 1
    seconds = [row["seconds"] for row in rows[:-1]]
    assert seconds == sorted(seconds)
    assert rows[-1]["algorithm"] == "lower-bound"
    assert {row["ranks"] for row in rows} == {64}
    by_name = {row["algorithm"]: row for row in rows}
    assert by_name["dissemination"]["seconds"] == pytest.approx(33e-6)
    assert by_name["n-way-dissemination"]["peers"] == 3
    assert by_name["dissemination"]["peers"] is None
    assert all(row["low"] < row["seconds"] < row["high"] for row in rows)
    assert not any(row["extrapolated"] for row in rows)


def test_predicting_and_simulating_a_model_file_give_one_number(tmp_path: Path) -> None:
    """Of an algorithm with a closed form, and of one that is simulated since it has only a bound."""
    path = model_file(tmp_path, LOGGP)
    for operation, algorithm in (("reduce", "binomial"), ("allreduce", "recursive-doubling")):
        options = ("--algorithm", algorithm, "--ranks", 27, "--bytes", 1024)
        goal = tmp_path / "one.goal"
        assert chiplog("schedule", operation, *options, "-o", goal).code == 0
        simulated = json.loads(chiplog("simulate", goal, "--model", path, "--json", "-").stdout)
        row, bound = rows_of(chiplog("predict", path, operation, *options, "--json", "-"))
        assert row["seconds"] * 1e9 == pytest.approx(simulated["makespan_ns"], rel=1e-9)
        assert row["algorithm"] == algorithm and bound["algorithm"] == "lower-bound"


def test_the_table_shows_every_algorithm_and_the_bound(tmp_path: Path) -> None:
    finished = chiplog(
        "predict",
        model_file(tmp_path, LOGGP),
        "bcast",
        "--ranks",
        16,
        "--bytes",
        "1000000",
        environment={"COLUMNS": "120"},
    )
    assert finished.code == 0, finished.stderr
    for words in ("logp-optimal", "scatter-allgather", "lower bound", " ms"):
        assert words in finished.stdout
    assert "extrapolated: messages of 1,000,000 B, 1 to 65,536 B were measured" in finished.stderr


def test_a_report_shows_who_wins_where(tmp_path: Path) -> None:
    pages = {suffix: tmp_path / f"page{suffix}" for suffix in (".html", ".md")}
    for page in pages.values():
        finished = chiplog(
            "predict", model_file(tmp_path, LOGGP), "barrier", "--ranks", 100, "--report", page
        )
        assert finished.code == 0, finished.stderr
    assert '"id":"time-over-ranks"' in pages[".html"].read_text()
    assert "| **fastest** |" in pages[".md"].read_text()
    refused(
        chiplog("predict", model_file(tmp_path, LOGGP), "barrier", "--ranks", 1, "--report", page),
        "--ranks",
        "2 or more",
    )


def test_an_unknown_operation_algorithm_or_model_is_refused(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    refused(chiplog("predict", path, "dance", "--ranks", 4), "'dance'", "there are barrier, ")
    refused(
        chiplog("predict", path, "barrier", "--algorithm", "magic", "--ranks", 4), "magic", "linear"
    )
    refused(
        chiplog("predict", path, "barrier", "--model", "hockney", "--ranks", 4), "hockney", "loggps"
    )
    refused(chiplog("predict", path, "barrier", "--ranks", 0), "--ranks", "1 to")
    refused(chiplog("predict", path, "halo", "--ranks", 4, "--per-node", 0), "--per-node", "1 or")


def test_a_model_that_cannot_speak_about_the_operation_is_refused(tmp_path: Path) -> None:
    hockney = model_file(tmp_path, fit_of("hockney", {"alpha": 1e-6, "R": 1e9}))
    refused(
        chiplog("predict", hockney, "barrier", "--ranks", 4), "hockney", "one of loggops, loggps, "
    )
    rates = model_file(tmp_path, fit_of("max-rate", {"s0": 5e-6, "R_C": 4e9, "R_N": 7e9}))
    refused(chiplog("predict", rates, "bcast", "--ranks", 4), "bcast", "max-rate")
    refused(
        chiplog("predict", rates, "barrier", "--algorithm", "tree", "--ranks", 4), "barrier by tree"
    )


def test_a_parameter_that_is_needed_and_not_identified_is_named(tmp_path: Path) -> None:
    values = {"L": None, "o_s": 1e-6, "o_r": 1e-6, "g": None, "G": 1e-9}
    path = model_file(tmp_path, fit_of("loggp", values))
    refused(
        chiplog("predict", path, "barrier", "--ranks", 4),
        "L is not identified: the data can't tell",
    )
    path = model_file(tmp_path, fit_of("loggp", {**values, "L": 1e-6, "G": None}))
    assert chiplog("predict", path, "barrier", "--ranks", 4).code == 0
    refused(chiplog("predict", path, "bcast", "--ranks", 4, "--bytes", 100), "G is not identified")


def test_the_list_of_operations_names_what_each_model_can_predict() -> None:
    listed = chiplog("list", "operations").stdout
    lines = {line.split()[0]: line for line in listed.splitlines()}
    assert "predicted by loggops, loggps, loggp, logp, logfp, lop, max-rate" in lines["barrier"]
    assert lines["reduce"].endswith("predicted by loggops, loggps, loggp, logp")
    assert "max-rate" in lines["halo"] and "lop" not in lines["halo"]


def anchor_file(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "anchors.csv"
    header = "operation,algorithm,ranks,message_bytes,seconds"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def test_anchors_correct_the_algorithms_that_they_measured(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    anchors = anchor_file(
        tmp_path, "barrier,dissemination,4,1,2e-5", "barrier,dissemination,8,1,3.1e-5"
    )
    asked = ("predict", path, "barrier", "--ranks", 64, "--anchor", anchors)
    row, bound = rows_of(chiplog(*asked, "--json", "-"))
    assert row["algorithm"] == "dissemination" and bound["algorithm"] == "lower-bound"
    assert row["seconds"] == pytest.approx(6e-5, rel=0.05)
    assert row["correction"]["uncorrected_seconds"] == pytest.approx(33e-6)
    assert row["correction"]["anchors"] == 2
    assert row["as"] == "common-start" and bound["correction"] is None
    finished = chiplog(*asked)
    assert "time: from a common start until the last rank is done" in finished.stdout
    said = " ".join(finished.stdout.split())
    assert "dissemination: corrected times 1.85 [1.50, 2.28] by 2 anchors; left out" in said
    assert finished.stderr == ""
    unnamed = anchor_file(tmp_path, "barrier,,4,1,2e-5")
    finished = chiplog(*asked[:-1], unnamed, "--algorithm", "dissemination")
    assert "does not name its algorithm: taken as dissemination." in finished.stderr
    assert "so the interval is as wide as the correction." in " ".join(finished.stdout.split())
    assert max(map(len, finished.stdout.splitlines())) <= 80


def test_what_a_benchmark_prints_is_said_to_be_that(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    asked = ("predict", path, "bcast", "--algorithm", "binomial", "--ranks", 16, "--as", "osu")
    (row,) = rows_of(chiplog(*asked, "--json", "-"))
    assert row["as"] == "osu"
    assert row["seconds"] < row["longest_seconds"] == pytest.approx(22e-6)
    finished = chiplog(*asked)
    assert "time: mean over ranks" in finished.stdout
    assert "binomial: longest rank 22.00 us" in finished.stdout


def test_anchors_that_cannot_serve_are_refused(tmp_path: Path) -> None:
    path = model_file(tmp_path, LOGGP)
    asked = ("predict", path, "barrier", "--ranks", 64, "--anchor")
    refused(chiplog(*asked, anchor_file(tmp_path, "bcast,linear,4,1,1e-5")), "bcast was measured")
    refused(chiplog(*asked, anchor_file(tmp_path, "barrier,,4,1,1e-5")), "--algorithm")
    refused(chiplog(*asked, path), "is a model file")
    refused(chiplog("predict", path, "barrier", "--ranks", 4, "--as", "imb"), "common-start, osu")
    damaged = chiplog(*asked, anchor_file(tmp_path, "barrier,linear,4,1,never"))
    assert damaged.code == 5
    assert damaged.stdout == "" and damaged.stderr.count("\n") == 1
    assert "line 2, field seconds" in damaged.stderr
