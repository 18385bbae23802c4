"""Tables that stand side by side, as `paste` and people put them, one below the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chiplog.dataset.lines import Where

Line = tuple[Where, str]


@dataclass
class _Block:
    """Lines with a piece of each table; in the last comment the pieces begin at `starts`."""

    starts: list[int]
    tables: list[list[Line]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables = [[] for _ in self.starts]

    def add(self, where: Where, text: str, starts: Sequence[int] = ()) -> None:
        """Shares a line out among the tables."""
        if len(starts) == len(self.starts):
            self.starts = list(starts)
            shares = _cut(text, self.starts)
        else:
            shares = self._shares(text)
        for table, share in zip(self.tables, shares, strict=True):
            if share.strip():
                table.append((where, share))

    def _shares(self, text: str) -> list[str]:
        """The piece of each table in a line; all of it is the first table's where it can't be told."""
        count = len(self.starts)
        for separator in ("\t", "|"):
            if text.count(separator) == count - 1:
                return text.split(separator)
        words = text.split()
        width, remainder = divmod(len(words), count)
        equal = [" ".join(words[at * width : (at + 1) * width]) for at in range(count)]
        if words and not remainder and all(map(str.isdigit, words[::width])):
            return equal
        shares = _cut(text, self.starts)
        if all(re.match(r"\d+\b|\\?#|$", share) for share in shares):
            return shares
        return [text] + [""] * (count - 1)

    def is_ended_by(self, text: str, headers: Sequence[int]) -> bool:
        """Is a line the header of a table that stands alone?"""
        alone = len(headers) == 1 and not text[: headers[0]].strip()
        return (
            alone
            and not any(separator in text for separator in "\t|")
            and len(text) <= self.starts[1]
        )

    def lines(self) -> Iterator[Line]:
        """The tables, one after the other."""
        for table in self.tables:
            yield from table


def _cut(text: str, starts: Sequence[int]) -> list[str]:
    """The pieces of a line that begin at `starts`, of which the first is the begin of the line."""
    ends = [*starts[1:], len(text)]
    begins = [0, *starts[1:]]
    return [text[begin:end].strip(" \t|") for begin, end in zip(begins, ends, strict=True)]


def one_below_the_other(
    lines: Iterable[Line], title: re.Pattern[str], header: re.Pattern[str]
) -> Iterator[Line]:
    """The lines of a file, tables that stand side by side one below the other.

    `title` finds each title in a line, `header` each header of columns; both match where a piece begins. A header with
    several tables below one title gives each of them that title.
    """
    block: _Block | None = None
    last_title: Line | None = None
    for where, text in lines:
        titles = [match.start() for match in title.finditer(text)]
        headers = [match.start() for match in header.finditer(text)]
        if block is not None and (titles or block.is_ended_by(text.rstrip(), headers)):
            yield from block.lines()
            block = None
        if len(titles) > 1:
            block = _Block(titles)
            block.add(where, text, titles)
        elif block is not None:
            block.add(where, text, headers)
        elif len(headers) > 1:
            block = _Block(headers)
            for table in block.tables[1:]:
                table.extend([last_title] if last_title else [])
            block.add(where, text, headers)
        else:
            last_title = (where, text) if titles else last_title
            yield where, text
    if block is not None:
        yield from block.lines()
