"""`chiplog survey` on a network in virtual time, whose every pair is known to the nanosecond."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate, validate_run_file

from chiplog.dataset.run_file import read_run
from chiplog.machine_survey.machine_verdict import verdict_of_run
from chiplog.machine_survey.pair_values import pair_values

TARGET = "sim:L=5us,o=1us,g=2us,G=1ns,slow=2:1-4"
SLOW = {1, 4}
HALF_ROUND_TRIP, SLOW_HALF_ROUND_TRIP = 7e-6, 12e-6
RANKS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey"
    measured = chiplog("survey", TARGET, "--ranks", RANKS, "-o", path)
    assert measured.code == 0, measured.stderr
    assert "pairs      15 of 15, in 5 rounds" in measured.stdout
    assert "slowest  " in measured.stdout
    assert len(measured.stdout.splitlines()) <= 24
    return path


def test_every_pair_has_its_latency_and_its_bandwidth(folder: Path) -> None:
    run = read_run(folder / "pairs.jsonl")
    validate_run_file(folder / "pairs.jsonl")
    latency, bandwidth = pair_values(run, "latency"), pair_values(run, "bandwidth")
    for values in (latency, bandwidth):
        ends = [set(pair) for pair in zip(values.clients, values.servers, strict=True)]
        assert len(ends) == 15
        assert len(set(map(frozenset, ends))) == 15
        slowest = values.values.argmax() if values is latency else values.values.argmin()
        assert ends[slowest] == SLOW
    assert sorted(latency.values) == pytest.approx([HALF_ROUND_TRIP] * 14 + [SLOW_HALF_ROUND_TRIP])
    senders = set(bandwidth.clients[bandwidth.clients > bandwidth.servers].tolist())
    assert senders, "in turned rounds the higher rank sends"


def test_a_latency_counts_alike_from_either_end(folder: Path) -> None:
    dataset = read_run(folder / "pairs.jsonl")
    asked = {
        (p.client, p.server)
        for one in dataset.series
        if one.visit
        for p in one.by_pair
        if p.client != p.server
    }
    assert {(server, client) for client, server in asked} == asked
    values = verdict_of_run(dataset).fits["latency"].values
    assert (values.clients < values.servers).all()


def test_an_interrupted_survey_is_finished_by_resume(folder: Path, tmp_path: Path) -> None:
    whole = folder / "pairs.jsonl"
    lines = whole.read_text().splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:6]) + lines[6][:40])
    resumed = chiplog("survey", TARGET, "--ranks", RANKS, "-o", part, "--resume", "--json", "-")
    assert resumed.code == 0, resumed.stderr
    found = json.loads(resumed.stdout)
    validate(found)
    assert found["complete"]
    assert (found["nodes"], found["pairs"], found["rounds"]) == (6, 15, 5)
    assert found["latency"]["median"] == pytest.approx(HALF_ROUND_TRIP)
    assert found["latency"]["slowest"][0]["value"] == pytest.approx(SLOW_HALF_ROUND_TRIP)
    assert found["at_once"]["ratio"] == pytest.approx(1.0)
    expected, values = (pair_values(read_run(one), "latency") for one in (whole, part))
    assert values.values.tolist() == expected.values.tolist()
    again = chiplog("survey", TARGET, "--ranks", RANKS, "-o", part, "--resume")
    assert again.code == 0, again.stderr


def test_a_dry_run_shows_the_plan_and_measures_nothing(tmp_path: Path) -> None:
    out = tmp_path / "survey"
    shown = chiplog(
        *("survey", "tcp", "--launcher", "srun -N 1024", "--sparse", "--dry-run", "-o", out)
    )
    assert shown.code == 0, shown.stderr
    assert "ranks      1024" in shown.stdout
    assert (
        "rounds     10 of disjoint pairs, drawn by seed 1: 5,120 of 523,776 pairs" in shown.stdout
    )
    assert not out.exists()


def test_another_runs_file_is_not_taken_for_a_survey(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "run.jsonl"
    measured = chiplog(
        *("measure", TARGET, "--ranks", RANKS, "--pattern", "all_pairs", "--sizes", "8"),
        *("-o", other),
    )
    assert measured.code == 0, measured.stderr
    refused = chiplog("survey", TARGET, "--ranks", RANKS, "-o", other, "--resume")
    assert refused.code == 2
    assert "was not begun by chiplog survey" in refused.stderr
    taken = chiplog("survey", TARGET, "--ranks", RANKS, "-o", folder)
    assert taken.code == 2
    assert "exists already" in taken.stderr
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join((folder / "pairs.jsonl").read_text().splitlines(keepends=True)[:-1]))
    refused = chiplog("measure", TARGET, "-o", cut, "--resume")
    assert refused.code == 2
    assert "was begun by chiplog survey" in refused.stderr


@pytest.mark.parametrize("command", ["fit", "changes", "report"])
def test_other_commands_do_not_take_all_pairs_for_a_ping_pong(
    folder: Path, tmp_path: Path, command: str
) -> None:
    page = ("-o", tmp_path / "page.md") if command == "report" else ()
    said = chiplog(command, folder / "pairs.jsonl", *page)
    assert said.code in (0, 1, 2), said.stderr
    assert "ping_pong (" not in said.stdout + said.stderr
    if command == "report":
        assert "hockney" not in (tmp_path / "page.md").read_text()


def test_a_slow_node_is_named_when_measured_again(tmp_path: Path) -> None:
    target = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.01,seed=7,slow=3:2"
    result, screen = tmp_path / "survey.json", tmp_path / "survey"
    once = chiplog("survey", target, "--ranks", 8, "--once", "-o", tmp_path / "once")
    assert "slow       not judged: nothing was measured again" in once.stdout
    measured = chiplog("survey", target, "--ranks", 8, "-o", screen, "--json", result)
    assert measured.code == 0, measured.stderr
    lines = (screen / "pairs.jsonl").read_text().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[: len(lines) // 2]))  # in the second measurement
    resumed = chiplog("survey", target, "--ranks", 8, "-o", cut, "--resume")
    assert resumed.code == 0, resumed.stderr
    ids = [
        sorted({one.record_id for one in read_run(path).series})
        for path in (screen / "pairs.jsonl", cut)
    ]
    assert ids[0] == ids[1]
    found = json.loads(result.read_text())
    validate(found)
    named = {
        (one["kind"], one["name"].partition("#")[2], one["quantity"]) for one in found["accused"]
    }
    assert named == {
        ("cpu", "2", "fixed_work")
    }  # and not the link of that node, whose latency is longer by it
    doubts = [(one["kind"], one["name"].partition("#")[2]) for one in found["inconclusive"]]
    assert ("node", "2") in doubts
    assert found["accused"][0]["effect"] == pytest.approx(2.0, abs=0.1)
    assert found["detectable"]["own"]["cpu"] < 0.1
    assert "slow       cpu of" in measured.stdout


def test_a_topology_that_lies_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    lying = tmp_path / "topology.conf"
    lying.write_text("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n")
    refused = chiplog("survey", TARGET, "--ranks", 6, "-o", tmp_path / "s", "--topology", lying)
    assert refused.code == 5
    assert "the node n1 is under two leaves, a and b" in refused.stderr
    assert not (tmp_path / "s").exists()
