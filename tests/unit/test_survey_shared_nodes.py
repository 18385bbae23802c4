"""Surveys with several ranks on a node: near pairs share a node, which says nothing of leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from survey_by_hand import simulated_survey, slowed

from chiplog.cli.survey_text import verdict_lines
from chiplog.dataset.run_file import read_run
from chiplog.machine_survey.leaves import shared_nodes
from chiplog.machine_survey.machine_verdict import MachineVerdict, verdict_of_run
from chiplog.machine_survey.result import survey_result

RANKS = 16
LEAVES = {"sw0": range(8), "sw1": range(8, RANKS)}


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_survey(tmp_path_factory.mktemp("survey") / "alike", RANKS)


def judged(alike: Path, out: Path, per_node: int, slow_node: int | None = None) -> MachineVerdict:
    """Ranks of one node are near; all that leaves `slow_node` is slow."""
    hosts = [f"n{rank // per_node:02d}" for rank in range(RANKS)]

    def factor(client: int, server: int, is_bandwidth: bool) -> float:
        if hosts[client] == hosts[server]:
            return 0.3
        ends = {client // per_node, server // per_node}
        return 1.12 if is_bandwidth and slow_node in ends else 1.0

    survey = slowed(alike, out, factor, leaves=LEAVES, hosts=hosts)
    return verdict_of_run(read_run(str(survey / "pairs.jsonl")))


@pytest.mark.parametrize("per_node", [2, 4])
def test_ranks_of_one_node_are_not_called_misdeclared(
    alike: Path, tmp_path: Path, per_node: int
) -> None:
    found = judged(alike, tmp_path / "near", per_node)
    assert (found.unit, found.leaves, found.agrees, found.differences) == ("node", None, None, ())
    assert not found.accused
    lines = [line for line in verdict_lines(found) if line.startswith("topology")]
    assert lines == ["topology   several ranks run on a node, so leaves can't be told"]


def test_a_nodes_link_that_its_ranks_share_has_the_nodes_name(alike: Path, tmp_path: Path) -> None:
    found = judged(alike, tmp_path / "slow", 4, slow_node=2)
    assert {(one.kind, one.name) for one in found.accused} == {("uplink", "n02")}


def test_classes_are_those_of_nodes(alike: Path, tmp_path: Path) -> None:
    judged(alike, tmp_path / "near", 4)
    result = survey_result(read_run(str(tmp_path / "near" / "pairs.jsonl")))
    assert [(one.name, one.pairs) for one in result.classes] == [
        ("within a node", 24),
        ("between nodes", 96),
    ]
    assert result.uplinks is None


def test_a_rank_on_each_node_shares_none() -> None:
    assert shared_nodes({"ranks": 2, "hosts": ["n1", "n2"]}) is None
    assert shared_nodes({"ranks": 2, "hosts": ["vm", "vm"], "clock": {"name": "virtual"}}) is None
    assert shared_nodes({"ranks": 2, "hosts": ["n1"]}) is None
    assert shared_nodes({"ranks": 2}) is None


def test_on_one_node_sockets_are_told_apart_where_the_header_knows_them() -> None:
    places = [{"socket": 0}, {"socket": 1}, {"socket": 0}]
    header = {"ranks": 3, "hosts": ["n1"] * 3, "places": places}
    found = shared_nodes(header)
    assert found is not None and found.numbers is not None
    assert (found.unit, found.numbers.tolist()) == ("socket", [0, 1, 0])
    assert found.names == ("socket 0", "socket 1")
    for unknown in ([None] * 3, [{"socket": 0}] * 3, places[:2]):
        one = shared_nodes({**header, "places": unknown})
        assert one is not None and (one.unit, one.numbers) == ("group", None)
