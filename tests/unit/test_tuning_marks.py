"""Marked copies differ from a tuning file in what makes a barrier fail, and in nothing else."""

from __future__ import annotations

import json

import pytest

from chiplog.tune.check.proof import NotRules
from chiplog.tune.formats.mpich_cvars import marked as marked_cvars
from chiplog.tune.formats.mpich_json import marked as marked_mpich_json
from chiplog.tune.formats.openmpi_classic import marked as marked_classic
from chiplog.tune.formats.openmpi_json import marked as marked_openmpi_json

BARRIER = "1 # one\n6\n2 # 17 is no number here\n0 1\n0 0 0 0\n3 2\n0 4 0 0\n64 3 0 0\n"


def test_all_barrier_algorithms_of_classic_rules_become_that_of_two_processes() -> None:
    assert marked_classic(BARRIER) == (
        "1 # one\n6\n2 # 17 is no number here\n0 1\n0 5 0 0\n3 2\n0 5 0 0\n64 5 0 0\n"
    )


def test_mistakes_stay_so_that_the_mpi_treats_the_copy_as_it_treats_the_file() -> None:
    assert marked_classic("1 6 1 2 1 8 4 0 0\n") == "1 6 1 2 1 8 5 0 0\n"


def test_rules_for_other_operations_get_one_for_barriers() -> None:
    assert marked_classic("1\n7 1 0 1 0 6 0 0\n") == "2\n7 1 0 1 0 6 0 0\n\n6 1 0 1 0 5 0 0\n"


@pytest.mark.parametrize("text", ["", "# nothing\n", "1\n6\n2\n0 1\n0 4 0 0\n", "hello"])
def test_classic_rules_that_end_too_early_are_none(text: str) -> None:
    with pytest.raises(NotRules):
        marked_classic(text)


def test_open_mpis_json_gets_a_first_rule_for_barriers() -> None:
    found = json.loads(marked_openmpi_json('{"collectives": {"barrier": [{"rules": []}]}}'))
    first, second = found["collectives"]["barrier"]
    assert first["rules"] == [{"alg": 5}] and second == {"rules": []}


def test_mpichs_tree_gets_a_leaf_for_3_ranks_only() -> None:
    own = {"algorithm=own": {}}
    text = json.dumps({"collective=barrier": {"comm_type=intra": own}})
    found = json.loads(marked_mpich_json(text))["collective=barrier"]["comm_type=intra"]
    assert list(found) == ["comm_size<3", "comm_size<=3", "comm_size=any"]
    assert found["comm_size<3"] == found["comm_size=any"] == own


@pytest.mark.parametrize("text", ["{", "[]", '{"collective=bcast": {}}'])
def test_a_partial_tree_is_none(text: str) -> None:
    with pytest.raises(NotRules):
        marked_mpich_json(text)


def test_control_variables_ask_for_what_no_flat_communicator_can_do() -> None:
    text = (
        "# k\nMPIR_CVAR_BARRIER_INTRA_ALGORITHM=k_dissemination\nMPIR_CVAR_BARRIER_DISSEM_KVAL=4\n"
    )
    assert marked_cvars(text).splitlines()[1:] == [
        "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=smp",
        "MPIR_CVAR_BARRIER_DISSEM_KVAL=4",
        "MPIR_CVAR_COLLECTIVE_FALLBACK=error",
    ]
