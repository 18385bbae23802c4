"""The script that runs others' programs with the barrier library notices what fails only with it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from barrier_programs import compile_program, compile_tool
from contained import Contained
from listed_programs import Case, Judge, Suite
from programs_with_library import (
    BARE,
    COMPARED,
    WAYS,
    Results,
    Runner,
    Way,
    outcome_of_trace,
)

from chiplog.measurement.library import BuiltLibrary
from chiplog.measurement.mpis import Mpi

SCRIPT = Path(__file__).parent / "programs_with_library.py"
PATIENCE_SECONDS = 200


@pytest.fixture(scope="module")
def mpi(promised_mpi: Callable[[str], Mpi]) -> Mpi:
    return promised_mpi("openmpi-debian")


@pytest.fixture(scope="module")
def suite(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of which one call fails anyway, and one ends with another status than 0, as it should."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "meeting").mkdir()
    compile_program(mpi, "barrier_cases.cpp", folder / "meeting" / "cases")
    (folder / "meeting" / "testlist").write_text(
        "# comment\n"
        "cases 2 arg=in-a-row arg=5 timeLimit=9 resultTest=TestBench\n"
        "cases 2 arg=no-such-case\n"
        "cases 2 arg=no-such-case env=WHY=wanted resultTest=TestStatus\n"
        "cases 2 arg=in-a-row arg=6\n"
    )
    return folder


def checked(
    mpi: Mpi, suite: Path, results: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    choice = ["--mpi", str(mpi.mpicxx), "--programs", str(suite), "--results", str(results)]
    return subprocess.run(
        [sys.executable, str(SCRIPT), *choice, "--ranks", "2", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_programs_that_pass_with_the_library_are_listed(
    mpi: Mpi, suite: Path, tmp_path: Path
) -> None:
    done = checked(mpi, suite, tmp_path / "results", "--times", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "meeting/cases in-a-row 5: 2 passed\n" in done.stdout
    assert "meeting/cases no-such-case: 2 fails without\n" in done.stdout
    assert "WHY=wanted meeting/cases no-such-case: 2 passed\n" in done.stdout
    assert "ended with 0 without 'No Errors'" in done.stdout
    assert (
        "4 cases, 2 of which pass without the library; 4 runs with it; 0 pass only" in done.stdout
    )


def test_programs_that_pass_under_the_tracer_are_listed_and_leave_traces(
    mpi: Mpi, suite: Path, tmp_path: Path
) -> None:
    done = checked(mpi, suite, tmp_path / "results", "--tracer", "--times", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "meeting/cases in-a-row 5: 2 passed\n" in done.stdout
    assert (
        "4 cases, 2 of which pass without the library; 2 runs with it; 0 pass only" in done.stdout
    )


def test_a_trace_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    assert outcome_of_trace(tmp_path) == "passed"
    (tmp_path / "rank-0.trace").write_bytes(b"CHIPLOGT cut")
    assert outcome_of_trace(tmp_path).startswith("left a trace that can't be read: ")


@pytest.mark.parametrize(
    ("output", "is_right"),
    [
        (" No Errors\n", True),
        ("1: freed No Errors2: freed\n\n", True),
        ("Test Skipped\n", True),
        ("", False),
        (" Found 3 errors\n", False),
    ],
)
def test_what_says_that_there_are_no_errors(output: str, is_right: bool) -> None:
    run = Contained(code=0, output=output, seconds=0.1)
    assert (Judge(says_no_errors=True).outcome(run) == "passed") == is_right


def test_a_library_that_hangs_is_noticed_and_leaves_no_process(
    mpi: Mpi, suite: Path, tmp_path: Path
) -> None:
    stuck = compile_tool(mpi, "stuck_barrier.cpp", tmp_path / "stuck.so")
    results = tmp_path / "results"
    options = ["--times", "1", "--limit", "4", "--library", str(stuck)]
    done = checked(mpi, suite, results, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    wrong = "meeting/cases in-a-row 5 (2 ranks), with the library: passes only without the library"
    assert wrong in done.stdout
    running = [path for path in Path("/proc").glob("[0-9]*") if _runs_below(path, suite)]
    assert not running
    written = results.read_text()
    results.write_text(written + '{"program": "inter')  # as if it had been interrupted
    again = checked(mpi, suite, results, *options)
    assert again.returncode == 1 and results.read_text().startswith(written)
    assert len(results.read_text().splitlines()) == len(written.splitlines()) + 1


@dataclass(frozen=True)
class Drawn(Runner):
    """With more barriers, programs fail by chance: so often with the library, and so often without it."""

    shares: tuple[float, float]
    chance: random.Random

    def _once(self, case: Case, way: Way, turn: int) -> None:
        share = 0.0 if not way.more_barriers else self.shares[0 if way.library else 1]
        outcome = "did not end" if self.chance.random() < share else "passed"
        self.results.add(case, way, turn, {"outcome": outcome, "seconds": 0.1})


@pytest.mark.parametrize(
    ("shares", "least", "most"), [((0.9, 0.3), 15, 20), ((0.5, 0.5), 0, 0), ((0.3, 0.9), 0, 0)]
)
def test_what_fails_more_often_with_the_library_is_told_from_what_fails_now_and_then(
    mpi: Mpi, tmp_path: Path, shares: tuple[float, float], least: int, most: int
) -> None:
    library = BuiltLibrary(tmp_path / "none.so", mpi)
    told = []
    for seed in range(20):
        case, results = Case("program", "", 2, ""), Results(tmp_path / f"results-{seed}")
        suite, chance = Suite(tmp_path), random.Random(seed)
        Drawn(library, tmp_path, tmp_path, suite, results, 3, 1.0, shares, chance).run(case)
        assert results.outcomes(case, BARE) == ["passed"]
        assert len(results.outcomes(case, WAYS[-1])) <= 3 + COMPARED
        told.append(results.is_wrong(case, WAYS[-1]))
    assert least <= sum(bool(one) for one in told) <= most


def _runs_below(process: Path, folder: Path) -> bool:
    try:
        return (process / "exe").readlink().is_relative_to(folder)
    except OSError:
        return False
