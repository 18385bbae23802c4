"""Trace files that are damaged, cut or made up end with one sentence; sound ones are read as they are."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest
from own_trace_files import (
    HEADER_BYTES,
    NAMES,
    Entry,
    peer,
    sound_entries,
    sound_trace,
    write_rank,
)

from chiplog.errors import CorruptFile
from chiplog.tracing.importer import read_trace
from chiplog.tracing.recorded_rank import read_ranks
from chiplog.tracing.trace import KINDS
from chiplog.tracing.trace_file import (
    COMMUNICATOR,
    HEADER,
    LISTS,
    NEW_THREAD,
    RANGE,
    SHORT_PEER,
    STARTS,
    UNKNOWN_LEADER,
)


def test_a_sound_trace_is_read_as_it_is(tmp_path: Path) -> None:
    trace = read_trace(sound_trace(tmp_path))
    assert trace.communicators == ((0, 1),)
    assert trace.hosts == ("node", "node")
    assert trace.source == "chiplog trace, Some MPI 1.0"
    rank = trace.ranks[0]
    assert rank.is_complete
    assert [KINDS[kind] for kind in rank.calls["kind"]] == list(NAMES)
    assert rank.calls["begin_ns"].tolist() == [0, 150, 210, 270, 820]
    assert rank.calls["end_ns"].tolist() == [100, 160, 220, 770, 920]
    assert rank.calls["peer"].tolist() == [-1, 1, 1, -1, -1]
    assert rank.calls["tag"].tolist() == [0, 5, 7, 0, 0]
    assert rank.calls["sent_bytes"].tolist() == [0, 8, 0, 0, 0]
    assert rank.calls["received_bytes"].tolist() == [0, 0, 16, 0, 0]
    assert rank.calls["requests"].tolist() == [0, 1, 1, 2, 0]
    first = int(rank.calls["first_request"][3])
    assert rank.requests[first : first + 2].tolist() == rank.requests[:2].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ([(0, 0b11), (0, 0b11)], ""),
        ([(0, 0b01), (0, 0b10)], ""),
        ([(0, 0b01), (0, 0b01)], "2 ranks take turns on 1 processor"),
        ([(0, 0b11), (0, 0b11), (0, 0b10)], "3 ranks take turns on 2 processors"),
        ([(0, 0b01), (0, 0b10), (0, 0b11)], "3 ranks take turns on 2 processors"),
        ([(0, 0b01), (1, 0b01)], ""),
        ([(0, 0b01), (0, 0b01), (2, 0b01), (2, 0b01)], "4 ranks take turns on 2 processors"),
        ([(0, 0), (0, 0)], ""),
    ],
)
def test_more_ranks_than_processors_that_they_may_use_are_said(
    tmp_path: Path, places: list[tuple[int, int]], sentence: str
) -> None:
    for rank, (leader, processors) in enumerate(places):
        write_rank(
            tmp_path,
            rank,
            len(places),
            sound_entries(),
            processors=processors,
            clock_leader=leader,
        )
    trace = read_trace(tmp_path)
    assert len(trace.unmodelled) == bool(sentence)
    assert all(reason.startswith(sentence) for reason in trace.unmodelled)


def test_ranks_of_one_kernel_share_a_clock_where_nobody_has_compared_them(tmp_path: Path) -> None:
    for rank, kernel in enumerate((7, 7, 9, 9)):
        write_rank(tmp_path, rank, 4, sound_entries(), clock_leader=UNKNOWN_LEADER, kernel=kernel)
    leaders = [record.header["clock_leader"] for record in read_ranks(sorted(tmp_path.iterdir()))]
    assert leaders == [0, 0, 2, 2]
    assert read_trace(tmp_path).notes == ("the clocks of node are only known by the time of day",)


def refusal(folder: Path) -> str:
    with pytest.raises(CorruptFile) as caught:
        read_trace(folder)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("kept", [7, 20, 4000, HEADER_BYTES, HEADER_BYTES + 100])
def test_a_cut_file_is_named(tmp_path: Path, kept: int) -> None:
    path = sound_trace(tmp_path) / "rank-1.trace"
    path.write_bytes(path.read_bytes()[:kept])
    assert str(path) in refusal(tmp_path)


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    (sound_trace(tmp_path) / "rank-1.trace").unlink()
    assert "the file of rank 1 of 2 is missing" in refusal(tmp_path)


def test_the_file_of_another_run_is_named(tmp_path: Path) -> None:
    sound_trace(tmp_path)
    write_rank(tmp_path, 1, 3, sound_entries())
    assert "is of rank 1 of 3, not of rank 1 of 2" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("place", "entry", "word"),
    [
        (0, (0, 0, COMMUNICATOR, LISTS, 0, 2**31), "more than the block holds"),
        (2, (100, 20, 2, SHORT_PEER | STARTS, 9, 8), "nowhere described"),
        (4, (100, 1000, 4, RANGE, 0xFFFF, 2**31), "more requests than there are"),
    ],
)
def test_lying_numbers_are_refused(tmp_path: Path, place: int, entry: Entry, word: str) -> None:
    sound_trace(tmp_path)
    entries, words = sound_entries()
    entries[place] = entry
    write_rank(tmp_path, 1, 2, (entries, words))
    assert word in refusal(tmp_path)


def test_a_peer_beyond_its_communicator_is_refused(tmp_path: Path) -> None:
    sound_trace(tmp_path)
    entries, words = sound_entries()
    words[3] = peer(7, 5)
    write_rank(tmp_path, 1, 2, (entries, words))
    assert "names rank 7 of a communicator of 2" in refusal(tmp_path)


def test_whatever_is_damaged_ends_with_a_sentence_or_a_trace(tmp_path: Path) -> None:
    """Bytes of the header, the entries and the words are changed at random."""
    path = sound_trace(tmp_path) / "rank-1.trace"
    sound = path.read_bytes()
    chance = random.Random(7)
    places = [*range(160), *range(HEADER_BYTES, HEADER_BYTES + 160), *range(-32, 0)]
    for _ in range(400):
        damaged = bytearray(sound)
        for _ in range(chance.choice((1, 1, 2, 8))):
            damaged[chance.choice(places)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        path.write_bytes(damaged)
        with contextlib.suppress(CorruptFile):
            read_trace(tmp_path)


def test_ranks_of_one_host_share_the_conversion_of_ticks(tmp_path: Path) -> None:
    """The readings of rank 1's clocks are disturbed, but its ticks are those that rank 0 counts."""
    path = sound_trace(tmp_path) / "rank-1.trace"
    content = bytearray(path.read_bytes())
    header = np.frombuffer(content, HEADER, count=1)[0].copy()
    header["last"]["monotonic_ns"] += 900
    content[: HEADER.itemsize] = header.tobytes()
    path.write_bytes(content)
    first, second = read_trace(tmp_path).ranks
    assert first.calls["begin_ns"].tolist() == second.calls["begin_ns"].tolist()


