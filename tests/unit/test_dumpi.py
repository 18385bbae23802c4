"""DUMPI's binary traces become the calls that DUMPI's own text of them shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dumpi_files import INT, WORLD, dumpi_file, record, write_dumpi
from needs import require_data

from chiplog.application.costs import costs_of
from chiplog.application.joined_calls import join
from chiplog.application.messages import match
from chiplog.errors import CorruptFile
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import ANYBODY, KINDS, NOBODY


def test_the_calls_are_those_of_the_text_and_of_the_counts_of_dumpis_own_tools() -> None:
    trace = read_trace(require_data("traces/dumpi"))
    text = require_data("traces/dumpi/testtrace-0000.txt").read_text()
    time = r"walltime (\d+)\.(\d+), "
    shown = re.findall(rf"MPI_(\w+) entering at {time}.*?returning at {time}", text, re.DOTALL)
    times = [(kind, int(a + b), int(c + d)) for kind, a, b, c, d in shown]
    calls = trace.ranks[0].calls
    read = zip(*(calls[name].tolist() for name in ("kind", "begin_ns", "end_ns")), strict=True)
    start = times[0][1]
    assert [(KINDS[kind], begin + start, end + start) for kind, begin, end in read] == times
    counts = require_data("traces/dumpi/callcounts-single.txt").read_text()
    called = re.findall(r"MPI_(\w+) called ([1-9]\d*) times", counts)
    assert trace.ranks[0].call_counts == {f"MPI_{name}": int(count) for name, count in called}
    assert [row.bytes_sent for row in costs_of(trace).rows] == [4] * 4


@pytest.mark.parametrize("named", ["", "trace.meta", "trace-0001.bin"])
def test_a_trace_is_found_by_its_folder_its_meta_file_and_any_of_its_files(
    tmp_path: Path, named: str
) -> None:
    trace = read_trace(write_dumpi(tmp_path / "run", 4) / named)
    assert len(trace.ranks) == 4
    assert trace.hosts[0] == "node0"
    assert all(rank.is_complete for rank in trace.ranks)


def test_arguments_requests_and_communicators_are_read(tmp_path: Path) -> None:
    trace = read_trace(write_dumpi(tmp_path / "run", 4))
    assert trace.communicators == ((0, 1, 2, 3), (0,), (1,), (2,), (3,), (2, 0), (3, 1))
    rows = {
        KINDS[row["kind"]]: (int(row["sent_bytes"]), int(row["received_bytes"]), int(row["peer"]))
        for row in trace.ranks[0].calls
    }
    assert rows["Isend"] == (800, 0, 1)
    assert rows["Irecv"] == (0, 800, 3)
    assert rows["Sendrecv"] == (4, 0, 1)
    assert rows["Gather"] == (20, 80, 0)
    assert rows["Alltoallv"] == (16, 16, NOBODY)
    joined = join(trace)
    assert match(joined).sends.size == 8
    waits = joined.completed_by[joined.of_kinds("Isend", "Irecv")]
    assert {KINDS[kind] for kind in joined.calls["kind"][waits].tolist()} == {"Waitall"}


def test_any_source_is_resolved_where_a_status_was_kept(tmp_path: Path) -> None:
    for rank in range(2):
        kept = (1,) if rank == 0 else ()
        received = record("Recv", 10, 20, 1, INT, -1, 7, WORLD, kept)
        (tmp_path / f"t-{rank:04}.bin").write_bytes(dumpi_file([received]))
    trace = read_trace(tmp_path)
    assert [int(rank.calls["peer"][0]) for rank in trace.ranks] == [1, ANYBODY]


def test_a_call_whose_arguments_are_not_known_is_named(tmp_path: Path) -> None:
    content = bytearray(dumpi_file([record("Barrier", 10, 20, WORLD)]))
    content[17] = 96  # MPI_Keyval_create
    (tmp_path / "t-0000.bin").write_bytes(content)
    with pytest.raises(CorruptFile, match=r"byte 18: the arguments of MPI_\w+ are not read"):
        read_trace(tmp_path)


@pytest.mark.parametrize("kept", [0, 20, 60, 200, -1, -64, -65])
def test_a_file_that_was_cut_is_named(tmp_path: Path, kept: int) -> None:
    folder = write_dumpi(tmp_path / "run")
    path = folder / "trace-0001.bin"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(CorruptFile, match=r"trace-0001\.bin"):
        read_trace(folder)


def test_ranks_that_make_other_communicators_are_refused(tmp_path: Path) -> None:
    for rank in range(2):
        made = [record("Comm_dup", 10, 20, WORLD, 4)] * (1 - rank)
        (tmp_path / f"t-{rank:04}.bin").write_bytes(dumpi_file(made))
    with pytest.raises(CorruptFile, match="do not make communicators alike"):
        read_trace(tmp_path)
