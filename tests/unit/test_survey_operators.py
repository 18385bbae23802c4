"""What operators plug in says what the survey said, in the words of Prometheus, NHC, Slurm, ReFrame and scripts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from command import chiplog
from needs import require_command
from survey_by_hand import simulated_survey, slowed
from verdict_by_hand import verdict_of

from chiplog.machine_survey.operators.by_node import drain_lines
from chiplog.machine_survey.operators.node_check import node_check_text
from chiplog.machine_survey.operators.prometheus import prometheus_text

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schemas" / "verdict.schema.json"
CHECK = ROOT / "examples" / "operators" / "check_node.sh"
TARGET = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02"
MOST_SERIES = 20
"""Of a node."""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey"
    assert chiplog("survey", TARGET, "--ranks", 8, "-o", path).code == 0
    return path


def check(file: Path, node: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(CHECK), str(file), "30", node]
    return subprocess.run(command, capture_output=True, text=True, timeout=20)


def promtool_accepts(text: str) -> None:
    promtool = require_command("promtool", "prometheus")
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_survey_becomes_a_verdict_in_every_format(tmp_path: Path, survey: Path) -> None:
    shown = chiplog("survey", "verdict", survey, "--json", "-")
    assert shown.code == 0, shown.stderr
    found = json.loads(shown.stdout)
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    assert [one["verdict"] for one in found["nodes"]] == ["ok"] * 8
    assert found["drain"] == []
    written = chiplog("survey", "verdict", survey, "--to", "prometheus", "-o", tmp_path / "a.prom")
    trust, nodes = written.stdout.splitlines()
    assert written.code == 0 and nodes == "nodes      8 ok"
    assert re.match(r"(usable|of limited use): ", trust)
    assert [one.name for one in tmp_path.iterdir()] == ["a.prom"]
    listed = chiplog("survey", "verdict", survey, "--to", "nhc")
    assert listed.stdout.startswith("# chiplog.node-check/1 ")
    promtool_accepts((tmp_path / "a.prom").read_text())


def test_a_slow_uplink_is_told_from_slow_nodes_by_what_the_survey_knew_of_leaves(
    tmp_path: Path,
) -> None:
    healthy = simulated_survey(tmp_path / "healthy", 16)
    leaves = {
        "west": (0, 5, 10, 15),
        "east": (1, 4, 11, 14),
        "up": (2, 7, 8, 13),
        "down": (3, 6, 9, 12),
    }

    def factor(client: int, server: int, is_bandwidth: bool) -> float:
        crosses = (client in leaves["up"]) != (server in leaves["up"])
        return 1.1 if is_bandwidth and crosses else 1.0

    slow = slowed(healthy, tmp_path / "slow", factor, leaves=leaves)
    told = chiplog("survey", "verdict", slow)
    assert told.code == 0, told.stderr
    trust, nodes, uplink = told.stdout.splitlines()
    assert trust == "usable: 120 of 120 pairs were measured, and suspects were measured again."
    assert nodes == "nodes      16 ok"
    assert re.match(r"slow       uplink up: bandwidth -(8|9|10)\.\d %", uplink)


def test_a_node_has_few_series_and_odd_names_are_escaped() -> None:
    text = prometheus_text(verdict_of('n"0\\5\n'))
    names = re.findall(r'node="((?:[^"\\]|\\.)*)"', text)
    assert set(names) == {"N04.cluster", 'n\\"0\\\\5\\n', "n06"}
    assert max(Counter(names).values()) <= MOST_SERIES
    assert 'chiplog_survey_accused{target="tcp",kind="uplink"} 1.0' in text
    promtool_accepts(text)


def test_the_line_that_drains_is_printed_for_slow_nodes_only() -> None:
    (line,) = drain_lines(verdict_of(time=datetime(2026, 11, 23, tzinfo=UTC)))
    assert line == (
        "scontrol update NodeName=n05 State=DRAIN "
        "Reason='chiplog 2026-11-23: bandwidth -5.2 % (-5.8 % to -4.6 %), out only'"
    )


@pytest.mark.parametrize("name", ["n1; rm -rf /", "$(id)", "n1\nn2", "-x", "n1,n2", ""])
def test_a_name_that_no_host_has_makes_no_command(name: str) -> None:
    assert drain_lines(verdict_of(name)) == []


@pytest.mark.parametrize("node", ["n05", "N05", "n05.cluster", "N05.Cluster"])
def test_the_check_on_a_node_fails_where_it_is_slow(tmp_path: Path, node: str) -> None:
    file = tmp_path / "nodes.txt"
    file.write_text(node_check_text(verdict_of()))
    done = check(file, node)
    assert done.returncode == 1
    assert done.stdout == (
        f"chiplog: {node.lower()} is slow: bandwidth -5.2 % (-5.8 % to -4.6 %), out only\n"
    )
    healthy = check(file, "n04")
    assert (healthy.returncode, healthy.stdout, healthy.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("content", "node", "reason"),
    [
        (None, "n05", "can't be read"),
        ("", "n05", "is not of chiplog.node-check/1"),
        ("# chiplog.node-check/2 1\nn05 slow\n", "n05", "is not of chiplog.node-check/1"),
        ("# chiplog.node-check/1 $(id)\nn05 slow\n", "n05", "has no time"),
        ("# chiplog.node-check/1 1\nn05 slow\n", "n05", "is older than 30 days"),
        ("# chiplog.node-check/1 99999999999\nn05 slow\n", "n05", "is of the future"),
        (node_check_text(verdict_of()), "n06", "the survey says unclear"),
        (node_check_text(verdict_of()), "n99", "the survey lacks it"),
        (node_check_text(verdict_of()), "n05.other", "the survey lacks it"),
    ],
)
def test_without_a_verdict_a_node_stays_in_service(
    tmp_path: Path, content: str | None, node: str, reason: str
) -> None:
    file = tmp_path / "nodes.txt"
    if content is not None:
        file.write_text(content)
    done = check(file, node)
    assert (done.returncode, done.stdout) == (0, "")
    assert reason in done.stderr and done.stderr.count("\n") == 1


def test_nhc_dies_of_the_sentence_of_the_check(tmp_path: Path) -> None:
    file = tmp_path / "nodes.txt"
    file.write_text(node_check_text(verdict_of()))
    (tmp_path / "uname").write_text("#!/bin/sh\necho n05.cluster\n")
    (tmp_path / "uname").chmod(0o755)
    script = (
        f'die() {{ echo "die $*"; exit "$1"; }}\n. {ROOT}/examples/operators/survey.nhc\n'
        f"check_chiplog_survey {file} 30\n"
    )
    environment = {
        **os.environ,
        "CHIPLOG_CHECK_NODE": str(CHECK),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 1
    assert done.stdout.startswith("die 1 check_chiplog_survey: chiplog: n05.cluster is slow")


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, survey: Path) -> None:
    out = tmp_path / "none" / "a.prom"
    done = chiplog("survey", "verdict", survey, "--to", "prometheus", "-o", out)
    assert done.code == 1 and done.stderr.count("\n") == 1
    assert "can't be written: there is no folder" in done.stderr


def test_an_unknown_format_and_a_run_that_is_no_survey_are_wrong_usage(
    tmp_path: Path, survey: Path
) -> None:
    unknown = chiplog("survey", "verdict", survey, "--to", "icinga")
    assert unknown.code == 2 and "prometheus or nhc" in unknown.stderr
    run = tmp_path / "run.jsonl"
    measured = chiplog("measure", TARGET, "--pattern", "ping_pong", "--sizes", "1:8", "-o", run)
    assert measured.code == 0, measured.stderr
    refused = chiplog("survey", "verdict", run)
    assert refused.code == 2 and "is not a survey" in refused.stderr


def test_reframe_runs_the_survey_and_judges_it(tmp_path: Path) -> None:
    reframe = shutil.which("reframe", path=str(Path(sys.executable).parent))
    if reframe is None:
        pytest.skip("reframe is not installed (pip install reframe-hpc)")
    command = [
        *(reframe, "-c", str(ROOT / "examples" / "operators" / "survey_reframe.py"), "-r"),
        *("-S", f"target={TARGET}", "-S", "num_nodes=4", "--prefix", str(tmp_path)),
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "median_bandwidth" in done.stdout
