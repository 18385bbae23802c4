"""liballprof's text becomes the trace that was recorded: times, bytes, peers, requests and communicators."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from needs import require_data
from trace_files import Allprof, ring, write_allprof

from chiplog.errors import CorruptFile, UsageError
from chiplog.tracing.importer import TraceOptions, read_trace
from chiplog.tracing.trace import ANYBODY, KINDS, NOBODY, RankTrace


def kinds_of(rank: RankTrace) -> list[str]:
    return [KINDS[kind] for kind in rank.calls["kind"].tolist()]


def test_sweep3d_has_the_bytes_and_times_that_are_known_of_it() -> None:
    trace = read_trace(require_data("traces/sweep3d"))
    in_mpi_ms = [round(rank.mpi_seconds * 1e3, 6) for rank in trace.ranks]
    spans_ms = [round(rank.seconds * 1e3, 6) for rank in trace.ranks]
    assert in_mpi_ms == [2602.317, 2952.917, 2753.777, 2584.370]
    assert spans_ms == [42539.134, 42539.463, 42539.465, 42522.220]
    for rank in trace.ranks:
        messages = np.isin(rank.calls["kind"], [KINDS.index("Send"), KINDS.index("Recv")])
        assert rank.calls["sent_bytes"][messages].sum() == 51_840_000
        assert rank.calls["received_bytes"][messages].sum() == 51_840_000


def test_a_trace_is_found_by_its_folder_and_by_any_of_its_files(tmp_path: Path) -> None:
    folder = ring(tmp_path / "ring")
    for file in folder.iterdir():
        packed = gzip.compress(file.read_bytes())
        file.unlink()
        file.with_name(f"{file.name}.gz").write_bytes(packed)
    trace = read_trace(folder)
    assert len(trace.ranks) == 4
    assert trace.hosts == ("node0", "node1", "node2", "node3")
    assert len(read_trace(folder / "pmpi-trace-rank-2.txt.gz").ranks) == 4
    once = ["Isend", "Recv", "Wait", "Allreduce"]
    assert kinds_of(trace.ranks[1]) == ["Init", *once, *once, *once, "Finalize"]
    assert trace.ranks[1].is_complete


def test_an_address_that_is_used_again_is_another_request(tmp_path: Path) -> None:
    rank = read_trace(ring(tmp_path / "ring")).ranks[0]
    assert rank.requests.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("step", [4, 8])
def test_waitall_completes_the_requests_of_an_array_of_either_mpi(
    tmp_path: Path, step: int
) -> None:
    files = [Allprof(rank, 2) for rank in range(2)]
    for rank, file in enumerate(files):
        file.start("Irecv", 20, 1 - rank, 1000)
        file.start("Isend", 22, 1 - rank, 1000 + step)
        file.add("Waitall", 30, (2, 1000, 0), 40)
    trace = read_trace(write_allprof(tmp_path / "trace", files))
    assert trace.ranks[0].calls["requests"].tolist() == [0, 1, 1, 2]


def wildcards(folder: Path, number: int, *, sends: int, named: int = 0) -> Path:
    """Rank 0 receives twice from `number`; rank 1 sends so often."""
    receiver, sender = Allprof(0, 2), Allprof(1, 2)
    for turn in range(2):
        receiver.receive(20 + 10 * turn, 25 + 10 * turn, number)
    for turn in range(named):
        receiver.receive(60 + 10 * turn, 65 + 10 * turn, 1)
    for turn in range(sends):
        sender.send(20 + 10 * turn, 21 + 10 * turn, 0)
    return write_allprof(folder, [receiver, sender])


def test_the_messages_tell_which_number_is_any_source(tmp_path: Path) -> None:
    from_anywhere = read_trace(wildcards(tmp_path / "any", -2, sends=3, named=1))
    from_nobody = read_trace(wildcards(tmp_path / "null", -2, sends=1, named=1))
    open_mpi = read_trace(wildcards(tmp_path / "open", -1, sends=2))
    assert from_anywhere.ranks[0].calls["peer"].tolist() == [NOBODY, ANYBODY, ANYBODY, 1]
    assert from_nobody.ranks[0].calls["peer"].tolist() == [NOBODY, NOBODY, NOBODY, 1]
    assert open_mpi.ranks[0].calls["peer"].tolist() == [NOBODY, ANYBODY, ANYBODY]


def test_what_the_trace_does_not_tell_is_asked(tmp_path: Path) -> None:
    folder = wildcards(tmp_path / "cut", -2, sends=1)
    with pytest.raises(UsageError, match="--any-source"):
        read_trace(folder)
    trace = read_trace(folder, TraceOptions(any_source=-1))
    assert trace.ranks[0].calls["peer"].tolist() == [NOBODY] * 3
    assert trace.ranks[0].calls["received_bytes"].sum() == 0


def test_members_of_communicators_that_were_split_off_are_world_ranks(tmp_path: Path) -> None:
    files = [Allprof(rank, 4) for rank in range(4)]
    for rank, file in enumerate(files):
        file.add("Comm_split", 20, (file.world, rank % 2, 0, 64), 30)
        half = f"1,{rank // 2},2"
        file.add("Send" if rank < 2 else "Recv", 40, _arguments(rank, half), 50)
    trace = read_trace(write_allprof(tmp_path / "split", files))
    assert trace.communicators == ((0, 1, 2, 3), (0, 2), (1, 3))
    assert [rank.calls["peer"][-1] for rank in trace.ranks] == [2, 3, 0, 1]
    assert [rank.calls["communicator"][-1] for rank in trace.ranks] == [1, 2, 1, 2]


def _arguments(rank: int, half: str) -> tuple[object, ...]:
    message = (64, 1, "11,8,8", 1 - rank // 2, 7, half)
    return message if rank < 2 else (*message, 0)


def test_clocks_are_corrected_by_what_was_measured_in_init(tmp_path: Path) -> None:
    files = [Allprof(0, 2), Allprof(1, 2, clock_us=-1000.0)]
    files[0].send(20, 30, 1)
    files[1].receive(1020, 1030, 0)
    trace = read_trace(write_allprof(tmp_path / "clocks", files))
    assert trace.ranks[1].calls["begin_ns"][1] - trace.ranks[0].calls["begin_ns"][1] == 0


DAMAGE = {
    "MPI_Send:5:64:1:11,8,8:1:0:0,0,1": "no time",
    "MPI_Send:5:64:1:11,8,8:1:0:6": "arguments",
    "MPI_Send:5:64:1:11,8:1:0:0,0,1:6": "datatype",
    "MPI_Send:5:64:-1:11,8,8:1:0:0,0,1:6": "negative",
    "MPI_Send:5:64:1:11,8,8:9:0:0,0,1:6": "rank 9",
    "MPI_Send:5:64:1:11,8,8:-7:0:0,0,1:6": "rank -7",
    "MPI_Send:5:64:1:11,8,8:1:0:0,3,1:6": "communicator",
    "MPI_Send:5:64:1:11,8,8:1:0:0,0,2:6": "another size",
    "MPI_Send:5:64:9999999999999:11,99999999,8:0:0:0,0,1:6": "2\\^50",
    "MPI_Barrier:9:0,0,1:5": "before",
    "MPI_Barrier:x:0,0,1:5": "time",
    "MPI_Wtime:-:-": "no time",
    "garbage": "no call",
}


@pytest.mark.parametrize("line", DAMAGE)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "trace-0.txt"
    path.write_text(f"MPI_Init:-:1:2:3\nMPI_Comm_rank:3:0,0,1:9:4\n{line}\n")
    with pytest.raises(CorruptFile, match=DAMAGE[line]) as error:
        read_trace(path)
    assert str(path) in str(error.value)


def test_a_missing_file_and_a_file_twice_are_named(tmp_path: Path) -> None:
    folder = ring(tmp_path / "ring")
    (folder / "pmpi-trace-rank-1.txt").unlink()
    with pytest.raises(CorruptFile, match="rank 1 is missing"):
        read_trace(folder)
    (folder / "pmpi-trace-rank-01.txt").write_text("MPI_Init:-:1:2:3\n")
    (folder / "pmpi-trace-rank-1.txt").write_text("MPI_Init:-:1:2:3\n")
    with pytest.raises(CorruptFile, match="both of rank 1"):
        read_trace(folder)


def test_a_packed_file_that_was_cut_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(b"MPI_Init:-:1:2:3\n" * 9000)
    path = tmp_path / "trace-0.txt.gz"
    path.write_bytes(packed[: len(packed) - 12])
    with pytest.raises(CorruptFile, match="damaged or cut"):
        read_trace(path)


def test_what_is_no_trace_says_which_traces_are_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    with pytest.raises(CorruptFile, match="liballprof"):
        read_trace(tmp_path)
    with pytest.raises(UsageError, match="No such file"):
        read_trace(tmp_path / "nowhere")


def cut(folder: Path, end: str) -> Path:
    """A ring of which rank 1 was killed while it wrote `end`, its last line."""
    path = ring(folder) / "pmpi-trace-rank-1.txt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + end)
    return folder


@pytest.mark.parametrize("end", ["MPI_Sen", "MPI_Barrier:99999.0:0,0,2:11", "MPI_Finalize:99999"])
def test_the_line_that_a_killed_program_was_writing_is_left_out(tmp_path: Path, end: str) -> None:
    trace = read_trace(cut(tmp_path / "ring", end))
    assert [rank.is_complete for rank in trace.ranks] == [True, False, True, True]


def test_a_last_line_without_an_end_counts_where_it_ends_the_program(tmp_path: Path) -> None:
    assert (
        read_trace(cut(tmp_path / "ring", "MPI_Finalize:1700000000000299.5:-")).ranks[1].is_complete
    )


def test_calls_that_go_back_in_time_are_named(tmp_path: Path) -> None:
    folder = cut(tmp_path / "ring", "MPI_Finalize:0.5:-\n")
    with pytest.raises(CorruptFile, match="MPI_Finalize begins before the call above it"):
        read_trace(folder)
