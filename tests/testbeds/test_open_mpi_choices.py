"""The messages that Open MPI counts in a collective call are those of the algorithm that stands for it in a replay.

Its component pml/monitoring counts them, by sender and receiver.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from barrier_programs import compile_program

from chiplog.application.collective_templates import template
from chiplog.collectives.mpis.choice import CollectiveCall
from chiplog.collectives.mpis.known import release_named
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi
from chiplog.schedule.arrays import SEND
from chiplog.tracing.trace import KINDS

CALLS = 100
FUNCTIONS = (
    *("barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "scan"),
    *("gather", "scatter", "allgather", "alltoall"),
)
Sent = tuple[Counter[int], Counter[int]]
"""Messages, and bytes, that each rank sends in one call."""


@pytest.fixture(scope="module")
def mpi(promised_mpi: Callable[[str], Mpi]) -> Mpi:
    return promised_mpi("openmpi-debian")


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one-collective")
    return compile_program(mpi, "one_collective.cpp", folder / "program")


def counted(mpi: Mpi, program: Path, folder: Path, call: CollectiveCall) -> Sent:
    settings = {"enable": "2", "enable_output": "3", "filename": str(folder / "counts")}
    monitored = [
        word
        for name, value in settings.items()
        for word in ("--mca", f"pml_monitoring_{name}", value)
    ]
    crowd = ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE", "-n", str(call.ranks)]
    command = [
        str(mpi.launcher),
        *crowd,
        *monitored,
        str(program),
        call.function,
        str(call.message_bytes),
    ]
    environment = {**os.environ, **OPEN_MPI_AS_ROOT, **mpi.environment}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    files = sorted(folder.glob("counts.*.prof"))
    if done.returncode != 0 or len(files) != call.ranks:
        pytest.skip(f"{mpi} does not count messages: {done.stderr[-200:]}")
    messages, volume = Counter[int](), Counter[int]()
    for file in files:
        for words in map(str.split, file.read_text().splitlines()):
            if words[:1] == ["I"]:
                messages[int(words[1])] += int(words[5])
                volume[int(words[1])] += int(words[3])
    return Counter({rank: n // CALLS for rank, n in messages.items()}), Counter(
        {rank: n // CALLS for rank, n in volume.items()}
    )


def scheduled(call: CollectiveCall) -> Sent | None:
    """By the algorithm of the replay; None where that is the nearest only."""
    choice = release_named("openmpi-4.1").choose(call)
    if choice.is_nearest:
        return None
    messages, volume = Counter[int](), Counter[int]()
    for rank, steps in enumerate(template(call, choice).steps):
        for step in steps:
            messages[rank] += step.kind == SEND
            volume[rank] += step.amount * (step.kind == SEND)
    return messages, volume


@pytest.mark.parametrize("ranks", [2, 4, 6])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_open_mpi_sends_the_messages_of_the_schedule(
    mpi: Mpi, program: Path, tmp_path: Path, function: str, ranks: int
) -> None:
    """Which of the ranks has a partner more, off powers of two, is left open."""
    assert function.capitalize() in KINDS
    for number, size in enumerate((1,) if function == "barrier" else (12, 65532)):
        call = CollectiveCall(
            function, ranks, size - size % ranks if function == "reduce_scatter" else size
        )
        expected = scheduled(call)
        if expected is None:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        found = counted(mpi, program, folder, call)
        for rank_counts, of_schedule in zip(found, expected, strict=True):
            if function == "barrier" and of_schedule is expected[1]:
                continue  # its messages are empty
            both = [sorted((+each).values()) for each in (rank_counts, of_schedule)]
            assert both[0] == both[1], call
