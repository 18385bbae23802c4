"""The messages of a collective operation, by the algorithm that stands for it in a replay."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import MOST_BYTES, Task
from chiplog.collectives.mpis.choice import (
    OPERATIONS,
    AlgorithmChoice,
    CollectiveCall,
    algorithm_of,
)
from chiplog.schedule import Schedule
from chiplog.schedule.arrays import CALC


@dataclass(frozen=True)
class TemplateStep:
    """An operation of a rank: what it waits for are places in the rank's list of steps."""

    kind: int
    amount: int
    peer: int
    tag: int
    after_end: tuple[int, ...]
    after_start: tuple[int, ...]


@dataclass(frozen=True)
class Template:
    """The steps of each rank of an algorithm, of which rank 0 is the root."""

    algorithm: str
    steps: tuple[tuple[TemplateStep, ...], ...]
    tags: int
    """All its tags are smaller."""


@lru_cache(maxsize=1024)
def template(call: CollectiveCall, choice: AlgorithmChoice) -> Template:
    """The steps of a call by the algorithm that is chosen, or by the nearest that can have so many ranks."""
    size = call.message_bytes if choice.message_bytes is None else choice.message_bytes
    size = min(size, MOST_BYTES)
    task = Task(call.ranks, size, segment_bytes=choice.segment_bytes or max(size, 1))
    algorithm = algorithm_of(call.operation, choice, task)
    schedule = algorithm.schedule(task)
    steps = _steps(schedule)
    if choice.delay_ns:
        steps = tuple(_delayed(of_rank, choice.delay_ns) for of_rank in steps)
    return Template(algorithm.name, steps, 1 + int(schedule.operations["tag"].max(initial=0)))


def _delayed(steps: tuple[TemplateStep, ...], delay_ns: int) -> tuple[TemplateStep, ...]:
    """The steps of a rank, which begin when it has computed for so long."""

    def later(step: TemplateStep) -> TemplateStep:
        ends, starts = (
            tuple(place + 1 for place in after) for after in (step.after_end, step.after_start)
        )
        return replace(step, after_end=ends if ends or starts else (0,), after_start=starts)

    return (TemplateStep(CALC, delay_ns, 0, 0, (), ()), *map(later, steps))


def _steps(schedule: Schedule) -> tuple[tuple[TemplateStep, ...], ...]:
    operations = schedule.operations
    place = _place_in_rank(operations["rank"])
    ends, starts = (
        _by_operation(d, place) for d in (schedule.requires_end, schedule.requires_start)
    )
    steps: list[list[TemplateStep]] = [[] for _ in range(schedule.ranks)]
    for index, record in enumerate(operations.tolist()):
        amount, rank, peer, tag, kind = record[:5]
        steps[rank].append(
            TemplateStep(kind, amount, peer, tag, tuple(ends[index]), tuple(starts[index]))
        )
    return tuple(map(_in_order, steps))


def _in_order(steps: list[TemplateStep]) -> tuple[TemplateStep, ...]:
    """The steps of a rank, each behind those that it waits for."""
    waits_for = {place: {*step.after_end, *step.after_start} for place, step in enumerate(steps)}
    if all(max(after, default=-1) < place for place, after in waits_for.items()):
        return tuple(steps)
    order = tuple(TopologicalSorter(waits_for).static_order())
    place_of = {old: new for new, old in enumerate(order)}
    return tuple(
        replace(
            steps[old],
            after_end=tuple(place_of[place] for place in steps[old].after_end),
            after_start=tuple(place_of[place] for place in steps[old].after_start),
        )
        for old in order
    )


def _place_in_rank(rank: NDArray[Any]) -> list[int]:
    seen: dict[int, int] = defaultdict(int)
    places = []
    for number in rank.tolist():
        places.append(seen[number])
        seen[number] += 1
    return places


def _by_operation(dependencies: NDArray[Any], place: list[int]) -> dict[int, list[int]]:
    required: dict[int, list[int]] = defaultdict(list)
    for operation, on in dependencies.tolist():
        required[operation].append(place[on])
    return required


class Moved(NamedTuple):
    """What the ranks of a collective operation give and get, added up, and the most of any."""

    sent: int
    most_sent: int
    received: int
    most_received: int

    @classmethod
    def of(cls, calls: NDArray[Any], firsts: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The same of many operations, of calls of the type CALL of which each operation's begin at `firsts`."""
        columns = (np.ascontiguousarray(calls[name]) for name in ("sent_bytes", "received_bytes"))
        return tuple(
            way.reduceat(column, firsts) for column in columns for way in (np.add, np.maximum)
        )


def message_bytes_of(function: str, ranks: int, moved: Moved) -> int:
    """The `message_bytes` of the task that stands for a call, from what its ranks give and get.

    `function` is MPI's, in lower case and without prefix.
    """
    operation = OPERATIONS[function]
    if operation == "barrier":
        return 1
    if operation in ("gather", "allgather"):
        return moved.sent // ranks or moved.most_received // ranks
    if operation == "scatter":
        return moved.received // ranks or moved.most_sent // ranks
    if operation == "alltoall":
        return moved.sent // ranks**2
    if operation == "bcast":
        return moved.most_received or moved.most_sent
    if operation == "reduce_scatter":
        return moved.most_sent or moved.received
    return moved.most_sent or moved.most_received
