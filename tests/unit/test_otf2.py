"""OTF2 archives become the trace that they hold; their library is optional."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
from needs import require_data
from otf2_files import write_otf2

from chiplog.application.costs import costs_of
from chiplog.application.joined_calls import join
from chiplog.application.messages import match
from chiplog.errors import CorruptFile, UsageError
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import KINDS, SENDRECV_RECEIVE

HAS_OTF2 = importlib.util.find_spec("otf2") is not None
needs_otf2 = pytest.mark.skipif(not HAS_OTF2, reason="OTF2 is not installed: pip install otf2")


@needs_otf2
def test_the_ping_pong_has_the_messages_and_times_that_are_known_of_it() -> None:
    result = costs_of(read_trace(require_data("traces/pingpong-otf2")))
    assert [round(row.mpi_seconds, 6) for row in result.rows] == [0.196854, 0.196566]
    assert [row.bytes_sent for row in result.rows] == [4_177_920] * 2
    assert [row.bytes_received for row in result.rows] == [4_177_920] * 2
    assert [row.calls["MPI_Send"] for row in result.rows] == [8, 8]


@needs_otf2
def test_ten_ranks_of_score_p_have_the_calls_that_are_known_of_them() -> None:
    trace = read_trace(require_data("traces/sst-macro-otf2/traces.otf2"))
    result = costs_of(trace)
    assert {row.bytes_sent for row in result.rows} == {2_359_260}
    assert {row.bytes_received for row in result.rows} == {2_359_260}
    assert sum(row.calls["MPI_Isend"] for row in result.rows) == 1440
    blocking = ("Bcast", "Gather", "Scatter", "Reduce", "Allgather", "Alltoall", "Allreduce")
    assert sum(row.calls[f"MPI_{name}"] for row in result.rows for name in blocking) == 1200
    assert 0.67 < min(row.mpi_seconds for row in result.rows) + 0.001
    assert round(max(row.mpi_seconds for row in result.rows), 2) == 1.25
    assert trace.communicators == (tuple(range(10)), (0, 6), (1, 7), (2, 8), (3, 9))


@needs_otf2
def test_events_become_calls_with_their_messages_and_requests(tmp_path: Path) -> None:
    trace = read_trace(write_otf2(tmp_path / "archive"))
    kinds = [[KINDS[kind] for kind in rank.calls["kind"].tolist()] for rank in trace.ranks]
    rows = ["Init", "Irecv", "Isend", "Waitall", "Sendrecv", SENDRECV_RECEIVE, "Allreduce"]
    assert kinds == [[*rows, "Finalize"]] * 2
    first = trace.ranks[0].calls
    assert first["peer"].tolist()[1:6] == [1, 1, -1, 1, 1]
    assert first["received_bytes"].tolist()[1] == 4096
    assert first["requests"].tolist()[1:4] == [1, 1, 2]
    assert (first["end_ns"] - first["begin_ns"]).tolist()[:5] == [1000, 500, 500, 2000, 1000]
    assert first["sent_bytes"][6] == 8
    messages = match(join(trace))
    assert messages.sends.size == 4
    assert not messages.lost_sends.size
    assert np.all([rank.is_complete for rank in trace.ranks])


@needs_otf2
def test_an_archive_that_is_cut_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = write_otf2(tmp_path / "archive")
    (folder / "traces.def").write_bytes((folder / "traces.def").read_bytes()[:60])
    with pytest.raises(CorruptFile, match=r"traces\.otf2: "):
        read_trace(folder)


@needs_otf2
@pytest.mark.parametrize("seed", range(6))
def test_an_archive_that_is_damaged_is_read_or_refused_in_a_sentence(
    tmp_path: Path, seed: int
) -> None:
    """Its library may end by a signal, which ends no more than the process that it has for itself."""
    dice = random.Random(seed)
    files = [path for path in write_otf2(tmp_path / "archive").rglob("*") if path.is_file()]
    path = dice.choice(sorted(files))
    content = bytearray(path.read_bytes())
    for _ in range(8):
        content[dice.randrange(len(content))] = dice.randrange(256)
    path.write_bytes(content)
    sentence = ""
    try:
        costs_of(read_trace(tmp_path / "archive"))
    except CorruptFile as error:
        sentence = str(error)
    assert "\n" not in sentence


def test_where_the_library_is_missing_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "otf2", None)
    (tmp_path / "traces.otf2").write_bytes(b"anything")
    with pytest.raises(UsageError, match="needs OTF2, which is not installed: pip install otf2"):
        read_trace(tmp_path)


def test_of_several_archives_in_a_folder_one_must_be_named(tmp_path: Path) -> None:
    for name in ("a.otf2", "b.otf2"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UsageError, match=r"a\.otf2, b\.otf2; name one"):
        read_trace(tmp_path)
