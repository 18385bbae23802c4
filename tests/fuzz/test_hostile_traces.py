"""Traces of `chiplog trace` whose numbers lie, and traces whose calls contradict each other, are refused in a sentence.

In bounded memory, whatever their numbers say. A few examples by default; CHIPLOG_TEST_LONG=1 tries many.
"""

from __future__ import annotations

import os
import random
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from command import chiplog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from own_trace_files import BLOCK_BYTES, HEADER_BYTES, Entry, peer, sound_entries, write_rank
from trace_files import trace_of

from chiplog.application.costs import costs_of
from chiplog.application.replay import schedule_of
from chiplog.errors import CorruptFile, UsageError
from chiplog.jobs.replay import ReplayBy, replay
from chiplog.simulation import LogGOPS
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import ANYBODY, Trace
from chiplog.tracing.trace_file import BLOCK, ENTRY, HEADER

EXAMPLES = 2000 if os.environ.get("CHIPLOG_TEST_LONG") else 150
PATIENT = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
MOST_BYTES = 64 << 20
"""The files have 140 kB."""
BY = ReplayBy(parameters=LogGOPS.from_ns(L=1000, o=100, g=100, G=1, S_bytes=100))
BY_HAND = ("--L", "1000", "--o", "100", "--g", "100", "--G", "1")


