"""Threads of a rank, each with a chain of calls of its own, for traces in which several call MPI at once.

What threads wait for outside of MPI is not traced. Two things are taken from the order of calls: a thread begins after
the last call that its rank's first thread had ended then; and when it has ended, that thread's next call waits for it.
That is how programs start threads and join them. Other waiting of threads for each other counts as computing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chiplog.application.joined_calls import NEVER, JoinedCalls, Rows
from chiplog.application.replay_events import ReplayEvents
from chiplog.application.replay_plan import NONE, Integers, ReplayPlan

MOST_CPUS = 250
"""Given: of a rank's threads at once, more share a CPU in the replay, whose numbers have a byte."""


@dataclass(frozen=True)
class Threads:
    """The chains of all ranks: rank after rank, the first thread of each first. Rows are in the order of chains."""

    order: Rows
    """The rows of the calls in the order of time that stand there, shape (rows,)."""
    chain: Integers
    """Which chain each row is of, shape (rows,)."""
    cpu_of_chain: Integers
    """The CPU of its rank on which each chain computes: threads that follow each other may share one."""
    forks: Integers
    """A row of a rank's first thread, and the chain that begins after it, shape (forks, 2)."""
    joins: Integers
    """A chain, and the row of the first thread whose next call waits for it, shape (joins, 2)."""
    until_ns: Integers
    """When the thread that was joined, or the call before the fork, had ended, shape (rows,); 0 for other rows."""

    @cached_property
    def cpu(self) -> Integers:
        """The CPU of each row's thread, shape (rows,)."""
        return self.cpu_of_chain[self.chain]

    def calls(self, joined: JoinedCalls) -> JoinedCalls:
        """The calls in the order of chains."""
        completed_by = joined.completed_by[self.order]
        return replace(
            joined,
            calls=joined.calls[self.order],
            rank=joined.rank[self.order],
            completed_by=np.where(completed_by == NEVER, NEVER, self._place[completed_by]),
        )

    def plan(self, plan: ReplayPlan) -> ReplayPlan:
        """What stands for them."""
        names = ("tag", "peer", "message_bytes", "is_send", "way")
        return replace(plan, **{name: getattr(plan, name)[self.order] for name in names})

    def events(self, events: ReplayEvents) -> ReplayEvents:
        """What they do."""
        names = ("begins", "goes_on", "is_pair", "waits_itself")
        return replace(
            events,
            **{name: getattr(events, name)[self.order] for name in names},
            waits=self._place[events.waits],
            awaited=self._place[events.awaited],
        )

    def message_cpu(self, plan: ReplayPlan) -> Integers:
        """The CPU that messages of each row keep busy at both ends, shape (rows,).

        The simulator takes a message by the CPU of its send: that of both threads, or, where they differ, one of which
        no thread computes.
        """
        has_tag = plan.tag != NONE
        tag, cpu = plan.tag[has_tag], self.cpu[has_tag]
        least = np.full(int(tag.max(initial=0)) + 1, np.iinfo(np.int64).max)
        most = np.zeros(least.size, np.int64)
        np.minimum.at(least, tag, cpu)
        np.maximum.at(most, tag, cpu)
        between = int(self.cpu_of_chain.max(initial=0)) + 1
        chosen = self.cpu.copy()
        chosen[has_tag] = np.where(least == most, least, between)[tag]
        return chosen

    @cached_property
    def _place(self) -> Rows:
        place = np.empty(self.order.size, np.int64)
        place[self.order] = np.arange(self.order.size)
        return place


def threads_of(joined: JoinedCalls) -> Threads:
    """The threads of a trace; one a rank where it names none."""
    ranks = joined.trace.ranks
    if all(rank.thread is None for rank in ranks):
        return _one_a_rank(joined)
    thread = np.concatenate(
        [np.zeros(rank.calls.size, int) if rank.thread is None else rank.thread for rank in ranks]
    )
    counts = [1 if rank.thread is None else int(rank.thread.max(initial=0)) + 1 for rank in ranks]
    first_chain = np.cumsum(counts) - counts
    order = np.lexsort((np.arange(thread.size), thread, joined.rank))
    chain = (first_chain[joined.rank] + thread)[order]
    begin, end = (joined.calls[name][order].astype(np.int64) for name in ("begin_ns", "end_ns"))
    lives = _Lives(begin, end, np.searchsorted(chain, np.arange(sum(counts) + 1)))
    until_ns = np.zeros(thread.size, np.int64)
    links = [
        lives.links(first, first + number, until_ns)
        for first, count in zip(first_chain.tolist(), counts, strict=True)
        for number in range(1, count)
    ]
    forks, joins = (
        np.array([link for kinds in links for link in kinds[which]], np.int64).reshape(-1, 2)
        for which in range(2)
    )
    cpus = [
        lives.cpus(first, count, until_ns)
        for first, count in zip(first_chain.tolist(), counts, strict=True)
    ]
    return Threads(order, chain, np.concatenate(cpus), forks, joins, until_ns)


def _one_a_rank(joined: JoinedCalls) -> Threads:
    rows, nothing = joined.rank.size, np.empty((0, 2), np.int64)
    return Threads(
        order=np.arange(rows),
        chain=joined.rank.astype(np.int64),
        cpu_of_chain=np.zeros(len(joined.trace.ranks), np.int64),
        forks=nothing,
        joins=nothing,
        until_ns=np.zeros(rows, np.int64),
    )


@dataclass(frozen=True)
class _Lives:
    """When the calls of each chain begin and end; those of chain c are the rows from bounds[c] to bounds[c + 1]."""

    begin: Integers
    end: Integers
    bounds: NDArray[np.intp]

    def cpus(self, first_chain: int, count: int, until_ns: Integers) -> Integers:
        """For each thread of a rank a CPU that is no other's from its fork to its last call."""
        free_from: list[int] = []
        cpus = []
        for chain in range(first_chain, first_chain + count):
            begin, end = (int(self.bounds[chain + side]) for side in range(2))
            starts, stops = int(until_ns[begin]), int(self.end[begin:end].max())
            cpu = next((i for i, free in enumerate(free_from) if free <= starts), len(free_from))
            free_from[cpu : cpu + 1] = [stops]
            cpus.append(min(cpu, MOST_CPUS - 1))
        return np.array(cpus, np.int64)

    def links(
        self, first: int, chain: int, until_ns: Integers
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The fork and the join of a chain with the first thread's, as of Threads; sets `until_ns` of their rows."""
        main, born = int(self.bounds[first]), int(self.bounds[chain])
        rows = slice(main, int(self.bounds[first + 1]))
        begins, ends = self.begin[rows], np.maximum.accumulate(self.end[rows])
        last_end = int(self.end[born : self.bounds[chain + 1]].max())
        forks, joins = [], []
        before = int(np.searchsorted(ends, self.begin[born], side="right")) - 1
        if before >= 0:
            forks.append((main + before, chain))
            until_ns[born] = ends[before]
        after = int(np.searchsorted(begins, last_end))
        if 0 < after < begins.size:
            joins.append((chain, main + after - 1))
            until_ns[main + after] = max(int(until_ns[main + after]), last_end)
        return forks, joins
