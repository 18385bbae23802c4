"""`chiplog run` with many processes: its files, its report, and what it says of too few and too many ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import SIM, Finished, chiplog

from chiplog.dataset.run_file import read_run
from chiplog.measurement.launchers import usable_cores
from chiplog.report import format

PARTS = ("one_to_many", "pairs")


def run(target: str, directory: Path, *more: object) -> Finished:
    return chiplog(
        *("run", target, "--sizes", "1:16KiB", "--budget", 4, "-o", directory, *more),
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("many") / "report"
    finished = run(SIM, directory, "--ranks", 10)
    assert finished.code == 0, finished.stderr
    return directory


def part(directory: Path, pattern: str) -> Path:
    (found,) = (directory / "runs").glob(f"*-{pattern}.jsonl")
    return found


def section(text: str, title: str) -> str:
    _, _, rest = text.partition(f"### {title}\n")
    return rest.partition("\n### ")[0]


def test_each_pattern_has_a_run_file_with_all_numbers(many: Path) -> None:
    peers, pairs = (read_run(part(many, pattern)) for pattern in PARTS)
    assert {one.peers for one in peers.series} == set(range(1, 10))
    sizes = {(one.operation == "atomic", one.message_bytes) for one in peers.series}
    assert sizes == {(False, 1), (False, 8), (False, 8192), (True, 8)}
    assert {one.pairs for one in pairs.series} == set(range(1, 6))
    assert peers.header["oversubscribed"] is None


def test_the_report_has_the_numbers_of_fit(many: Path) -> None:
    text = (many / "report.md").read_text(encoding="utf-8")
    finished = chiplog("fit", part(many, "pairs"), "--model", "max-rate", "--json", "-")
    assert finished.code == 0, finished.stderr
    rate = json.loads(finished.stdout)["fits"][0]["segments"][-1]["parameters"]["R_C"]
    shown, _ = format.value_and_interval(rate["value"], rate["low"], rate["high"], "B/s")
    assert shown in section(text, "Many pairs")
    by_peers = ("--model", "logp", "--method", "one-to-many")
    finished = chiplog("fit", part(many, "one_to_many"), *by_peers, "--json", "-")
    sent = next(
        one
        for one in json.loads(finished.stdout)["fits"]
        if (one["operation"], one["posting"]) == ("send", "normal")
    )
    gap = sent["segments"][0]["parameters"]["g"]
    shown, _ = format.value_and_interval(gap["value"], gap["low"], gap["high"], "s")
    assert shown in section(text, "One to many")


def test_the_models_file_and_a_report_of_the_run_files_have_all_parts(
    many: Path, tmp_path: Path
) -> None:
    models = {one["model"] for one in json.loads((many / "model.json").read_text())["fits"]}
    assert {"loggp", "logfp", "lop", "max-rate", "postal"} <= models
    out = tmp_path / "again.md"
    finished = chiplog("report", *sorted((many / "runs").glob("*.jsonl")), "-o", out)
    assert finished.code == 0, finished.stderr
    first, again = ((many / "report.md").read_text(), out.read_text())
    for title in ("One to many", "Many pairs"):
        assert section(again, title) == section(first, title) != ""


@pytest.mark.alone
def test_a_run_of_two_ranks_says_what_more_ranks_would_show(tmp_path: Path) -> None:
    finished = run("shm", tmp_path / "report", "--ranks", 2, "--details")
    assert finished.code == 0, finished.stderr
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    told = section(text, "Not measured")
    for words in ("One process to many: one number of peers only", "Many pairs", "--ranks 8"):
        assert words in told
    assert section(text, "One to many") == section(text, "Many pairs") == ""
    assert "Not measured" in finished.stdout
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "-round-trip-1" not in page
    assert "-pairs-1" not in page


@pytest.mark.alone
def test_more_ranks_than_cores_are_flagged_in_file_terminal_and_report(tmp_path: Path) -> None:
    cores = usable_cores()
    if cores > 8:
        pytest.skip(f"{cores} cores: too many ranks would be needed to take turns")
    finished = run("shm", tmp_path / "report", "--ranks", 2 * cores + 2)
    assert finished.code == 0, finished.stderr
    header = read_run(part(tmp_path / "report", "pairs")).header
    assert isinstance(header["oversubscribed"], dict)
    assert header["oversubscribed"]["ranks"] == 2 * cores + 2
    flag = f"Oversubscribed: {2 * cores + 2} ranks on "
    assert flag in finished.stdout
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    for title in ("One to many", "Many pairs"):
        assert flag in section(text, title)
    fits = json.loads((tmp_path / "report" / "model.json").read_text())["fits"]
    flagged = {one["model"] for one in fits if any(flag in words for words in one["warnings"])}
    assert "max-rate" in flagged
    assert "loggp" not in flagged


def test_what_many_ranks_lose_does_not_lose_the_other_results(tmp_path: Path) -> None:
    """The target has fewer ranks than are asked of it: too few peers, and fewer pairs."""
    finished = run(f"{SIM},ranks=5", tmp_path / "report", "--ranks", 9)
    assert finished.code == 1
    assert "no result for" in finished.stderr
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "predicts this transport within" in text.replace("**", "")
    assert "This part failed" in section(text, "One to many")
    assert "max-rate" in section(text, "Many pairs")


def test_the_target_may_say_how_many_ranks_there_are(tmp_path: Path) -> None:
    finished = run(f"{SIM},ranks=5", tmp_path / "report")
    assert finished.code == 0, finished.stderr
    peers = read_run(part(tmp_path / "report", "one_to_many"))
    assert {one.peers for one in peers.series} == {1, 2, 3, 4}


def test_too_few_ranks_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    finished = run(SIM, tmp_path / "report", "--ranks", 1)
    assert finished.code == 2
    assert "--ranks" in finished.stderr
    assert not (tmp_path / "report").exists()