def lied(array: np.ndarray, dice: random.Random) -> None:
    """One number of a structured array replaced by one that is too small, too large, or nearly right."""
    place = tuple(dice.randrange(length) for length in array.shape)
    names = [
        name for name, (kind, *_) in (array.dtype.fields or {}).items() if kind.base.kind != "S"
    ]
    name = dice.choice(names)
    column = array[name]
    if column.dtype.fields:
        lied(column, dice)
        return
    limits = np.iinfo(column.dtype)
    near = int(column[place]) + dice.choice((-1, 1))
    value = dice.choice(
        (0, 1, limits.max, limits.max // 2 + 1, limits.min, near, dice.randrange(limits.max))
    )
    column[place] = min(max(value, limits.min), limits.max)


def lie(content: bytearray, dice: random.Random) -> None:
    """In the header, the head of the block, an entry or a word."""
    what = dice.choice(("header", "block", "entry", "entry", "word"))
    if what == "header":
        lied(np.frombuffer(content, HEADER, count=1), dice)
    elif what == "block":
        lied(np.frombuffer(content, BLOCK, count=1, offset=HEADER_BYTES), dice)
    elif what == "entry":
        lied(np.frombuffer(content, ENTRY, count=7, offset=HEADER_BYTES + BLOCK.itemsize), dice)
    else:
        words = np.frombuffer(content, "<u4", offset=HEADER_BYTES + BLOCK_BYTES - 32)
        words[dice.randrange(8)] = dice.choice((0, 1, 5, 2**31, 2**32 - 1, dice.randrange(2**32)))


def write_several(folder: Path, dice: random.Random) -> list[Path]:
    """Of one or two threads a rank."""
    threads = dice.choice((1, 1, 2))
    return [write_rank(folder, rank, 3, *threads * [sound_entries()]) for rank in range(3)]


def damage(paths: list[Path], dice: random.Random) -> None:
    for _ in range(dice.choice((1, 1, 2, 4))):
        path = dice.choice(paths)
        content = bytearray(path.read_bytes())
        how = dice.randrange(8)
        if how == 0:
            content = content[: dice.randrange(len(content))]
        elif how == 1:
            content += content[HEADER_BYTES:]
        elif how == 2:
            content = bytearray(dice.choice(paths).read_bytes())
        elif len(content) >= HEADER_BYTES + BLOCK_BYTES:
            lie(content, dice)
        path.write_bytes(content)
    if dice.random() < 0.05:
        dice.choice(paths).unlink()


@PATIENT
@given(seed=st.integers(0, 2**32))
def test_lying_numbers_end_with_a_sentence_or_a_trace_in_bounded_memory(seed: int) -> None:
    dice = random.Random(seed)
    refusal = ""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_several(Path(folder), dice)
        damage(paths, dice)
        tracemalloc.start()
        try:
            trace = read_trace(folder)
            rows = costs_of(trace).rows
            replay(costs_of(trace), schedule_of(trace), BY)
        except (CorruptFile, UsageError) as error:
            refusal, rows = str(error), ()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "\n" not in refusal
    assert most < MOST_BYTES
    assert all(row.waiting_seconds <= row.mpi_seconds + 1e-9 for row in rows)


def drawn_calls(dice: random.Random, rank: int, ranks: int) -> list[ImportedCall]:
    """Calls that need not fit those of other ranks; times may go back and jump."""
    calls: list[ImportedCall] = []
    now, opened = 0, 0
    for _ in range(dice.randrange(12)):
        now += dice.choice((0, 10, 10_000, -500, 2**40))
        end = now + dice.choice((0, 1, 1000))
        other = dice.choice((*range(ranks), ANYBODY))
        kind = dice.choice(
            ("Send", "Ssend", "Recv", "Isend", "Irecv", "Wait", "Bcast", "Allreduce", "Scan")
        )
        size = dice.choice((0, 8, 5000, 2**40))
        if kind == "Wait":
            calls.append(ImportedCall(kind, now, end, completes=(dice.randrange(opened + 1),)))
            continue
        if kind in ("Send", "Ssend", "Isend", "Bcast") and other == ANYBODY:
            other = rank
        gives = kind not in ("Recv", "Irecv")
        gets = kind not in ("Send", "Ssend", "Isend")
        starts = opened if kind in ("Isend", "Irecv") else None
        opened += starts is not None
        calls.append(
            ImportedCall(
                kind, now, end, other, dice.randrange(2), size * gives, size * gets, starts=starts
            )
        )
    return calls


def replayed(trace: Trace) -> str:
    """The refusal, if it can't be."""
    try:
        answer = replay(costs_of(trace), schedule_of(trace), BY)
    except (CorruptFile, UsageError) as error:
        return str(error)
    assert 0 <= answer.low <= answer.seconds <= answer.high
    return ""


@PATIENT
@given(seed=st.integers(0, 2**32))
def test_calls_that_contradict_each_other_are_replayed_or_refused(seed: int) -> None:
    dice = random.Random(seed)
    ranks = dice.randrange(1, 5)
    trace = trace_of(*(drawn_calls(dice, rank, ranks) for rank in range(ranks)))
    assert "\n" not in replayed(trace)


def in_a_circle(
    entries: list[Entry], words: list[int], receives_first: bool
) -> tuple[list[Entry], list[int]]:
    """Init, a Recv and a Send, or the other way round, Finalize; by the names of `sound_entries`."""
    del entries
    send, receive = (100, 20, 2, 1, 0, 8), (100, 20, 3, 1, 0, 0)
    middle = [receive, send] if receives_first else [send, receive]
    return [
        (0, 0, 251, 64, 0, 3),
        (0, 200, 1, 0, 0xFFFF, 0),
        *middle,
        (100, 200, 5, 0, 0xFFFF, 0),
    ], words


def test_the_command_refuses_a_hostile_trace_with_exit_code_5(tmp_path: Path) -> None:
    """A file that is cut, one that is missing, a request that was never made, and ranks that wait in a circle."""
    made = {name: tmp_path / name for name in ("cut", "missing", "circle")}
    for name, folder in made.items():
        folder.mkdir()
        for rank in range(2):
            entries, words = sound_entries()
            if name == "circle":
                entries, words = in_a_circle(
                    entries, [0, 1, 2, peer(1 - rank, 0), peer(1 - rank, 0)], True
                )
            path = write_rank(folder, rank, 2, (entries, words))
            if name == "circle":
                content = bytearray(path.read_bytes())
                names = np.frombuffer(content, HEADER, count=1)["names"][0]
                names[1], names[2] = b"Send", b"Recv"
                path.write_bytes(content)
    cut = made["cut"] / "rank-1.trace"
    cut.write_bytes(cut.read_bytes()[: HEADER_BYTES + 100])
    (made["missing"] / "rank-1.trace").unlink()
    for folder in made.values():
        done = chiplog("app", folder, *BY_HAND)
        assert done.code == 5, done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) <= 2


def test_a_request_that_was_never_made_takes_no_memory(tmp_path: Path) -> None:
    entries, words = sound_entries()
    words[5] = 2**32 - 3
    for rank in range(2):
        write_rank(tmp_path, rank, 2, (entries, words))
    tracemalloc.start()
    costs_of(read_trace(tmp_path))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MOST_BYTES


def test_a_trace_of_sixteen_million_ranks_with_one_file_takes_no_memory(tmp_path: Path) -> None:
    entries, words = sound_entries()
    words[2] = 2**24
    write_rank(tmp_path, 0, 2**24, (entries, words))
    tracemalloc.start()
    with pytest.raises(CorruptFile, match="rank 1 of 16777216 is missing"):
        read_trace(tmp_path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MOST_BYTES
