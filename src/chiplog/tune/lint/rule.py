"""What lint says about each rule of a tuning file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from chiplog.quoting import for_line

THE_FILE = "the file"
"""The text of a rule that is about the whole file."""
MOST_SHOWN, MOST_NAME = 40, 80
"""Given: characters of foreign text, and of a name, that a sentence shows."""
MOST_FILE_BYTES = 16 << 20
"""A longer file is no tuning file."""


@dataclass(frozen=True)
class NamedSize:
    """The size from which a rule of Open MPI holds, as the file names it, and the fewest ranks that take it."""

    operation: str
    ranks: int
    bytes: int


@dataclass(frozen=True)
class Rule:
    """One rule, where it stands, and what is known about it; None where that could not be found out."""

    line: int
    text: str
    """The rule in a few words, such as "allreduce, 16 ranks, 8192 B: ring"."""
    legal: bool | None = None
    taken: bool | None = None
    reason: str | None = None
    """Why it is wrong, or why nothing is known; None where it is legal and taken."""
    size: NamedSize | None = None

    @property
    def is_wrong(self) -> bool:
        """Is it illegal there, or never taken?"""
        return self.legal is False or self.taken is False

    @property
    def is_unproved(self) -> bool:
        """Is it neither wrong nor proved?"""
        return not self.is_wrong and (self.legal is None or self.taken is None)

    def not_taken(self, reason: str) -> Rule:
        """The rule, which the MPI never takes."""
        return replace(self, taken=False, reason=reason)

    def unproved(self, why: str) -> Rule:
        """The rule, of which no run tells whether it is taken."""
        return replace(self, reason=f"not proved: {why}")


def wrong(line: int, text: str, reason: str) -> Rule:
    """A rule that is illegal, so that it is never taken."""
    return Rule(line, text, False, False, reason)


class FileIgnored(ValueError):
    """The MPI can't read the file beyond `line`, so it takes none of it; the sentence says why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def all_ignored(rules: Iterable[Rule], error: FileIgnored, release: object) -> list[Rule]:
    """The rules of a file that Open MPI ignores as a whole, and that of the line at which it gives up."""
    reason = f"Open MPI ignores the whole file for line {error.line}"
    dropped = [rule if rule.is_wrong else rule.not_taken(reason) for rule in rules]
    return [*dropped, wrong(error.line, THE_FILE, f"{error.reason}; {release} ignores the file")]


def quoted(text: str, most: int = MOST_SHOWN) -> str:
    """Foreign text for a message: printable, not too long, and in quotation marks."""
    return f"'{shown(text, most)}'"


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """Foreign text for a message: printable, and not too long."""
    printable = for_line(text[: most + 1])
    return printable if len(text) <= most else printable[:most] + "..."
