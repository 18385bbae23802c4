r"""What nodecomm and smptest have in common: tables of k pairs, sizes in ints, and lines that say between whom.

Pingpong for
master:  0, 1, 2, 3
partner: 8, 9, 10, 11                       the ranks of the pairs; other partners are another part of the file
Hops: 3                                     how far the nodes are apart; Distance: 3
Socket:                                     a name of the table below
1   4.00e-06   4.34e-06
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_values import whole
from chiplog.dataset.importer import ImportedRecord, ImportedSeries
from chiplog.dataset.lines import Where

INT_BYTES = 4
"""Given: sizes are in ints."""
_FAR = re.compile(r"(Hops|Distance)\b\s*:?\s*(.*)", re.IGNORECASE)
_RANKS = re.compile(r"(master|partner):\s*(\d+(?:,\s*\d+)*)\s*")
_LABEL = re.compile(r"([A-Za-z][\w -]{0,40}):")
_LONGEST_NAME = 60
"""Given: characters of the ranks in a part's name."""


@dataclass
class Between:
    """Whom the next table is of."""

    ranks: dict[str, str] = field(default_factory=dict)
    pairs: int = 0
    """How many ranks the last list of a line has; without a list, 0."""
    far: dict[str, int] = field(default_factory=dict)
    """`hops` and `distance`, as far as they are said."""
    label: str | None = None
    _next_label: str | None = None

    def read(self, line: str, where: Where) -> bool:
        """Takes what a line says of the next table; False where it says nothing of that."""
        if not line or line[0].isdigit() or line.startswith("Ints"):
            return False
        self._next_label = None
        if match := _FAR.fullmatch(line):
            self.far[match[1].lower()] = whole(match[2], match[1].capitalize(), where)
        elif match := _RANKS.fullmatch(line):
            numbers = [int(word[:9]) for word in match[2].split(",")]
            self.ranks[match[1]], self.pairs = rank_text(numbers), len(numbers)
            self.label = None
        elif line == "Pingpong for":
            self.far, self.label = {}, None
        elif match := _LABEL.fullmatch(line):
            self._next_label = match[1].strip().lower().replace(" ", "-")
        else:
            return False
        return True

    def enter(self) -> None:
        """Begins the rows of a table, which a label right above it names."""
        if self._next_label is not None:
            self.label, self._next_label = self._next_label, None

    @property
    def part(self) -> str | None:
        """The name of the part of the file that the next table belongs to; None where nothing is said."""
        if self.label is not None:
            return self.label
        if len(self.ranks) < 2:
            return None
        return f"ranks-{self.ranks['master']}-with-{self.ranks['partner']}"


def rank_text(ranks: Sequence[int]) -> str:
    """Ranks as a part of a name.

    >>> rank_text([0, 1, 2, 3]), rank_text([0, 2, 4]), rank_text([7]), rank_text([1, 5, 2])
    ('0-3', '0-4-by-2', '7', '1.5.2')
    """
    steps = {after - before for before, after in itertools.pairwise(ranks)}
    if len(ranks) > 1 and len(steps) == 1 and (step := steps.pop()) > 0:
        return f"{ranks[0]}-{ranks[-1]}" + (f"-by-{step}" if step > 1 else "")
    text = ".".join(map(str, ranks))
    return text if len(text) <= _LONGEST_NAME else f"{ranks[0]}-and-{len(ranks) - 1}-more"


def pair_series(
    message_bytes: int, pairs: int, seconds: float, *, is_exchange: bool = False
) -> ImportedSeries:
    """The time of k pairs at once: a whole round trip, or an exchange, until all have arrived."""
    pattern = "exchange" if is_exchange else "pairs"
    series = half_round_trips(message_bytes, seconds, pattern=pattern, pairs=pairs)
    return series if is_exchange else replace(series, direction="round-trip")


def with_parts(records: Sequence[ImportedRecord]) -> list[ImportedRecord]:
    """The records, of one part without its name: it is needed where there are several."""
    several = len({record.placement for record in records}) > 1
    if not several:
        return [replace(record, placement=None) for record in records]
    return [replace(record, placement=record.placement or "unnamed") for record in records]


def tag_of(between: Between, **further: object) -> Mapping[str, object]:
    """What a record's tag says of its table."""
    part = {} if between.part is None else {"between": between.part}
    return {**between.far, **part, **further}
