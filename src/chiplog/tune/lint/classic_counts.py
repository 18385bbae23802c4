"""Counts in Open MPI's classic rules that announce more or fewer than follow, told by how the lines are laid out.

The reader knows no lines: after a wrong count it reads all that comes at the wrong places, and what it then finds wrong
is not the cause. People and programs write each rule on a line of its own. Between rules stand two numbers before the
first rule of a number of ranks, and four before that of an operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from chiplog.counts import counted
from chiplog.tune.lint.rule import Rule, wrong

RULE_NUMBERS = (4, 5)
"""How many numbers a rule has."""
OF_FILE, OF_OPERATION, OF_ENTRY = 5, 4, 2
"""How many numbers stand before the first rule of a file, an operation and a number of ranks."""


class OnLine(Protocol):
    """A number of the file."""

    @property
    def value(self) -> int:
        """What it is."""

    @property
    def line(self) -> int:
        """Where it stands."""


@dataclass
class _Count:
    """What is announced, by its names for one and for several, and how many of it follow."""

    announced: OnLine
    names: tuple[str, str]
    follow: int = 0


OPERATION = ("operation", "operations")
ENTRY = ("number of ranks", "numbers of ranks")
SIZE = ("message size", "message sizes")


def wrong_counts(numbers: Sequence[OnLine], ending: str) -> list[Rule]:
    """The counts that are wrong, by line; none where the layout does not tell. `ending` says what comes of them."""
    return [
        wrong(
            count.announced.line,
            f"{counted(count.announced.value, *count.names)} announced here",
            f"{counted(count.follow, 'follows', 'follow')}: {ending}",
        )
        for count in _counts(numbers)
        if count.follow != count.announced.value
    ]


def _counts(numbers: Sequence[OnLine]) -> list[_Count]:
    """All counts of a file in order; none where the numbers between its rules are not as many as there should be."""
    lines = [list(line) for _, line in groupby(numbers, lambda number: number.line)]
    counts: list[_Count] = []
    operations = entries = None
    before: list[OnLine] = []
    for line in lines:
        if len(line) not in RULE_NUMBERS:
            before += line
            continue
        if len(before) == OF_FILE and operations is None:
            operations = _Count(before.pop(0), OPERATION)
            counts.append(operations)
        if len(before) == OF_OPERATION and operations is not None:
            operations.follow += 1
            entries = _Count(before[1], ENTRY)
            counts.append(entries)
            before = before[2:]
        if len(before) == OF_ENTRY and entries is not None:
            entries.follow += 1
            counts.append(_Count(before[1], SIZE))
        elif before or operations is None:
            return []
        before = []
        counts[-1].follow += 1
    return [] if before else counts
