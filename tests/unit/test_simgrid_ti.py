"""SimGrid's time-independent traces: calls without times, with what is computed before each of them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from needs import require_data
from trace_files import write_actions

from chiplog.application.costs import costs_of
from chiplog.application.replay import schedule_of
from chiplog.cli import main
from chiplog.errors import CorruptFile, UsageError
from chiplog.simulation import LogGOPS, simulate
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import ANYBODY, KINDS, RankTrace


def bytes_of(rank: RankTrace) -> list[tuple[str, int, int]]:
    return [
        (KINDS[kind], sent, received)
        for kind, sent, received in zip(
            *(rank.calls[name].tolist() for name in ("kind", "sent_bytes", "received_bytes")),
            strict=True,
        )
    ]


def test_32_ranks_have_the_collectives_and_flops_that_are_known_of_them() -> None:
    trace = read_trace(require_data("traces/simgrid-ti"))
    assert len(trace.ranks) == 32
    flops: list[float] = []
    for rank in trace.ranks:
        assert rank.computed_flops is not None
        flops.append(rank.computed_flops.sum())
        assert rank.call_counts["MPI_Barrier"] == 16
        assert rank.is_complete
    assert sum(flops) / 32 == pytest.approx(7.3e10, rel=0.03)
    assert costs_of(trace).sizes == ()


def test_folders_single_files_and_archives_hold_the_same(tmp_path: Path) -> None:
    folder = write_actions(tmp_path / "folder")
    one = tmp_path / "one.txt"
    one.write_text("".join(path.read_text() for path in sorted(folder.iterdir())))
    packed = tmp_path / "packed.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder, "traces")
    results = [costs_of(read_trace(place)).to_json() for place in (folder, one, packed)]
    assert results[0] == results[1] == results[2]


def test_counts_are_of_the_datatype_or_of_the_default_that_init_names(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(
        "0 init 1\n0 bcast 10\n0 allreduce 10 5 1\n0 alltoall 10 10 2 2\n0 gatherv 3 7 0 6 6\n0 finalize\n"
    )
    rows = bytes_of(read_trace(tmp_path / "t.txt").ranks[0])
    assert rows[1:5] == [
        ("Bcast", 80, 80),
        ("Allreduce", 40, 40),
        ("Alltoall", 10, 10),
        ("Gatherv", 3, 7),
    ]


def test_requests_are_named_by_source_destination_and_tag(tmp_path: Path) -> None:
    trace = read_trace(write_actions(tmp_path / "folder"))
    assert trace.ranks[0].calls["requests"].tolist() == [0, 1, 0, 1, 0, 0]
    assert trace.ranks[1].calls["peer"].tolist()[1] == 0


def test_a_source_below_zero_is_anybody(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0 init\n0 recv -2 5 100\n1 init\n1 send 0 5 100\n")
    assert read_trace(tmp_path / "t.txt").ranks[0].calls["peer"].tolist()[1] == ANYBODY


def test_flops_become_times_in_a_replay_by_the_speed_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0 init\n0 compute 4e6\n0 barrier\n1 init\n1 barrier\n")
    trace = read_trace(tmp_path / "t.txt")
    with pytest.raises(UsageError, match="--flops-per-second"):
        schedule_of(trace)
    replayed = schedule_of(trace, 1e9)
    simulation = simulate(replayed.schedule, LogGOPS.from_ns(L=1000, o=100, g=10, G=0))
    assert simulation.makespan_ps == (4_000_000 + 1200) * 1000


def test_the_command_takes_the_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_actions(tmp_path / "folder")
    parameters = ["--L", "1000", "--o", "100", "--g", "10", "--G", "0"]
    assert main(["app", str(folder), *parameters]) == 2
    assert main(["app", str(folder), *parameters, "--flops-per-second", "1e9"]) == 0
    assert "By the model it takes" in capsys.readouterr().out


DAMAGE = {
    "0 send 9 0 1": "peer 9",
    "0 send -2 0 1": "peer -2",
    "0 bcast": "too few",
    "0 bcast x": "no number",
    "0 bcast -4": "no number",
    "0 bcast 1e17": "2\\^50",
    "0 bcast 1 7": "root 7",
    "0 dance": "no action",
    "5 barrier": "no rank of 2",
    "x barrier": "no rank",
    "0": "no action",
}


@pytest.mark.parametrize("line", DAMAGE)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "t.txt").write_text(f"0 init\n{line}\n")
    with pytest.raises(CorruptFile, match="line 2: ") as error:
        read_trace(tmp_path / "t.txt")
    assert DAMAGE[line].replace("\\", "") in str(error.value) or "of 1" in str(error.value)


def test_an_archive_that_was_cut_is_named(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(write_actions(tmp_path / "folder"), "traces")
    path = tmp_path / "packed.tgz"
    path.write_bytes(packed.getvalue()[:-80])
    with pytest.raises(CorruptFile, match="damaged or cut"):
        read_trace(path)


@pytest.mark.parametrize("copy", ["copy.txt", "t0.txt.bak", "t0.txt~"])
def test_a_copy_of_a_file_is_named_and_not_added(tmp_path: Path, copy: str) -> None:
    folder = write_actions(tmp_path / "folder")
    original = min(folder.iterdir())
    (folder / copy).write_text(original.read_text())
    with pytest.raises(CorruptFile, match="is one of the files a copy"):
        read_trace(folder)


@pytest.mark.parametrize(
    "line", ["0 comm_size 3", "0 alltoallv 8 1 2 3 8 1 2 3 6 6", "0 gatherv 3 7 7 7 0 6 6"]
)
def test_the_file_of_the_last_rank_that_is_missing_is_missed(tmp_path: Path, line: str) -> None:
    (tmp_path / "t.txt").write_text(f"0 init\n1 init\n{line}\n0 finalize\n1 finalize\n")
    with pytest.raises(CorruptFile, match=r"line 3: .*are files missing"):
        read_trace(tmp_path / "t.txt")
