"""Under Slurm a survey finds the declared topology by itself, and never fails of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from command import chiplog

from chiplog.dataset.run_file import read_run
from chiplog.machine_survey import job
from chiplog.machine_survey.plan import SurveyOptions
from chiplog.machine_survey.topology import is_under_slurm, topology_of_slurm

TREE = "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n"
NODES = ("n1", "n2", "n3", "n4")
PRINTED = (
    "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-3]\nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n4\n"
)


def slurm(folder: Path, script: str, conf: str | None = None) -> dict[str, str]:
    """An environment whose scontrol is this script, and whose Slurm is configured in `folder`."""
    scontrol = folder / "scontrol"
    scontrol.write_text(f"#!/bin/sh\n{script}\n")
    scontrol.chmod(0o755)
    if conf is not None:
        (folder / "topology.conf").write_text(conf)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_CONF": str(folder / "slurm.conf")}


def use(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> dict[str, str]:
    """subprocess finds a program by the PATH of the process itself."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


def test_what_scontrol_prints_comes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "printed").write_text(PRINTED)
    environment = use(monkeypatch, slurm(tmp_path, f"cat {tmp_path}/printed", TREE))
    found, said = topology_of_slurm(NODES, environment)
    assert found is not None and said is None
    assert list(found.leaves) == ["s1", "s2"]


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "echo 'No topology information available'",
        "echo 'BlockName=b1 BlockIndex=0 Nodes=n[1-4] BlockSize=4'",
        "echo 'SwitchName=far Level=0 LinkSpeed=1 Nodes=x[1-9]'",
        "printf '\\377'",
    ],
)
def test_where_scontrol_declares_nothing_the_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    environment = use(monkeypatch, slurm(tmp_path, script, TREE))
    found, said = topology_of_slurm(NODES, environment)
    assert found is not None and said is None
    assert list(found.leaves) == ["leaf1", "leaf2"]


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        ("SwitchName=a Nodes=n[1-", "line 1"),
        ("SwitchName=a Nodes=x[1-4]\n", "declares none of the measured nodes"),
        ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", "under two leaves"),
    ],
)
def test_a_file_that_is_broken_or_lies_is_left_aside_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: str, reason: str
) -> None:
    environment = use(monkeypatch, slurm(tmp_path, "exit 1", conf))
    found, said = topology_of_slurm(NODES, environment)
    assert found is None
    assert said is not None and "was not used: " in said and reason in said


def test_a_slurm_without_a_topology_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert topology_of_slurm(NODES, use(monkeypatch, slurm(tmp_path, "exit 1"))) == (None, None)


def test_only_jobs_of_slurm_ask_it() -> None:
    assert is_under_slurm("/usr/bin/srun -N 4", {})
    assert is_under_slurm(None, {"SLURM_JOB_ID": "7"})
    assert not is_under_slurm("mpirun -n 4", {})
    assert not is_under_slurm("srun 'of no end", {})


def test_a_survey_under_slurm_has_its_leaves_and_says_what_it_left_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "pairs.jsonl"
    job.survey(
        "sim:L=5us,o=1us", run, SurveyOptions("sim", 4), job.SurveyStart(ranks_are_given=True)
    )
    measured = read_run(run)
    dataset = replace(measured, header={**measured.header, "hosts": list(NODES)})
    monkeypatch.setattr(job, "_whoever_is_lost", lambda *_: (dataset, ()))

    def surveyed() -> job.SurveyResult:
        return job.survey("tcp", run, SurveyOptions("tcp", 4), job.SurveyStart("srun -N 4"))

    use(monkeypatch, slurm(tmp_path, "exit 1", TREE))
    assert (surveyed().verdict.leaves, surveyed().note) == (2, None)
    (tmp_path / "topology.conf").write_text("SwitchName=")
    assert surveyed().verdict.leaves is None
    assert "topology.conf was not used: " in str(surveyed().note)


def test_a_file_that_was_asked_for_is_not_left_aside(tmp_path: Path) -> None:
    lie = tmp_path / "topology.conf"
    lie.write_text("SwitchName=a Nodes=n[1-")
    words = ("survey", "sim:L=5us,o=1us", "--ranks", 4, "-o", tmp_path / "s", "--topology", lie)
    refused = chiplog(*words, "--json", "-")
    assert (refused.code, refused.stdout) == (5, "")
    assert f"{lie}, line 1" in refused.stderr
    assert not (tmp_path / "s").exists()
    lie.write_text(json.dumps({"no": "topology"}))
    assert chiplog(*words).code == 5
