"""Collective operations timed: on a simulated cluster with known times, and with a real MPI."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate
from needs import require_command

from chiplog.benchmarking.benchmark import BenchOptions, bench
from chiplog.benchmarking.result import Bench
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import BENCH, build_program

Platform = Callable[..., SimulatedPlatform]
MpiNamed = Callable[[str], Mpi]

L = 3e-6
BYTES_PER_SECOND = 100e6
ENVELOPE_BYTES = 16


def one_way_seconds(message_bytes: int) -> float:
    return L + (message_bytes + ENVELOPE_BYTES) / BYTES_PER_SECOND


def simulated(platform: SimulatedPlatform, operation: str, ranks: int) -> Bench:
    smpicxx = require_command("smpicxx", "libsimgrid-dev")
    options = BenchOptions(launches=1, samples=20, calls=5, message_bytes=1)
    return bench(operation, ranks=ranks, mpi=str(smpicxx), options=options, simulated=platform)


def test_simulated_clocks_agree_and_all_starts_are_in_time(simulated_platform: Platform) -> None:
    """A larger message back than forth would shift them by half of its further time."""
    found = simulated(simulated_platform(), "barrier", 8)
    assert found.clock_error_seconds < 1e-12
    assert found.mode == "window"
    assert [one.invalid for one in found.rows] == [0, 0, 0]


@pytest.mark.parametrize(
    ("operation", "algorithm", "message_bytes"),
    [("barrier", "ompi_bruck", 0), ("allreduce", "rdb", 1)],
)
def test_start_windows_give_the_time_of_three_rounds(
    operation: str, algorithm: str, message_bytes: int, simulated_platform: Platform
) -> None:
    found = simulated(simulated_platform(f"smpi/{operation}:{algorithm}"), operation, 8)
    expected = 3 * one_way_seconds(message_bytes)
    assert found.row("window", "mpi").seconds.value == pytest.approx(expected, rel=1e-3)


def test_in_a_row_a_broadcast_looks_much_shorter_than_it_is(simulated_platform: Platform) -> None:
    """The root is done when it has sent, and begins the next one while the message is on its way."""
    found = simulated(simulated_platform("smpi/bcast:binomial_tree"), "bcast", 2)
    window, in_a_row = (found.row(mode, "mpi").seconds.value for mode in ("window", "round"))
    assert window == pytest.approx(one_way_seconds(1), rel=1e-3)
    assert in_a_row < 0.1 * window


@pytest.mark.parametrize(("name", "ranks"), [("mpich-debian", 2), ("openmpi-debian", 4)])
def test_a_real_barrier_is_timed_in_three_modes(
    name: str, ranks: int, promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi(name)
    raw, out = tmp_path / "raw.jsonl", tmp_path / "bench.json"
    finished = chiplog(
        *("bench", "barrier", "--ranks", ranks, "--mpi", mpi.mpicxx, "--launches", 1),
        *("--samples", 20, "--budget", 0.5, "--lead", 0.01, "-o", raw, "--json", out),
    )
    assert finished.code == 0, finished.stderr
    content = json.loads(out.read_text())
    validate(content)
    assert content["ranks"] == ranks
    assert {one["mode"] for one in content["rows"]} == {"window", "barrier", "round"}
    assert all(one["median_seconds"] > 0 for one in content["rows"])
    assert raw.read_bytes().count(b"\n") == 6


SLOW_LIBRARY = """
#include <mpi.h>
extern "C" int MPI_Barrier(MPI_Comm world) {
  for (int i = 0; i < 20; ++i) PMPI_Barrier(world);
  return MPI_SUCCESS;
}
"""


@pytest.mark.alone
def test_a_library_of_twenty_barriers_is_slower_than_the_mpis_own(
    promised_mpi: MpiNamed, tmp_path: Path
) -> None:
    mpi = promised_mpi("openmpi-debian")
    source, library, out = (tmp_path / name for name in ("slow.cpp", "slow.so", "bench.json"))
    source.write_text(SLOW_LIBRARY)
    subprocess.run([mpi.mpicxx, "-shared", "-fPIC", source, "-o", library], check=True)
    finished = chiplog(
        *("bench", "barrier", "--mpi", mpi.mpicxx, "--library", "default"),
        *("--library-path", library, "--launches", 1, "--samples", 20, "--budget", 1),
        *("--json", out),
    )
    assert finished.code == 0, finished.stderr
    content = json.loads(out.read_text())
    validate(content)
    assert content["verdict"] == "slower" and content["ratios"]["round"]["value"] > 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--operation", "barier"), "--operation accepts barrier, bcast, "),
        (("--bytes", "8", "--samples"), "--samples needs a value; it accepts --operation, "),
    ],
)
def test_the_program_itself_says_once_what_is_wrong_with_its_options(
    words: tuple[str, ...], sentence: str, promised_mpi: MpiNamed
) -> None:
    program = build_program(BENCH, str(promised_mpi("openmpi-debian").mpicxx))
    started = launch_command(program, 2, words)
    environment = {**os.environ, **started.environment}
    done = subprocess.run(
        started.command, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("chiplog-bench: " + sentence) == 1, done.stderr


def test_a_library_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    finished = chiplog(
        "bench", "barrier", "--library", "default", "--library-path", tmp_path / "none.so"
    )
    assert finished.code == 2 and "libchiplog_coll.so" in finished.stderr
