"""The messages of a collective operation, by the algorithm that stands for it in a replay."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.collectives.algorithm import MOST_BYTES, Algorithm, Task
from chiplog.collectives.registry import algorithms
from chiplog.schedule import Schedule

DEFAULTS = {
    "barrier": "dissemination",
    "bcast": "binomial",
    "reduce": "binomial",
    "gather": "binomial",
    "scatter": "binomial",
    "allreduce": "recursive-doubling",
    "allgather": "bruck",
    "alltoall": "pairwise",
}
"""The algorithm of each operation, where nothing says which one the MPI takes."""
OPERATION_OF = {
    "Barrier": "barrier",
    "Bcast": "bcast",
    "Reduce": "reduce",
    "Gather": "gather",
    "Gatherv": "gather",
    "Scatter": "scatter",
    "Scatterv": "scatter",
    "Allreduce": "allreduce",
    "Reduce_scatter": "allreduce",
    "Reduce_scatter_block": "allreduce",
    "Scan": "allreduce",
    "Exscan": "allreduce",
    "Allgather": "allgather",
    "Allgatherv": "allgather",
    "Alltoall": "alltoall",
    "Alltoallv": "alltoall",
    "Alltoallw": "alltoall",
}
"""Of each of MPI's collective functions, the operation that stands for it."""


@dataclass(frozen=True)
class Step:
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
    steps: tuple[tuple[Step, ...], ...]
    tags: int
    """All its tags are smaller."""


def algorithm_for(operation: str, task: Task) -> Algorithm:
    """The default algorithm; where it can't have so many ranks, the first other one that can."""
    known = algorithms(operation)
    default = known[DEFAULTS[operation]]
    return next(way for way in (default, *known.values()) if way.accepts(task))


@lru_cache(maxsize=256)
def template(operation: str, ranks: int, message_bytes: int) -> Template:
    """The steps of an operation among so many ranks; bytes as of `Task`."""
    task = Task(ranks, min(message_bytes, MOST_BYTES))
    algorithm = algorithm_for(operation, task)
    schedule = algorithm.schedule(task)
    return Template(
        algorithm.name, _steps(schedule), 1 + int(schedule.operations["tag"].max(initial=0))
    )


def _steps(schedule: Schedule) -> tuple[tuple[Step, ...], ...]:
    operations = schedule.operations
    place = _place_in_rank(operations["rank"])
    ends, starts = (
        _by_operation(d, place) for d in (schedule.requires_end, schedule.requires_start)
    )
    steps: list[list[Step]] = [[] for _ in range(schedule.ranks)]
    for index, record in enumerate(operations.tolist()):
        amount, rank, peer, tag, kind = record[:5]
        steps[rank].append(Step(kind, amount, peer, tag, tuple(ends[index]), tuple(starts[index])))
    return tuple(map(tuple, steps))


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


def message_bytes_of(name: str, sent: NDArray[np.int64], received: NDArray[np.int64]) -> int:
    """The `message_bytes` of the task that stands for one call of MPI_`name`, from what its ranks give and get."""
    ranks = sent.size
    operation = OPERATION_OF[name]
    if operation == "barrier":
        return 1
    if operation in ("gather", "allgather"):
        return int(sent.mean() if sent.any() else received.max() / ranks)
    if operation == "scatter":
        return int(received.mean() if received.any() else sent.max() / ranks)
    if operation == "alltoall":
        return int(sent.mean() / ranks)
    if operation == "bcast":
        return int(received.max() or sent.max())
    return int(sent.max() or received.max())
