"""The self-consistent performance guidelines: which calls should never be slower than which others.

Source: Traeff, Gropp, Thakur: Self-Consistent MPI Performance Guidelines, IEEE Transactions on Parallel and Distributed
Systems 21(5), 2010. An operation should not be slower than its emulation by others, a small message not slower than a
larger one, and few ranks not slower than more: a program could do the other thing instead, with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chiplog.measurement.datatypes import BYTE
from chiplog.tune.measured.candidate import DEFAULT, DEFAULT_NAME, Candidate
from chiplog.tune.measured.launch import Cell, RaceEntry

EMULATIONS: Mapping[str, tuple[str, ...]] = {
    "barrier": ("allreduce",),
    "bcast": ("scatter+allgather",),
    "reduce": ("allreduce", "reduce_scatter+gather"),
    "allreduce": ("reduce+bcast", "reduce_scatter+allgather"),
    "gather": ("allgather", "reduce"),
    "scatter": ("bcast",),
    "allgather": ("gather+bcast", "alltoall", "allreduce"),
    "alltoall": (),
    "reduce_scatter": ("reduce+scatter", "allreduce"),
}
"""By operation, those that the race program knows (native/apps/chiplog-race/emulations.cpp)."""


class Emulation(Candidate):
    """Other operations in place of the one that is asked for; its name says which."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of the program that races."""
        return ("--emulation", self.name)


@dataclass(frozen=True)
class TimedCall:
    """The MPI's operation of a cell, or its emulation of that name."""

    cell: Cell
    emulation: str = DEFAULT_NAME


@dataclass(frozen=True)
class Guideline:
    """`call` should not be slower than `other`."""

    call: TimedCall
    other: TimedCall

    @property
    def kind(self) -> str:
        """`emulation`, `size` or `ranks`: in what the two differ."""
        if self.other.emulation != DEFAULT_NAME:
            return "emulation"
        same = self.call.cell.message_bytes == self.other.cell.message_bytes
        return "ranks" if same else "size"


def guidelines_of(
    operations: Sequence[str], ranks: Sequence[int], sizes: Sequence[int], datatype: str
) -> list[Guideline]:
    """All guidelines of these operations; `ranks` and `sizes`, in bytes, ascend: each is held against the next."""
    every: list[Guideline] = []
    for operation in operations:
        is_barrier = operation == "barrier"
        messages, of_type = ((1,), BYTE) if is_barrier else (tuple(sizes), datatype)
        for count in ranks:
            calls = [TimedCall(Cell(operation, count, size, of_type)) for size in messages]
            every += [
                Guideline(call, replace(call, emulation=name))
                for call in calls
                for name in EMULATIONS[operation]
            ]
            every += [Guideline(call, larger) for call, larger in pairwise(calls)]
        for size in messages:
            by_ranks = [TimedCall(Cell(operation, count, size, of_type)) for count in ranks]
            every += [Guideline(few, many) for few, many in pairwise(by_ranks)]
    return every


def entries_of(guidelines: Sequence[Guideline]) -> list[RaceEntry]:
    """What a launch has to measure to judge these: each cell once, the operation itself first."""
    emulations: dict[Cell, dict[str, Candidate]] = {}
    for guideline in guidelines:
        for call in (guideline.call, guideline.other):
            names = emulations.setdefault(call.cell, {})
            if call.emulation != DEFAULT_NAME:
                names[call.emulation] = Emulation(call.emulation)
    return [RaceEntry(cell, (DEFAULT, *names.values())) for cell, names in emulations.items()]
