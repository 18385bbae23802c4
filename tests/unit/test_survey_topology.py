"""What topology.conf declares, what the pairs show, and where both differ."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_survey import SimulatedSurvey, SurveyMachine, SurveyNoise

from chiplog.errors import ChiplogError, CorruptFile, UsageError
from chiplog.machine_survey.leaves import differences, divided, infer_leaves
from chiplog.machine_survey.topology import (
    expand_hosts,
    leaf_numbers,
    parse_topology,
    read_topology,
)

TREE = """# a comment
SwitchName=leaf1 Nodes=n[01-04]
switchname=leaf2 nodes=n05,n06,\\
n[07-08] LinkSpeed=100
SwitchName=spine Switches=leaf[1-2]
"""


def test_a_tree_is_read() -> None:
    tree = parse_topology(TREE.replace("\\\nn", "n"))
    assert tree.leaves == {
        "leaf1": ("n01", "n02", "n03", "n04"),
        "leaf2": ("n05", "n06", "n07", "n08"),
    }
    assert tree.parents == {"leaf1": "spine", "leaf2": "spine"}


def test_what_scontrol_prints_is_read() -> None:
    tree = parse_topology(
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=leaf1\n"
    )
    assert tree.leaves == {"leaf1": ("n1", "n2")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "declares no switch with nodes"),
        ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=N1", "N1 is under two leaves, a and b"),
        ("SwitchName=a Nodes=n1\nSwitchName=A Nodes=n2", "line 2: the switch A is defined twice"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=s Switches=b",
            "the switch b, below s, is defined nowhere",
        ),
        (
            "SwitchName=a Nodes=n1\nSwitchName=s Switches=t\nSwitchName=t Switches=s",
            "s is above itself",
        ),
        ("SwitchName=a Nodes=n[3-1]", "line 1: '3-1' is an empty range"),
        ("SwitchName=a Nodes=n[1-99999999999]", "an empty range, or one of more than 1000000"),
        ("SwitchName=a Nodes=n[1-999999][1-999999]", "more than 1000000 names"),
        ("SwitchName=a Nodes=n[1-2", "is not a host list"),
        ("SwitchName=a", "neither Nodes= nor Switches="),
        ("Nodes=n1", "SwitchName= is missing"),
        ("SwitchName=a Nodes=n1 Nodes=n2", "nodes is given twice"),
        ("SwitchName=a Node=n1", "'node' is no key of it"),
        ("hello", "'hello' is not KEY=VALUE"),
        ("SwitchName=a,b Nodes=n1", "stands for more than 1 names"),
    ],
)
def test_a_broken_or_lying_file_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(CorruptFile) as caught:
        parse_topology(text, "topology.conf")
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("topology.conf")


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be opened"):
        read_topology(tmp_path / "none.conf")
    (tmp_path / "binary.conf").write_bytes(b"SwitchName=\xff")
    with pytest.raises(CorruptFile, match="not UTF-8"):
        read_topology(tmp_path / "binary.conf")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="SwitchName=odes,[]-0129ab# \\\n", max_size=80))
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    with contextlib.suppress(ChiplogError):
        parse_topology(text)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 5))
def test_a_range_stands_for_as_many_names_as_it_holds(first: int, more: int, width: int) -> None:
    names = list(expand_hosts(f"n[{first:0{width}d}-{first + more}]"))
    assert len(names) == more + 1
    assert names[0] == f"n{first:0{width}d}"


def test_names_are_compared_without_case_and_domain() -> None:
    tree = parse_topology("SwitchName=a Nodes=n1,n2\nSwitchName=b Nodes=n3.example,n4.example")
    leaves, names = leaf_numbers(tree, ("N1.example", "n2#7", "n3", "N4.EXAMPLE", "n4.other", "n9"))
    assert leaves.tolist() == [0, 0, 1, 1, -1, -1]
    assert names == ("a", "b")


def test_the_file_of_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match=r"declares none of the measured nodes \(x1"):
        leaf_numbers(parse_topology("SwitchName=a Nodes=n1"), ("x1", "x2"))


def test_miswired_nodes_are_named() -> None:
    machine = SurveyMachine(32, 8, "latency", within=1e-6, across=1.3e-6)
    values = SimulatedSurvey(machine, SurveyNoise(), 1).full()
    declared = machine.leaves.copy()
    declared[3], declared[20], declared[9] = 2, 0, -1
    measured = infer_leaves(values)
    assert measured is not None
    found = differences(values.nodes, declared, ("a", "b", "c", "d"), measured)
    assert [one.text for one in found] == [
        "n0004 is declared under c, but measured under a.",
        "n0010 is not declared; it is measured under b.",
        "n0021 is declared under a, but measured under c.",
    ]


def test_whole_leaves_that_are_near_to_each_other_stay_apart_and_torn_ones_do_not() -> None:
    declared = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert divided(np.array([0, 0, 1, 1, 0, 0, 2, 2]), declared).tolist() == [
        0,
        0,
        1,
        1,
        3,
        3,
        2,
        2,
    ]
    torn = np.array([0, 0, 1, 1, 0, 2, 2, 2])
    assert divided(torn, declared).tolist() == torn.tolist()
    assert divided(np.array([0, 0, 0, 0]), np.array([0, 0, -1, 1])).tolist() == [0, 0, 0, 0]


def test_no_leaves_are_inferred_where_all_pairs_are_alike() -> None:
    machine = SurveyMachine(32, 8, "latency", within=1e-6, across=1e-6)
    assert infer_leaves(SimulatedSurvey(machine, SurveyNoise(), 1).full()) is None


def test_no_leaves_are_inferred_from_few_pairs() -> None:
    machine = SurveyMachine(64, 8, "latency", within=1e-6, across=2e-6)
    assert infer_leaves(SimulatedSurvey(machine, SurveyNoise(), 1).sparse()) is None


def test_leaves_below_pods_are_found() -> None:
    machine = SurveyMachine(32, 4, "latency", within=1e-6, across=1.5e-6)
    survey = SimulatedSurvey(machine, SurveyNoise(), 1)
    values = survey.full()
    pods = values.clients // 16 != values.servers // 16
    values.values[pods] *= 2
    measured = infer_leaves(values)
    assert measured is not None
    same = measured[:, None] == measured[None, :]
    assert np.array_equal(same, machine.leaves[:, None] == machine.leaves[None, :])
