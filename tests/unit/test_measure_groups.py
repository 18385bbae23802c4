"""What is measured follows the groups and placements that the probe found."""

from __future__ import annotations

from dataclasses import replace

from chiplog.measurement.groups import between_groups, is_distinct, with_notes
from chiplog.plan import PlanOptions, Request
from chiplog.plan.request import SeriesRequest, StopRule

THREE_NODES = {
    "pair_groups": [
        {"between": ["a", "b"], "pairs": 2},
        {"between": ["a", "c"], "pairs": 1},
        {"between": ["b", "c"], "pairs": 1},
    ],
    "placements_differ": True,
    "warnings": [],
}
OPTIONS = PlanOptions("tcp", ("pairs",), (8,), ranks=6, placements=("filled", "round-robin"))
PAIRS = tuple(SeriesRequest("pairs", 8, pairs=k) for k in (1, 2, 3))
REQUEST = Request(1, 0, (SeriesRequest("prtt", 8), *PAIRS), StopRule(0.1, 3, 10, 1000))


def asked(request: Request) -> list[tuple[str, int, tuple[str, str] | None]]:
    return [(one.pattern, one.pairs, one.between) for one in request.series]


def test_pairs_run_between_the_first_two_groups_as_far_as_these_have_ranks() -> None:
    assert asked(between_groups(REQUEST, THREE_NODES, every=False)) == [
        ("prtt", 1, None),
        ("pairs", 1, ("a", "b")),
        ("pairs", 2, ("a", "b")),
    ]


def test_every_two_nodes_are_series_of_their_own_in_one_record() -> None:
    found = between_groups(REQUEST, THREE_NODES, every=True)
    assert found.id == REQUEST.id
    assert asked(found)[1:] == [
        ("pairs", 1, ("a", "b")),
        ("pairs", 1, ("a", "c")),
        ("pairs", 1, ("b", "c")),
        ("pairs", 2, ("a", "b")),
    ]


def test_exchanges_run_between_the_same_groups_as_pairs() -> None:
    exchanges = replace(REQUEST, series=(SeriesRequest("exchange", 8, pairs=2), PAIRS[1]))
    assert asked(between_groups(exchanges, THREE_NODES, every=True)) == [
        ("exchange", 2, ("a", "b")),
        ("pairs", 2, ("a", "b")),
    ]


def test_a_probe_that_tells_no_groups_is_asked_as_planned() -> None:
    assert between_groups(REQUEST, {}, every=True) is REQUEST


def test_placements_that_bind_alike_are_measured_once_and_the_file_says_so() -> None:
    alike = {**THREE_NODES, "placements_differ": False}
    assert [is_distinct(launch, OPTIONS, alike) for launch in range(4)] == [True, False] * 2
    assert all(is_distinct(launch, OPTIONS, THREE_NODES) for launch in range(4))
    note = with_notes(alike, OPTIONS)["warnings"][0]
    assert note["fact"].startswith("filled and round-robin bind these ranks alike")
    assert "sockets" in note["remedy"]
    one = replace(OPTIONS, placements=("filled",))
    assert not any("alike" in note["fact"] for note in with_notes(alike, one)["warnings"])


def test_a_launcher_that_bound_the_ranks_is_told_to_leave_them() -> None:
    bound = {**THREE_NODES, "placements_differ": False, "placement": "launcher"}
    assert "--bind-to none" in with_notes(bound, OPTIONS)["warnings"][0]["remedy"]


def test_fewer_pairs_than_ranks_could_make_are_told() -> None:
    (note,) = with_notes(THREE_NODES, OPTIONS)["warnings"]
    assert (note["number"], note["unit"]) == (2, "pairs")
    assert with_notes(THREE_NODES, replace(OPTIONS, ranks=4))["warnings"] == []
