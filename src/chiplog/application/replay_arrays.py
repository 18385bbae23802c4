"""The operations of a replay and what they wait for, made for all calls at once.

The points of a thread, one after the other, are where something begins: what was computed since the point before, or a
call's messages or collective operation. A point waits for what the one before it leaves: its own end, or, where the
thread goes on meanwhile, its begin; and for all that calls of Wait and the like between the two wait for. Where a
thread begins or is joined, a point also waits for what a point of another thread leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.application.collective_templates import TemplateStep
from chiplog.application.joined_calls import JoinedCalls
from chiplog.application.replay_events import Pieces, ReplayEvents, ranges
from chiplog.application.replay_plan import NONE, Integers, PlannedCollective, ReplayPlan
from chiplog.application.threads import Threads
from chiplog.schedule.arrays import CALC, DEPENDENCY, OPERATION, RECEIVE, SEND, Schedule


class StepTable:
    """The steps of each rank in each planned collective, one after the other, and their bounds."""

    def __init__(
        self, planned: tuple[PlannedCollective, ...], ways: Integers, ranks: Integers
    ) -> None:
        """Of each pair of a place in `planned` and a world rank."""
        steps = [
            planned[way].template.steps[planned[way].place_of(rank)]
            for way, rank in zip(ways.tolist(), ranks.tolist(), strict=True)
        ]
        self.count = np.array([len(of_rank) for of_rank in steps], np.int64)
        self.first = np.cumsum(self.count) - self.count
        each = [
            (planned[way], step)
            for way, of_rank in zip(ways.tolist(), steps, strict=True)
            for step in of_rank
        ]
        is_calc = [step.kind == CALC for _, step in each]
        self.kind = np.array([step.kind for _, step in each], np.int64)
        self.amount = np.array([step.amount for _, step in each], np.int64)
        self.tag = np.array([step.tag for _, step in each], np.int64)
        self.peer = np.array(
            [
                0 if calc else plan.world_rank(step.peer)
                for calc, (plan, step) in zip(is_calc, each, strict=True)
            ],
            np.int64,
        )
        self.begins = _Lists([_first_places(of_rank) for of_rank in steps])
        self.ends = _Lists([_last_places(of_rank) for of_rank in steps])
        self.after_end, self.after_start = (
            _Lists(
                [
                    [(at, on) for at, step in enumerate(of_rank) for on in getattr(step, name)]
                    for of_rank in steps
                ]
            )
            for name in ("after_end", "after_start")
        )


class _Lists:
    """Lists of whole numbers, or of pairs of them, one after the other."""

    def __init__(self, lists: list[list[Any]]) -> None:
        self.count = np.array([len(each) for each in lists], np.int64)
        self.first = np.cumsum(self.count) - self.count
        self.values = np.array([value for each in lists for value in each], np.int64)

    def of(self, which: Integers) -> tuple[Integers, NDArray[np.int64]]:
        """The values of some of the lists: which place of `which` each is of, and the values."""
        pieces = ranges(self.first[which], self.count[which])
        values = self.values[pieces.number] if self.values.size else self.values
        return pieces.run, values


def _first_places(steps: tuple[TemplateStep, ...]) -> list[int]:
    return [at for at, step in enumerate(steps) if not step.after_end and not step.after_start]


def _last_places(steps: tuple[TemplateStep, ...]) -> list[int]:
    awaited = {on for step in steps for on in step.after_end}
    return [at for at in range(len(steps)) if at not in awaited]


@dataclass(frozen=True)
class ReplayArrays:
    """Makes the schedule. A flush is a row at which what was computed ends: each event, and the end of each rank."""

    joined: JoinedCalls
    plan: ReplayPlan
    events: ReplayEvents
    threads: Threads
    computed_ns: Integers
    overlap: bool = False
    """Is what follows a call that waits computed before its messages are waited for?"""

    @property
    def operations(self) -> int:
        """How many there are."""
        return int(self._size.sum())

    def schedule(self) -> Schedule:
        """All operations, call by call, and what they wait for."""
        operations = np.zeros(self.operations, OPERATION)
        self._fill_computing(operations)
        self._fill_messages(operations)
        self._fill_collectives(operations)
        ends, starts = self._inside()
        between = self._between()
        return Schedule(
            len(self.joined.trace.ranks),
            operations,
            _dependencies(ends, between[0]),
            _dependencies(starts, between[1]),
        )

    @cached_property
    def _rows(self) -> Integers:
        """The rows of flushes, twice as large as they are; an odd number is the end of the rank of the row before."""
        chain = self.threads.chain
        last = (
            np.flatnonzero(np.append(chain[1:] != chain[:-1], True))
            if chain.size
            else np.empty(0, np.int64)
        )
        is_event = self.events.begins.copy()
        is_event[self.events.waits] = True
        is_event[self.threads.forks[:, 0]] = is_event[self.threads.joins[:, 1]] = True
        events = np.flatnonzero(is_event)
        return np.sort(np.concatenate((2 * events, 2 * last + 1)))

    @cached_property
    def _rank(self) -> NDArray[np.int32]:
        return self.joined.rank[self._rows // 2]

    @cached_property
    def _chain(self) -> Integers:
        return self.threads.chain[self._rows // 2]

    @cached_property
    def _computed(self) -> Integers:
        """What was computed at each flush, since the one before it."""
        until = np.cumsum(self.computed_ns)[self._rows // 2]
        first = np.searchsorted(self.threads.chain, np.arange(self.threads.cpu_of_chain.size))
        at_begin = np.concatenate(([0], np.cumsum(self.computed_ns)))[first][self._chain]
        before = np.concatenate(([0], until))[: until.size]
        is_first = np.ones(until.size, bool)
        is_first[1:] = self._chain[1:] != self._chain[:-1]
        computed: Integers = until - np.where(is_first, at_begin, before)
        return computed

    @cached_property
    def _begun_at(self) -> Integers:
        """The flushes that begin something, in the order of rows."""
        row = self._rows // 2
        return np.flatnonzero(self.events.begins[row] & (self._rows % 2 == 0))

    @cached_property
    def _combination(self) -> tuple[StepTable, Integers]:
        """The steps of collectives, and of each row which of the table's lists; NONE where it is no collective."""
        rows = np.flatnonzero(self.plan.way != NONE)
        ranks = len(self.joined.trace.ranks)
        codes = self.plan.way[rows] * ranks + self.joined.rank[rows]
        alike, which = np.unique(codes, return_inverse=True)
        of_row = np.full(self.plan.way.size, NONE, np.int64)
        of_row[rows] = which
        return StepTable(self.plan.planned, alike // ranks, alike % ranks), of_row

    @cached_property
    def _begun(self) -> Integers:
        """How many operations each flush begins, besides computing."""
        table, of_row = self._combination
        begun = np.zeros(self._rows.size, np.int64)
        row = self._rows[self._begun_at] // 2
        is_message = (self.plan.tag[row] != NONE) & (of_row[row] == NONE)
        counts = is_message.astype(np.int64) + self._before_counts(row)
        is_collective = of_row[row] != NONE
        counts[is_collective] = table.count[of_row[row[is_collective]]]
        begun[self._begun_at] = counts
        return begun

    def _before_counts(self, row: Integers) -> NDArray[np.bool_]:
        """Does the row also begin the message of the one before it?"""
        both: NDArray[np.bool_] = self.events.is_pair[row] & (
            self.plan.tag[np.maximum(row - 1, 0)] != NONE
        )
        return both

    @cached_property
    def _size(self) -> Integers:
        return self._begun + (self._computed > 0)

    @cached_property
    def _first_operation(self) -> Integers:
        return np.cumsum(self._size) - self._size

    @cached_property
    def _first_begun(self) -> Integers:
        """Where the operations that a flush begins stand, behind its computing."""
        return self._first_operation + (self._computed > 0)

    def _fill_computing(self, operations: NDArray[Any]) -> None:
        flushes = np.flatnonzero(self._computed > 0)
        at = self._first_operation[flushes]
        operations["amount"][at] = self._computed[flushes]
        operations["rank"][at] = self._rank[flushes]
        operations["cpu"][at] = self.threads.cpu_of_chain[self._chain[flushes]]
        operations["kind"][at] = CALC

    def _fill_messages(self, operations: NDArray[Any]) -> None:
        flushes = self._begun_at
        row = self._rows[flushes] // 2
        before = self._before_counts(row)
        _, of_row = self._combination
        begins_itself = (self.plan.tag[row] != NONE) & (of_row[row] == NONE)
        first = self._first_begun[flushes]
        for rows, at in (
            (row[before] - 1, first[before]),
            (row[begins_itself], (first + before)[begins_itself]),
        ):
            operations["amount"][at] = self.plan.message_bytes[rows]
            operations["rank"][at] = self.joined.rank[rows]
            operations["peer"][at] = self.plan.peer[rows]
            operations["tag"][at] = self.plan.tag[rows]
            is_send = self.plan.is_send[rows]
            operations["kind"][at] = np.where(is_send, SEND, RECEIVE)
            operations["cpu"][at] = np.where(
                is_send, self._message_cpu[rows], self.threads.cpu[rows]
            )

    @cached_property
    def _message_cpu(self) -> Integers:
        return self.threads.message_cpu(self.plan)

    @cached_property
    def _collectives(self) -> tuple[Integers, Integers]:
        """The flushes that begin collectives, and their lists in the table."""
        _, of_row = self._combination
        lists = of_row[self._rows[self._begun_at] // 2]
        is_collective = lists != NONE
        return self._begun_at[is_collective], lists[is_collective]

    def _fill_collectives(self, operations: NDArray[Any]) -> None:
        table, _ = self._combination
        flushes, lists = self._collectives
        pieces = ranges(table.first[lists], table.count[lists])
        at = ranges(self._first_begun[flushes], table.count[lists]).number
        step, flush = pieces.number, flushes[pieces.run]
        kind = table.kind[step]
        row = self._rows[flush] // 2
        tag = self.plan.tag[row] + table.tag[step]
        operations["amount"][at] = table.amount[step]
        operations["rank"][at] = self._rank[flush]
        operations["peer"][at] = table.peer[step]
        operations["tag"][at] = np.where(kind == CALC, 0, tag)
        operations["kind"][at] = kind
        operations["cpu"][at] = np.where(
            kind == SEND, self._message_cpu[row], self.threads.cpu[row]
        )

    def _inside(self) -> tuple[Integers, Integers]:
        """What steps of collectives wait for of their own: pairs of operations, of ends and of starts."""
        table, _ = self._combination
        flushes, lists = self._collectives
        pairs = []
        for dependencies in (table.after_end, table.after_start):
            run, places = dependencies.of(lists)
            pairs.append(self._first_begun[flushes[run]][:, np.newaxis] + places.reshape(-1, 2))
        return pairs[0], pairs[1]

    def _edges_of(self, flushes: Integers, *, last: bool) -> Pieces:
        """The operations with which what flushes begin begins, or ends."""
        table, of_row = self._combination
        lists = of_row[self._rows[flushes] // 2]
        plain = np.flatnonzero(lists == NONE)
        messages = ranges(self._first_begun[flushes[plain]], self._begun[flushes[plain]])
        steps = np.flatnonzero(lists != NONE)
        run, places = (table.ends if last else table.begins).of(lists[steps])
        operations = self._first_begun[flushes[steps[run]]] + places
        which = np.concatenate((plain[messages.run], steps[run]))
        numbers = np.concatenate((messages.number, operations))
        order = np.argsort(which, kind="stable")
        return Pieces(which[order], numbers[order])

    def _between(self) -> tuple[Integers, Integers]:
        """What points wait for of the points before them: pairs of operations, of ends and of starts."""
        computes, begins = self._computed > 0, self._begun > 0
        points = np.cumsum(computes.astype(np.int64) + begins)
        of_begin = points - 1
        of_computing = points - 1 - begins
        calc, begun = np.flatnonzero(computes), np.flatnonzero(begins)
        goes_on = self.events.goes_on[self._rows[begun] // 2]
        first, last = self._edges_of(begun, last=False), self._edges_of(begun, last=True)
        firsts = _Edges(of_computing[calc], self._first_operation[calc]).and_also(
            of_begin[begun][first.run], first.number
        )
        ends_now = ~goes_on[last.run]
        ended = _Edges(of_computing[calc], self._first_operation[calc]).and_also(
            of_begin[begun][last.run][ends_now], last.number[ends_now]
        )
        chain_of_point = np.zeros(int(points[-1]) if points.size else 0, np.int64)
        chain_of_point[of_computing[calc]] = self._chain[calc]
        chain_of_point[of_begin[begun]] = self._chain[begun]
        waiting = self._awaited(points, begun, last)
        ended = ended.and_also(waiting.point, waiting.operation)
        starts_now = goes_on[first.run]
        started = _Edges(of_begin[begun][first.run][starts_now], first.number[starts_now])
        links = self._links(points, chain_of_point)

        def pairs(edges: _Edges) -> Integers:
            of_links = edges.linked(*links).pairs_with(firsts)
            return np.concatenate((edges.before(firsts, chain_of_point), of_links))

        return pairs(ended), pairs(started)

    def _links(self, points: Integers, chain_of_point: Integers) -> tuple[Integers, Integers]:
        """The points that forks and joins go from, and those that they go to.

        The latter wait for what the next point of the former's thread would wait for.
        """
        row, born = self.threads.forks.T
        ended, joined_after = self.threads.joins.T
        chains = self.threads.chain
        until = [points[np.searchsorted(self._rows, 2 * at)] - 1 for at in (row, joined_after)]
        bounds = np.searchsorted(chain_of_point, np.arange(self.threads.cpu_of_chain.size + 1))
        before = np.concatenate((until[0], bounds[ended + 1] - 1))
        after = np.concatenate((bounds[born], until[1] + 1))
        of_chain = (
            np.concatenate((chains[row], ended)),
            np.concatenate((born, chains[joined_after])),
        )
        sound = (before >= 0) & (after < chain_of_point.size)
        before, after = before[sound], after[sound]
        sound_chains = [chain[sound] for chain in of_chain]
        is_there = (chain_of_point[before] == sound_chains[0]) & (
            chain_of_point[after] == sound_chains[1]
        )
        return before[is_there], after[is_there]

    def _awaited(self, points: Integers, begun: Integers, last: Pieces) -> _Edges:
        """The ends that calls of Wait and the like wait for, each with the point before whose next one that is.

        With overlap, computing that follows such a call is before the next one that waits.
        """
        flush = np.searchsorted(self._rows, 2 * self.events.waits)
        source = np.searchsorted(self._rows[begun], 2 * self.events.awaited)
        begin = np.searchsorted(last.run, source)
        count = np.searchsorted(last.run, source, side="right") - begin
        pieces = ranges(begin, count)
        before = self._after_computing(points) if self.overlap else points - 1
        return _Edges(before[flush][pieces.run], last.number[pieces.number])

    def _after_computing(self, points: Integers) -> Integers:
        """Of each flush the last point of what is computed next, which hides its messages.

        Where nothing is, its own last point; between the flush and the computing only more messages may begin so.
        """
        size = self._rows.size
        is_same_chain = np.append(self._chain[1:] == self._chain[:-1], False)
        computes = np.append(self._computed[1:] > 0, False) & is_same_chain
        begins_more = np.zeros(size, bool)
        row = self._rows // 2
        begins_more[self._begun_at] = self.events.waits_itself[row[self._begun_at]]
        goes_on = np.append(begins_more[1:], False) & is_same_chain & ~computes
        last = np.where(goes_on, size, np.arange(size))[::-1]
        until = np.minimum.accumulate(last)[::-1]
        after: Integers = (points - 1)[until] + computes[until]
        return after


@dataclass(frozen=True)
class _Edges:
    """Operations, each with the point that it begins or ends."""

    point: Integers
    operation: Integers

    def and_also(self, point: Integers, operation: Integers) -> _Edges:
        """Together with others."""
        return _Edges(
            np.concatenate((self.point, point)), np.concatenate((self.operation, operation))
        )

    def before(self, firsts: _Edges, chain_of_point: Integers) -> Integers:
        """Pairs of the operations that begin the next point of the thread, and these, shape (pairs, 2)."""
        following = np.minimum(self.point + 1, chain_of_point.size - 1)
        is_followed = (self.point + 1 < chain_of_point.size) & (
            chain_of_point[following] == chain_of_point[self.point]
        )
        next_point = _Edges(following[is_followed], self.operation[is_followed])
        return next_point.pairs_with(firsts)

    def pairs_with(self, firsts: _Edges) -> Integers:
        """Pairs of the operations that begin the same points, and these, shape (pairs, 2)."""
        pieces = firsts.of_points(self.point)
        return np.stack((pieces.number, self.operation[pieces.run]), axis=1)

    def linked(self, before: Integers, after: Integers) -> _Edges:
        """Those of points `before`, each for the point `after` at the same place."""
        pieces = self.of_points(before)
        return _Edges(after[pieces.run], pieces.number)

    def of_points(self, points: Integers) -> Pieces:
        """The operations of some points."""
        order = np.argsort(self.point, kind="stable")
        point = self.point[order]
        begin = np.searchsorted(point, points)
        pieces = ranges(begin, np.searchsorted(point, points, side="right") - begin)
        return Pieces(pieces.run, self.operation[order][pieces.number])


def _dependencies(*pairs: Integers) -> NDArray[Any]:
    together = np.concatenate(pairs)
    dependencies = np.empty(together.shape[0], DEPENDENCY)
    dependencies["operation"], dependencies["on"] = together[:, 0], together[:, 1]
    return dependencies
