"""A trace as a schedule: the same computation and messages, whose times a model then says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import JoinedCalls, collective_calls, join
from chiplog.application.messages import match
from chiplog.application.replay_arrays import ReplayArrays
from chiplog.application.replay_events import events_of
from chiplog.application.replay_plan import NONE, Integers, ReplayPlan, plan_replay
from chiplog.application.threads import Threads, threads_of
from chiplog.collectives.mpis.choice import Chooser
from chiplog.collectives.mpis.known import chooser_of, release_in
from chiplog.counts import refuse_more
from chiplog.errors import CorruptFile, UsageError
from chiplog.schedule.arrays import Schedule
from chiplog.schedule.builder import MOST_OPERATIONS
from chiplog.tracing.trace import (
    COMPLETIONS,
    PROBES,
    STARTS_AND_ENDS,
    WITHOUT_COMMUNICATION,
    Trace,
    kinds,
)

MOST_SECONDS = float(1 << 63) / 1e12
"""Derived: the simulator counts picoseconds in 63 bits."""
MOST_NS = 1 << 62
"""Derived: no time is longer."""
DAY_SECONDS = 86400
"""Given: seconds of a day."""


@dataclass(frozen=True)
class ReplayedTrace:
    """The schedule of a trace."""

    schedule: Schedule
    algorithms: dict[str, str]
    """The algorithm that stands for each collective function that was called."""
    notes: tuple[str, ...]
    start_and_end_seconds: float
    """What MPI_Init and MPI_Finalize, and those of sessions, take in it."""
    unmodelled: tuple[str, ...] = ()
    """As of the trace."""


def schedule_of(
    trace: Trace,
    flops_per_second: float | None = None,
    choose: Chooser | None = None,
    *,
    overlap: bool = False,
) -> ReplayedTrace:
    """The schedule of a trace: what is computed between calls takes as long as it did.

    Collective operations are done by the algorithms that `choose` says; None: that the MPI of the trace takes. With
    `overlap`, what is computed right after a call that waits for requests, or a Sendrecv, is computed before its
    messages are waited for, so that it hides them. A trace that knows flops only needs `flops_per_second`; UsageError
    where it is missing. CorruptFile where a rank computes for longer than can be simulated.
    """
    joined = join(trace)
    choose = choose or chooser_of(release_in(trace.mpi))
    plan = plan_replay(joined, match(joined), collective_calls(joined), choose)
    events = events_of(joined, plan, overlap=overlap)
    threads = threads_of(joined)
    joined, plan, events = threads.calls(joined), threads.plan(plan), threads.events(events)
    computed_ns = computed_times_ns(joined, plan, threads, flops_per_second)
    _refuse_endless(joined, computed_ns)
    arrays = ReplayArrays(joined, plan, events, threads, computed_ns, overlap)
    refuse_more(
        "TRACE: operations of its replay", arrays.operations, MOST_OPERATIONS, "replay a part of it"
    )
    return ReplayedTrace(
        arrays.schedule(),
        plan.algorithms,
        plan.notes,
        _start_and_end_seconds(joined),
        trace.unmodelled,
    )


def computed_times_ns(
    joined: JoinedCalls, plan: ReplayPlan, threads: Threads, flops_per_second: float | None
) -> Integers:
    """The time that a thread computes before each call, or in it: calls that don't communicate are computation, too."""
    ranks = joined.trace.ranks
    if not joined.trace.has_times:
        if flops_per_second is None:
            raise UsageError(
                "--flops-per-second: the trace has flops in place of times; say how fast a rank computes."
            )
        flops = [rank.computed_flops for rank in ranks if rank.computed_flops is not None]
        times = np.minimum(np.concatenate(flops) / flops_per_second * 1e9, float(MOST_NS))
        return np.round(times).astype(np.int64)
    begin, end = joined.calls["begin_ns"], joined.calls["end_ns"]
    before = np.concatenate([[0], end[:-1]])
    is_first = np.ones(begin.size, bool)
    is_first[1:] = threads.chain[1:] != threads.chain[:-1]
    before[is_first] = begin.min(initial=0)
    computed = np.maximum(begin - np.maximum(before, threads.until_ns), 0)
    return np.asarray(computed + _local_ns(joined, plan))


def _refuse_endless(joined: JoinedCalls, computed_ns: Integers) -> None:
    """CorruptFile, or UsageError of flops, where a rank computes for longer than can be simulated."""
    seconds = np.bincount(joined.rank, computed_ns / 1e9)
    if seconds.max(initial=0.0) < MOST_SECONDS:
        return
    rank, days = int(seconds.argmax()), seconds.max() / DAY_SECONDS
    sentence = f"rank {rank} would compute for {days:.3g} days, of which 106 can be simulated"
    if not joined.trace.has_times:
        raise UsageError(f"--flops-per-second: {sentence}; say a faster one.")
    raise CorruptFile(f"the trace can't be replayed: {sentence}: does its clock jump?")


def _local_ns(joined: JoinedCalls, plan: ReplayPlan) -> NDArray[np.int64]:
    """How long calls take that are kept as they were.

    In MPI_Init and the like all ranks wait for each other: of each rank's first call, and second, and so on, the
    shortest is taken for all.
    """
    durations = joined.durations_ns.copy()
    sends, receives = joined.sends_and_receives()
    durations[sends | receives | joined.of_kinds(*COMPLETIONS, *PROBES)] = 0
    durations[plan.way != NONE] = 0
    for name in STARTS_AND_ENDS:
        rows, shortest = _shortest_ns(joined, name)
        durations[rows] = shortest
    return durations


def _start_and_end_seconds(joined: JoinedCalls) -> float:
    ns = np.zeros(len(joined.trace.ranks), np.int64)
    for name in WITHOUT_COMMUNICATION:
        rows, shortest = _shortest_ns(joined, name)
        np.add.at(ns, joined.rank[rows], shortest)
    return int(ns.max(initial=0)) / 1e9


def _shortest_ns(joined: JoinedCalls, name: str) -> tuple[Integers, Integers]:
    """Returns the rows of a function, and for each how long the shortest of all ranks' k-th calls takes, in ns."""
    rows = np.flatnonzero(joined.calls["kind"] == kinds(name)[0])
    rank = joined.rank[rows]
    turn = np.arange(rows.size) - np.searchsorted(rank, rank)
    shortest = np.full(rows.size, np.iinfo(np.int64).max)
    np.minimum.at(shortest, turn, joined.durations_ns[rows])
    return rows, shortest[turn]
