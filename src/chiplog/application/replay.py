"""A trace as a schedule: the same computation and messages, whose times a model then says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.application.collective_calls import collective_calls
from chiplog.application.joined_calls import JoinedCalls, join
from chiplog.application.messages import match
from chiplog.application.replay_plan import ReplayPlan, plan_replay
from chiplog.collectives.mpis.choice import Chooser
from chiplog.collectives.mpis.known import chooser_of, release_in
from chiplog.counts import refuse_more
from chiplog.errors import CorruptFile, UsageError
from chiplog.schedule.arrays import CALC, DEPENDENCY, OPERATION, RECEIVE, SEND, Schedule
from chiplog.schedule.builder import MOST_OPERATIONS
from chiplog.tracing.trace import (
    COMPLETIONS,
    ICOLLECTIVES,
    IRECEIVES,
    ISENDS,
    PROBES,
    SENDRECV_RECEIVE,
    STARTS,
    STARTS_AND_ENDS,
    Trace,
    kinds,
)

MOST_SECONDS = 2.0**63 / 1e12
"""The simulator counts picoseconds."""


@dataclass(frozen=True)
class ReplayedTrace:
    """The schedule of a trace."""

    schedule: Schedule
    algorithms: dict[str, str]
    """The algorithm that stands for each collective function that was called."""
    notes: tuple[str, ...]


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
    steps = sum(
        len(collective.steps_of(int(joined.rank[row])))
        for row, collective in plan.collectives.items()
    )
    most = 2 * joined.calls.size + steps
    refuse_more("TRACE: operations of its replay", most, MOST_OPERATIONS, "replay a part of it")
    computed_ns = _computed_ns(joined, plan, flops_per_second)
    _refuse_endless(joined, computed_ns)
    starts = joined.of_kinds(*ISENDS, *IRECEIVES, *ICOLLECTIVES, *STARTS)
    first_request = joined.calls["first_request"].tolist()
    requests = joined.calls["requests"].tolist()
    halves = frozenset(np.flatnonzero(joined.of_kinds(SENDRECV_RECEIVE)).tolist())
    numbers_of = [rank_trace.requests.tolist() for rank_trace in trace.ranks]
    writer = ScheduleWriter()
    state = RankReplay(plan, writer, 0, overlap=overlap)
    for row, rank in enumerate(joined.rank.tolist()):
        if rank != state.rank:
            state.compute()
            state = RankReplay(plan, writer, rank, overlap=overlap)
        begin = first_request[row]
        numbers = numbers_of[rank][begin : begin + requests[row]]
        state.computed_ns += computed_ns[row]
        if row + 1 in halves:
            continue
        if row in halves:
            before = first_request[row - 1]
            shared = numbers_of[rank][before : before + requests[row - 1]]
            state.exchange((row - 1, row), shared or None)
        elif row in plan.collectives or row in plan.tags:
            state.begin(row, numbers if starts[row] else None)
        elif numbers:
            state.complete(numbers)
    state.compute()
    schedule = writer.schedule(len(trace.ranks))
    return ReplayedTrace(schedule, plan.algorithms, plan.notes)


def _computed_ns(
    joined: JoinedCalls, plan: ReplayPlan, flops_per_second: float | None
) -> list[int]:
    """The time that a rank computes before each call, or in it: calls that don't communicate are computation, too."""
    ranks = joined.trace.ranks
    if not joined.trace.has_times:
        if flops_per_second is None:
            raise UsageError(
                "--flops-per-second: the trace has flops in place of times; say how fast a rank computes."
            )
        flops = [rank.computed_flops for rank in ranks if rank.computed_flops is not None]
        times = np.minimum(np.concatenate(flops) / flops_per_second * 1e9, 2.0**62)
        return [int(time) for time in np.round(times)]
    begin, end = joined.calls["begin_ns"], joined.calls["end_ns"]
    before = np.concatenate([[0], end[:-1]])
    is_first = np.ones(begin.size, bool)
    is_first[1:] = joined.rank[1:] != joined.rank[:-1]
    before[is_first] = begin.min(initial=0)
    computed = np.maximum(begin - before, 0)
    return [int(time) for time in computed + _local_ns(joined, plan)]


def _refuse_endless(joined: JoinedCalls, computed_ns: list[int]) -> None:
    """CorruptFile, or UsageError of flops, where a rank computes for longer than can be simulated."""
    seconds = np.bincount(joined.rank, np.array(computed_ns, np.float64) / 1e9)
    if seconds.max(initial=0.0) < MOST_SECONDS:
        return
    rank, days = int(seconds.argmax()), seconds.max() / 86400
    told = f"rank {rank} would compute for {days:.3g} days, of which 106 can be simulated"
    if not joined.trace.has_times:
        raise UsageError(f"--flops-per-second: {told}; say a faster one.")
    raise CorruptFile(f"the trace can't be replayed: {told}: does its clock jump?")


