"""The schedule of a trace made call by call, as plainly as can be."""

from __future__ import annotations

from chiplog.application.joined_calls import JoinedCalls, collective_calls, join
from chiplog.application.messages import match
from chiplog.application.replay import computed_times_ns
from chiplog.application.replay_plan import NONE, ReplayPlan, plan_replay
from chiplog.application.threads import threads_of
from chiplog.collectives.mpis.choice import by_default
from chiplog.schedule.arrays import CALC, RECEIVE, SEND
from chiplog.tracing.trace import (
    ICOLLECTIVES,
    IRECEIVES,
    ISENDS,
    SENDRECV_RECEIVE,
    STARTS,
    Trace,
)

Operation = tuple[int, int, int, int, int]
"""Amount, rank, peer, tag, kind."""


class ReplayByHand:
    """Operations, and pairs of one and another whose end, or start, it waits for."""

    def __init__(self, trace: Trace) -> None:
        joined = join(trace)
        self.plan = plan_replay(joined, match(joined), collective_calls(joined), by_default)
        self.operations: list[Operation] = []
        self.ends: set[tuple[int, int]] = set()
        self.starts: set[tuple[int, int]] = set()
        self.rank, self.computed = 0, 0
        self.ended: tuple[int, ...] = ()
        self.started: tuple[int, ...] = ()
        self.open: dict[int, tuple[int, ...]] = {}
        self._run(joined)

    def _run(self, joined: JoinedCalls) -> None:
        starts = joined.of_kinds(*ISENDS, *IRECEIVES, *ICOLLECTIVES, *STARTS)
        halves = joined.of_kinds(SENDRECV_RECEIVE)
        computed = computed_times_ns(joined, self.plan, threads_of(joined), None)
        for row, rank in enumerate(joined.rank.tolist()):
            if rank != self.rank:
                self._compute()
                self.rank, self.ended, self.started, self.open = rank, (), (), {}
            self.computed += int(computed[row])
            if row + 1 < halves.size and halves[row + 1]:
                continue
            numbers = _requests(joined, row)
            if halves[row]:
                self._messages((row - 1, row), _requests(joined, row - 1) or None)
            elif self.plan.way[row] != NONE:
                self._compute()
                self._go_on(*self._collective(row), numbers if starts[row] else None)
            elif self.plan.tag[row] != NONE:
                self._messages((row,), numbers if starts[row] else None)
            else:
                self._wait(numbers)
        self._compute()

    def _add(self, operation: Operation, ended: tuple[int, ...], started: tuple[int, ...]) -> int:
        index = len(self.operations)
        self.operations.append(operation)
        self.ends.update((index, on) for on in ended)
        self.starts.update((index, on) for on in started)
        return index

    def _compute(self) -> None:
        if self.computed:
            operation = (self.computed, self.rank, 0, 0, CALC)
            self.ended, self.started = (self._add(operation, self.ended, self.started),), ()
            self.computed = 0

    def _messages(self, rows: tuple[int, ...], requests: list[int] | None) -> None:
        self._compute()
        plan = self.plan
        indices = tuple(
            self._add(
                (
                    int(plan.message_bytes[row]),
                    self.rank,
                    int(plan.peer[row]),
                    int(plan.tag[row]),
                    SEND if plan.is_send[row] else RECEIVE,
                ),
                self.ended,
                self.started,
            )
            for row in rows
            if plan.tag[row] != NONE
        )
        self._go_on(indices, indices, requests)

    def _collective(self, row: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        plan: ReplayPlan = self.plan
        planned = plan.planned[plan.way[row]]
        indices: list[int] = []
        first, awaited = [], set()
        for step in planned.template.steps[planned.place_of(self.rank)]:
            ended = tuple(indices[place] for place in step.after_end)
            started = tuple(indices[place] for place in step.after_start)
            is_first = not ended and not started
            is_calc = step.kind == CALC
            peer = 0 if is_calc else planned.world_rank(step.peer)
            tag = 0 if is_calc else int(plan.tag[row]) + step.tag
            after = (self.ended, self.started) if is_first else (ended, started)
            indices.append(self._add((step.amount, self.rank, peer, tag, step.kind), *after))
            first += indices[-1:] * is_first
            awaited.update(ended)
        return tuple(first), tuple(index for index in indices if index not in awaited)

    def _go_on(
        self, first: tuple[int, ...], last: tuple[int, ...], requests: list[int] | None
    ) -> None:
        if not first:
            return
        if requests is None:
            self.ended, self.started = last, ()
        else:
            self.ended, self.started = (), first
            self.open.update(dict.fromkeys(requests, last))

    def _wait(self, requests: list[int]) -> None:
        awaited = [on for number in requests for on in self.open.pop(number, ())]
        if awaited:
            self._compute()
            self.ended = (*self.ended, *awaited)


def _requests(joined: JoinedCalls, row: int) -> list[int]:
    call = joined.calls[row]
    numbers = joined.trace.ranks[joined.rank[row]].requests
    return list(numbers[call["first_request"] : call["first_request"] + call["requests"]].tolist())
