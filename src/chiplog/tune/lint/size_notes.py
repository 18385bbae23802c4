"""What Open MPI's coll/tuned compares a rule's size with, where that is not the message or a rank's block.

Source: coll_tuned_decision_dynamic.c of Open MPI 4.1, 5.0 and main, which agree in this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chiplog.tune.formats.openmpi_rules import BY_ALL_BLOCKS
from chiplog.tune.lint.rule import NamedSize, Rule

BY_ONE_ELEMENT = ("scan", "exscan")
"""coll/tuned looks these up by the size of one element times the number of ranks, whatever the count."""


@dataclass(frozen=True)
class Note:
    """What is easily misunderstood in a rule that may be right."""

    line: int
    text: str


def size_notes(rules: Iterable[Rule]) -> list[Note]:
    """One for each operation with sizes that are not those of a message: about its first such rule."""
    first: dict[str, Rule] = {}
    for rule in sorted(rules, key=lambda rule: rule.line):
        if rule.size is not None and rule.size.bytes > 0:
            first.setdefault(rule.size.operation, rule)
    notes = (_note(rule.line, rule.size) for rule in first.values() if rule.size is not None)
    return [note for note in notes if note is not None]


def _note(line: int, size: NamedSize) -> Note | None:
    if size.operation in BY_ALL_BLOCKS:
        each = f"{size.bytes / size.ranks:.6g} B a rank where there are {size.ranks}"
        text = f"{size.operation}: sizes count the blocks of all ranks together: {size.bytes} B is {each}"
        return Note(line, text)
    if size.operation in BY_ONE_ELEMENT:
        return Note(
            line, f"{size.operation}: sizes count one element times the ranks, not the message"
        )
    return None


def unreachable(operation: str, first_bytes: int, last_bytes: int | None, ranks: int) -> str | None:
    """Why no call of so many `ranks` or more has a size in this range; None where one may have."""
    if operation not in BY_ALL_BLOCKS or first_bytes == 0:
        return None
    if last_bytes is None or last_bytes >= ranks:
        return None
    return (
        f"no {operation} has {first_bytes} to {last_bytes} B here: the blocks of all ranks count together, which are "
        f"{ranks} B or more of {ranks} ranks"
    )