def _local_ns(joined: JoinedCalls, plan: ReplayPlan) -> NDArray[np.int64]:
    """How long calls take that are kept as they were.

    In MPI_Init and the like all ranks wait for each other: the shortest of these calls is taken for all.
    """
    durations = joined.durations_ns.copy()
    sends, receives = joined.sends_and_receives()
    durations[sends | receives | joined.of_kinds(*COMPLETIONS, *PROBES)] = 0
    durations[list(plan.collectives)] = 0
    for name in STARTS_AND_ENDS:
        rows = joined.calls["kind"] == kinds(name)[0]
        durations[rows] = durations[rows].min(initial=2**62)
    return durations


class ScheduleWriter:
    """Collects operations and what they wait for."""

    def __init__(self) -> None:
        self._operations: list[tuple[int, int, int, int, int]] = []
        self._ends: list[tuple[int, int]] = []
        self._starts: list[tuple[int, int]] = []

    def add(self, operation: tuple[int, int, int, int, int], after: Front) -> int:
        """Adds an operation, (amount, rank, peer, tag, kind), that waits for `after`; returns its index."""
        index = len(self._operations)
        self._operations.append(operation)
        self._ends += [(index, on) for on in after.ended]
        self._starts += [(index, on) for on in after.started]
        return index

    def schedule(self, ranks: int) -> Schedule:
        """The schedule of all that was added."""
        operations = np.zeros(len(self._operations), OPERATION)
        columns = np.array(self._operations, np.int64).reshape(-1, 5).T
        for name, column in zip(("amount", "rank", "peer", "tag", "kind"), columns, strict=True):
            operations[name] = column
        ends, starts = (
            np.array(pairs, DEPENDENCY) if pairs else np.empty(0, DEPENDENCY)
            for pairs in (self._ends, self._starts)
        )
        return Schedule(ranks, operations, ends, starts)


class Front(NamedTuple):
    """What the next operation of a rank waits for: operations that have ended, and others that have started."""

    ended: tuple[int, ...] = ()
    started: tuple[int, ...] = ()


class RankReplay:
    """Adds the operations of a rank, call by call."""

    def __init__(
        self, plan: ReplayPlan, writer: ScheduleWriter, rank: int, *, overlap: bool = False
    ) -> None:
        self._plan, self._writer, self.rank = plan, writer, rank
        self._overlap = overlap
        self._front = Front()
        self._awaited: tuple[int, ...] = ()
        self._open: dict[int, tuple[int, ...]] = {}
        self.computed_ns = 0

    def compute(self) -> None:
        """Adds what was computed since the last operation; what that was to hide is waited for now."""
        if self.computed_ns:
            operation = (self.computed_ns, self.rank, 0, 0, CALC)
            self._front = Front((self._writer.add(operation, self._front),))
            self.computed_ns = 0
        if self._awaited:
            self._front = Front((*self._front.ended, *self._awaited), self._front.started)
            self._awaited = ()

    def begin(self, row: int, requests: list[int] | None) -> None:
        """Adds a message or a collective operation; with `requests`, the rank goes on while it is under way."""
        self.compute()
        if row in self._plan.collectives:
            self._go_on(*self._collective(row), requests)
        else:
            self.exchange((row,), requests)

    def exchange(self, rows: tuple[int, ...], requests: list[int] | None) -> None:
        """Adds messages that begin at once; those without counterpart are left out."""
        is_hidden = self._overlap and len(rows) == 2 and requests is None
        if not is_hidden or self.computed_ns:
            self.compute()
        indices = tuple(self._message(row) for row in rows if row in self._plan.tags)
        if is_hidden and indices:
            self._front = Front((), indices)
            self._awaited += indices
        else:
            self._go_on(indices, indices, requests)

    def _go_on(
        self, first: tuple[int, ...], last: tuple[int, ...], requests: list[int] | None
    ) -> None:
        """What follows waits until all of `last` have ended, or, with requests, until all of `first` have started."""
        if not first:
            return
        if requests is None:
            self._front = Front(last)
        else:
            self._front = Front((), first)
            self._open.update(dict.fromkeys(requests, last))

    def complete(self, requests: list[int]) -> None:
        """Waits for what was begun under these requests."""
        awaited = [on for request in requests for on in self._open.pop(request, ())]
        if awaited:
            self.compute()
            self._awaited = tuple(awaited)
            if not self._overlap:
                self.compute()

    def _message(self, row: int) -> int:
        plan = self._plan
        kind = SEND if row in plan.sends else RECEIVE
        operation = (plan.message_bytes[row], self.rank, plan.peers[row], plan.tags[row], kind)
        return self._writer.add(operation, self._front)

    def _collective(self, row: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The operations that begin it, and those that nothing of it waits for."""
        planned = self._plan.collectives[row]
        indices: list[int] = []
        first: list[int] = []
        awaited: set[int] = set()
        for step in planned.steps_of(self.rank):
            after = Front(
                tuple(indices[place] for place in step.after_end),
                tuple(indices[place] for place in step.after_start),
            )
            is_first = not step.after_end and not step.after_start
            peer = 0 if step.kind == CALC else planned.world_rank(step.peer)
            tag = 0 if step.kind == CALC else planned.first_tag + step.tag
            operation = (step.amount, self.rank, peer, tag, step.kind)
            indices.append(self._writer.add(operation, self._front if is_first else after))
            if is_first:
                first.append(indices[-1])
            awaited.update(after.ended)
        last = tuple(index for index in indices if index not in awaited)
        return tuple(first), last
