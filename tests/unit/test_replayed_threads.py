"""Replays of traces in which several threads of a rank call MPI at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from trace_files import trace_of

from chiplog.application.joined_calls import join
from chiplog.application.replay import schedule_of
from chiplog.application.threads import threads_of
from chiplog.schedule.arrays import CALC
from chiplog.simulation import LogGOPS, simulate
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.trace import Trace

FREE = LogGOPS.from_ns(L=0, o=0, g=0, G=0)
LATENCY_NS = 500
SLOW = LogGOPS.from_ns(L=LATENCY_NS, o=0, g=0, G=0)
ThreadCall = tuple[int, ImportedCall]


def call(thread: int, kind: str, begin: int, end: int, peer: int = -1, tag: int = 0) -> ThreadCall:
    sent, received = (8 * (kind == name) for name in ("Send", "Recv"))
    return thread, ImportedCall(
        kind, begin, end, peer, tag, sent_bytes=sent, received_bytes=received
    )


def threaded(*ranks: Sequence[ThreadCall]) -> Trace:
    in_order = [sorted(calls, key=lambda each: each[1].begin_ns) for calls in ranks]
    trace = trace_of(*([each for _, each in calls] for calls in in_order))
    built = [
        replace(rank, thread=np.array([thread for thread, _ in calls]))
        for rank, calls in zip(trace.ranks, in_order, strict=True)
    ]
    return replace(trace, ranks=tuple(built))


def makespan_ns(trace: Trace, parameters: LogGOPS) -> float:
    return simulate(schedule_of(trace).schedule, parameters).makespan_ps / 1000


def between_start_and_end(*ranks: Sequence[ThreadCall], end: int = 9000) -> Trace:
    """Thread 0 starts MPI in 100 ns, and ends it in as many when all threads have ended."""
    return threaded(
        *(
            [call(0, "Init_thread", 0, 100), *calls, call(0, "Finalize", end, end + 100)]
            for calls in ranks
        )
    )


def test_threads_compute_at_once_and_are_joined() -> None:
    """Each of two threads computes 4 us, and then a message goes to the other rank's thread of the same number."""
    sends, receives = (
        [call(thread, kind, 4100, 4100, peer, thread) for thread in (1, 2)]
        for kind, peer in (("Send", 1), ("Recv", 0))
    )
    trace = between_start_and_end(sends, receives, end=4100)
    assert makespan_ns(trace, FREE) == pytest.approx(100 + 4000 + 100, abs=2)
    assert makespan_ns(trace, SLOW) == pytest.approx(100 + 4000 + LATENCY_NS + 100, abs=2)


def test_a_thread_begins_when_the_first_one_has_come_so_far() -> None:
    """Thread 0 waits for a message first, so all that follows is later where messages take longer."""
    first = [call(0, "Send", 1100, 1100, 1), call(1, "Send", 3100, 3100, 1, 7)]
    second = [call(0, "Recv", 100, 1100, 0), call(1, "Recv", 3100, 3100, 0, 7)]
    trace = between_start_and_end(first, second, end=3200)
    assert makespan_ns(trace, FREE) == pytest.approx(100 + 1000 + 2000 + 100 + 100, abs=2)
    assert makespan_ns(trace, SLOW) == pytest.approx(
        100 + 1000 + LATENCY_NS + 2000 + 100 + 100, abs=2
    )


def test_threads_that_wait_for_each_other_in_mpi_can_be_replayed() -> None:
    """Thread 1 receives what thread 2 of the same rank sends later: by one thread it would wait for ever."""
    calls = [call(1, "Recv", 200, 2100, 0, 3), call(2, "Send", 2000, 2100, 0, 3)]
    trace = between_start_and_end(calls, end=2200)
    assert makespan_ns(trace, SLOW) == pytest.approx(100 + 1900 + LATENCY_NS + 100 + 100, abs=2)


def test_a_request_may_be_completed_by_another_thread() -> None:
    ranks = []
    for peer, size in ((1, {"sent_bytes": 8}), (0, {"received_bytes": 8})):
        kind = "Isend" if peer == 1 else "Irecv"
        start = ImportedCall(kind, 100, 100, peer, 0, starts="a", **size)
        ranks.append([(0, start), (1, ImportedCall("Wait", 1100, 1100, completes=("a",)))])
    trace = between_start_and_end(*ranks, end=1200)
    assert makespan_ns(trace, FREE) == pytest.approx(100 + 1000 + 100 + 100, abs=2)


def test_collective_operations_of_first_threads_run_beside_other_threads() -> None:
    calls = [call(0, "Barrier", 1100, 1100), call(1, "Send", 5100, 5100, 0, 2)]
    receive = [call(0, "Barrier", 1100, 1100), call(1, "Recv", 5100, 5100, 0, 2)]
    calls[1] = call(1, "Send", 5100, 5100, 1, 2)
    trace = between_start_and_end(calls, receive, end=5100)
    assert makespan_ns(trace, FREE) == pytest.approx(100 + 5000 + 100, abs=2)


def test_a_cpu_is_used_again_once_its_thread_has_ended() -> None:
    calls = [
        *(call(0, "Barrier", begin, begin + 10) for begin in (0, 500, 900)),
        *(call(1, "Barrier", 200, 300), call(2, "Barrier", 250, 350), call(3, "Barrier", 700, 800)),
    ]
    threads = threads_of(join(threaded(calls)))
    assert threads.cpu_of_chain.tolist() == [0, 1, 2, 1]
    assert threads.forks.tolist() == [[0, 1], [0, 2], [1, 3]]
    assert threads.joins.tolist() == [[1, 0], [2, 0], [3, 1]]


def test_a_trace_without_threads_has_one_cpu_a_rank() -> None:
    trace = trace_of([ImportedCall("Init", 0, 10), ImportedCall("Finalize", 500, 510)])
    operations = schedule_of(trace).schedule.operations
    assert operations["cpu"].max() == 0
    assert operations["kind"].tolist() == [CALC]
