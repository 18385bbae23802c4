"""A written tree of MPICH's takes what was chosen where that holds, and what MPICH's own takes everywhere else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from csel_by_hand import Call, taken

from chiplog.tune.choice import Native, Tuning
from chiplog.tune.formats import mpich_device, openmpi_han
from chiplog.tune.formats.mpich_json import FLAT, INTRA, text_from
from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import SizeVerdict, tuning_of
from chiplog.tune.measured.launch import Cell
from chiplog.tune.mpich_tests import State, settled

CHOSEN = "MPIR_Chosen"
FLAT_CANDIDATE = Candidate("flat", (), FLAT)
RANKS = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64)
FIRST, LAST = 1024, 1500
SIZES = (0, 1, 8, 64, 255, 256, 257, FIRST - 1, FIRST, LAST, LAST + 1, 4000, 40000, 10**6)


def leaf(name: str) -> dict[str, Any]:
    return {f"algorithm=MPIR_{name}": {}}


BY_SIZE = {"avg_msg_size<=0": leaf("none"), "avg_msg_size<12288": leaf("short")}
ALLTOALL = {
    "is_sendbuf_inplace=yes": leaf("in_place"),
    "is_sendbuf_inplace=no": {
        "comm_size<8": {"avg_msg_size<=32768": leaf("a"), "avg_msg_size=any": leaf("b")},
        "comm_size=any": {
            "avg_msg_size<=256": {"comm_size<16": leaf("c"), "comm_size=any": leaf("d")},
            "avg_msg_size=any": leaf("e"),
        },
    },
}
BCAST = {
    "comm_size<8": {
        "comm_hierarchy=parent": {**BY_SIZE, "avg_msg_size=any": leaf("large")},
        "comm_hierarchy=any": {"avg_msg_size=any": leaf("flat")},
    },
    "comm_size=pow2": {**BY_SIZE, "avg_msg_size=any": leaf("pow2")},
    "comm_size=any": {"avg_msg_size<=256": leaf("small"), "avg_msg_size=any": leaf("ring")},
}
ALLREDUCE = {
    "comm_size=node_comm_size": leaf("in_node"),
    "comm_size=any": {
        "avg_msg_size<=8": {"is_commutative=yes": leaf("yes"), "is_commutative=no": leaf("no")},
        "avg_msg_size=any": {
            "is_op_built_in=no": leaf("users"),
            "is_op_built_in=yes": {"count<pow2": leaf("few"), "count=any": leaf("many")},
        },
    },
}
TREES = {"alltoall": ALLTOALL, "bcast": BCAST, "allreduce": ALLREDUCE}


def tuning(operation: str, *ranks: int) -> Tuning:
    candidate = Candidate(CHOSEN, (), Native(CHOSEN))
    cells = [Cell(operation, count, size) for count in ranks for size in (FIRST, LAST)]
    return tuning_of(
        operation, [SizeVerdict(one, candidate, None, 1.0, False, True) for one in cells]
    )


def calls() -> Iterator[Call]:
    words = ("yes", "no")
    for ranks, size, in_place, built_in, hierarchy in itertools.product(
        RANKS, SIZES, words, words, ("parent", "flat")
    ):
        yield {
            "comm_size": ranks,
            "node_comm_size": 4,
            "comm_hierarchy": hierarchy,
            "avg_msg_size": size,
            "count": size,
            "is_sendbuf_inplace": in_place,
            "is_commutative": built_in,
            "is_op_built_in": built_in,
        }


def is_chosen(operation: str, call: Call, ranks: tuple[int, ...]) -> bool:
    """By the sizes and numbers of ranks, and for calls like those that were measured only."""
    if call["comm_size"] not in ranks or not FIRST <= call["avg_msg_size"] <= LAST:
        return False
    if operation == "alltoall":
        return bool(call["is_sendbuf_inplace"] == "no")
    return operation != "allreduce" or call["is_op_built_in"] == "yes"


@pytest.mark.parametrize("operation", TREES)
@pytest.mark.parametrize("ranks", [(4,), (8,), (7, 9), (4, 8, 16), (16, 17)])
def test_the_choice_is_taken_where_it_holds_and_mpichs_own_elsewhere(
    operation: str, ranks: tuple[int, ...]
) -> None:
    own = TREES[operation]
    text = text_from({f"collective={operation}": {INTRA: own}}, tuning(operation, *ranks))
    written = json.loads(text)[f"collective={operation}"][INTRA]
    for call in calls():
        expected = taken(own, call)
        if is_chosen(operation, call, ranks):
            expected = f"algorithm={CHOSEN}"
        assert taken(written, call) == expected, call


def composition(name: str) -> dict[str, Any]:
    return {f"composition=MPIDI_{name}": {}}


DEVICE = {
    "bcast": {
        "comm_hierarchy=parent": {
            "comm_size<8": {"avg_msg_size=any": composition("alpha")},
            "comm_size=any": {
                "avg_msg_size<12288": composition("alpha"),
                "avg_msg_size=any": composition("beta"),
            },
        },
        "comm_hierarchy=any": composition("flat"),
    },
    "allreduce": {
        "comm_size=node_comm_size": composition("in_node"),
        "comm_size=any": {
            "comm_hierarchy=parent": {
                "is_commutative=yes": {"avg_msg_size=any": composition("alpha")},
                "is_commutative=no": composition("flat"),
            },
            "comm_hierarchy=any": composition("flat"),
        },
    },
}


@pytest.mark.parametrize("operation", DEVICE)
@pytest.mark.parametrize("ranks", [(5,), (8,), (7, 9), (5, 8, 16)])
def test_the_device_leaves_calls_to_a_choice_and_keeps_all_others(
    operation: str, ranks: tuple[int, ...]
) -> None:
    own = DEVICE[operation]
    device = {f"collective={operation}": {INTRA: own}}
    (companion,) = mpich_device.companions(device, tuning(operation, *ranks))
    written = json.loads(companion.text)[f"collective={operation}"][INTRA]
    for call in calls():
        expected = taken(own, call)
        if is_chosen(operation, call, ranks) and call["comm_hierarchy"] == "parent":
            expected = "composition=MPIDI_flat"
        assert taken(written, call) == expected, call


@pytest.mark.parametrize(
    ("operation", "branch"),
    [
        ("alltoall", composition("flat")),
        ("bcast", {"comm_hierarchy=any": composition("flat")}),
        ("bcast", None),
    ],
)
def test_where_the_device_never_stands_in_between_it_gets_no_file(
    operation: str, branch: dict[str, Any] | None
) -> None:
    device = {} if branch is None else {f"collective={operation}": {INTRA: branch}}
    assert mpich_device.companions(device, tuning(operation, 4)) == ()


def test_a_tuning_of_one_host_leaves_calls_across_hosts_to_the_device() -> None:
    device = {"collective=bcast": {INTRA: DEVICE["bcast"]}}
    of_one = replace(tuning("bcast", 4), is_of_one_host=True)
    assert mpich_device.companions(device, of_one) == ()
    assert openmpi_han.companions(of_one, (5, 0)) == ()


def test_a_tuning_without_rules_leaves_all_as_it_is() -> None:
    none = tuning_of("bcast", [SizeVerdict(Cell("bcast", 4, 64), None, None, 1.0, False, False)])
    tree, device = ({"collective=bcast": {INTRA: branch}} for branch in (BCAST, DEVICE["bcast"]))
    assert json.loads(text_from(tree, none)) == tree
    assert mpich_device.companions(device, none) == ()
    assert openmpi_han.companions(none, (5, 0)) == ()


def test_what_mpich_takes_without_its_device_is_a_choice_of_its_own() -> None:
    chosen = tuning_of(
        "bcast", [SizeVerdict(Cell("bcast", 5, 64), FLAT_CANDIDATE, None, 1.0, False, True)]
    )
    tree = {"collective=bcast": {INTRA: BCAST}}
    written = json.loads(text_from(tree, chosen))["collective=bcast"][INTRA]
    device = {"collective=bcast": {INTRA: DEVICE["bcast"]}}
    (companion,) = mpich_device.companions(device, chosen)
    of_device = json.loads(companion.text)["collective=bcast"][INTRA]
    for call in calls():
        assert taken(written, call) == taken(BCAST, call)
        is_there = call["comm_size"] == 5 and call["avg_msg_size"] == 64
        assert (taken(of_device, call) != taken(DEVICE["bcast"], call)) == (
            is_there and call["comm_hierarchy"] == "parent"
        )


def test_tests_that_decide_nothing_are_left_out() -> None:
    known = State(ranges={"comm_size": (8, 8), "avg_msg_size": (1, 100)})
    assert settled(BCAST, known) == leaf("short")
    assert settled(ALLTOALL["is_sendbuf_inplace=no"], known) == leaf("c")
    below = State(ranges={"comm_size": (8, 8)}, is_searched=True)
    assert settled(ALLTOALL["is_sendbuf_inplace=no"], below)["avg_msg_size=any"] == leaf("b")
