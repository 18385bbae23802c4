r"""nodecomm: ping-pongs of 1, 2, … pairs of processes between two nodes at once, in seconds.

    Hops: 3
    1   4.00e-06   4.34e-06   …            a row: message size in 4-byte ints, then a time for each number of pairs

There is no header. A `Hops:` line says how far apart the nodes are; a run begins there and wherever the sizes begin
anew, and becomes a launch. A time is that of the full ping-pong, there and back, and the maximum over the ranks. Tables
of other partners (`Pingpong for`, `Socket:`) are parts of their own. With -o a row has the size of a work array, and
for each number of pairs three times: of an exchange, of the work, and of both at once; the first becomes an exchange.

Source: nodecomm of W. Gropp's baseenv, as its outputs are published.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from chiplog.dataset.import_node_pairs import INT_BYTES, Between, pair_series, tag_of, with_parts
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value
from chiplog.dataset.import_values import time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where

CONVENTION = (
    "whole round trips in seconds, the maximum over the ranks; sizes were in ints of 4 bytes; "
    "each run is a launch; of runs with -o, exchanges"
)
OVERLAP, DETAILED_OVERLAP = 3, 6
"""Given: how many times a row of -o has for each number of pairs, and of a program that was built for more detail."""
_INTS = re.compile(r"Ints(?:\s+\d+)+")


@dataclass
class _Place:
    """Which run the rows being read belong to."""

    between: Between = field(default_factory=Between)
    launches: Counter[str | None] = field(default_factory=Counter)
    last_size: int | None = None

    def read(self, line: str, where: Where) -> bool:
        """Takes what a line says of the next run; False where it says nothing of that."""
        is_said = self.between.read(line, where)
        if is_said:
            self.last_size = None
        return is_said

    def enter(self, size: int) -> int:
        """The launch of a row of `size`."""
        self.between.enter()
        if self.last_size is None or size <= self.last_size:
            self.launches[self.between.part] += 1
        self.last_size = size
        return self.launches[self.between.part] - 1


def read(source: Source, options: Options) -> Imported:
    """The rows of nodecomm's output; CorruptFile names line and column of what is wrong."""
    options.check_pattern(("pairs",), "nodecomm's output holds pairs")
    options.check_direction(("round-trip",), "nodecomm's times are whole round trips")
    records: list[ImportedRecord] = []
    place, columns, skipped = _Place(), 0, Skipped()
    for where, line in clean_lines(source):
        if not line or place.read(line, where):
            columns = 0 if line.startswith(("Pingpong", "partner")) else columns
            continue
        words = line.split()
        if not is_number(words[0]):
            if _INTS.fullmatch(line):
                what = "this is the output of smptest, nodecomm's successor: use chiplog import smptest"
                raise where.corrupt("Ints", what)
            skipped.foreign_line(where, line)
            continue
        columns = columns or len(words)
        what = f"the row has {len(words) - 1} times, the rows before have {columns - 1}"
        names = ["size", *(f"pairs {pairs}" for pairs in range(1, columns))]
        if skipped.cut(where, line, words, names, what):
            continue
        if lacking := [word for word in words[1:] if is_number(word) and lacks_value(word)]:
            skipped.without_time(where, line, None, lacking[0])
            continue
        records.append(_record(words, place, where))
    skipped.refuse_if_empty(records)
    most = max((series.pairs for record in records for series in record.series), default=1)
    return Imported(with_parts(records), CONVENTION, ranks=2 * most, warnings=skipped.warnings())


def _record(words: list[str], place: _Place, where: Where) -> ImportedRecord:
    size = whole(words[0], "size", where, maximum=1 << 45)
    if len(words) < 2:
        raise where.corrupt("pairs 1", "there is no time")
    launch = place.enter(size)
    if words[1].isdigit():
        series, further = _overlapped(words, size, place.between.pairs, where)
    else:
        further = {}
        series = tuple(
            pair_series(size * INT_BYTES, pairs, time(word, f"pairs {pairs}", where))
            for pairs, word in enumerate(words[1:], start=1)
        )
    tag = tag_of(place.between, **further)
    return ImportedRecord(series, launch=launch, tag=tag, placement=place.between.part)


def _overlapped(
    words: list[str], size: int, pairs: int, where: Where
) -> tuple[tuple[ImportedSeries, ...], dict[str, object]]:
    """The exchanges of a row of -o, and what its tag says of the work; CorruptFile where the times don't make rows."""
    times = words[2:]
    each = DETAILED_OVERLAP if pairs and len(times) == DETAILED_OVERLAP * pairs else OVERLAP
    if not times or len(times) % each or (pairs and len(times) != each * pairs):
        what = f"is {words[1]}, the work of -o, but {len(times)} times follow, not {OVERLAP} for each number of pairs"
        raise where.corrupt("work", what)
    seconds = [time(word, f"pairs {1 + at // each}", where) for at, word in enumerate(times)]
    series = tuple(
        pair_series(size * INT_BYTES, k, value, is_exchange=True)
        for k, value in enumerate(seconds[::each], start=1)
    )
    further: dict[str, object] = {
        "work_doubles": whole(words[1], "work", where),
        "work_seconds": seconds[1::each],
        "overlapped_seconds": seconds[2::each],
    }
    return series, further


NODECOMM = Importer(
    name="nodecomm",
    summary="nodecomm: ping-pongs of k pairs between two nodes",
    sign=r"^\s*Hops:\s*\d+\s*$",
    is_log=True,
    read=read,
)