def test_replays_of_several_threads_are_said_to_be_unmodelled(tmp_path: Path) -> None:
    for rank in range(2):
        entries, words = sound_entries()
        others = [entry for entry in entries if entry[2] == 2]
        write_rank(tmp_path, rank, 2, (entries, words), (others, [words[3]]))
    trace = read_trace(tmp_path)
    for rank in trace.ranks:
        assert rank.thread is not None
        assert sorted(rank.thread.tolist()) == [0] * 5 + [1]
        assert rank.thread[0] == 0
    assert any(note.startswith("several threads call MPI on 2 of 2 ranks") for note in trace.notes)
    assert [reason for reason in trace.unmodelled if "threads of a rank" in reason]


def test_threads_that_follow_each_other_in_a_stream_are_told_apart(tmp_path: Path) -> None:
    entries, words = sound_entries()
    entries[3:3] = [(0, 0, NEW_THREAD, 0, 0, 0)]
    for number in range(2):
        write_rank(tmp_path, number, 2, (entries, words))
    rank = read_trace(tmp_path).ranks[0]
    assert rank.thread is not None
    assert rank.thread.tolist() == [0, 0, 1, 1, 1]


def test_threads_that_call_at_once_count_among_those_that_take_turns(tmp_path: Path) -> None:
    for rank in range(2):
        entries, words = sound_entries()
        others = [(150, 200, 2, SHORT_PEER | STARTS, 0, 8)]
        write_rank(tmp_path, rank, 2, (entries, words), (others, [words[3]]), processors=0b11)
    assert read_trace(tmp_path).unmodelled[0].startswith("4 threads take turns on 2 processors")
