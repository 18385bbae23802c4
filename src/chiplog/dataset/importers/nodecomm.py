r"""nodecomm: ping-pongs of 1, 2, … pairs of processes between two nodes at once, in seconds.

    Hops: 3
    1   4.00e-06   4.34e-06   …            a row: message size in 4-byte ints, then a time for each number of pairs

There is no header. A `Hops:` line says how far apart the nodes are; a run begins there and wherever the sizes begin
anew, and becomes a launch. A time is that of the full ping-pong, there and back, and the maximum over the ranks.

Source: nodecomm of W. Gropp's baseenv, as its outputs are published.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

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
from chiplog.errors import UsageError

INT_BYTES = 4
CONVENTION = (
    "whole round trips in seconds, the maximum over the ranks; sizes were in ints of 4 bytes; "
    "each run is a launch"
)
_HOPS = re.compile(r"Hops:\s*(\S+)\s*")


@dataclass
class _Place:
    """Which run the rows being read belong to."""

    launch: int = -1
    hops: int | None = None
    last_size: int | None = None

    def begin(self, hops: int | None) -> None:
        self.hops, self.last_size = hops, None

    def enter(self, size: int) -> int:
        """The launch of a row of `size`."""
        if self.last_size is None or size <= self.last_size:
            self.launch += 1
        self.last_size = size
        return self.launch


def read(source: Source, options: Options) -> Imported:
    """The rows of nodecomm's output; CorruptFile names line and column of what is wrong."""
    if options.pattern not in (None, "pairs"):
        raise UsageError(
            f"--pattern {options.pattern} does not fit: nodecomm's output holds pairs; leave it out."
        )
    if options.direction not in (None, "round-trip"):
        raise UsageError(
            f"--direction {options.direction} does not fit: nodecomm's times are whole round trips; leave it out."
        )
    records: list[ImportedRecord] = []
    place, columns, skipped = _Place(), 0, Skipped()
    for where, line in clean_lines(source):
        if line.startswith("Hops"):
            place.begin(_hops(line, where))
            continue
        words = line.split()
        if not words:
            continue
        if not is_number(words[0]):
            skipped.foreign_line(where, line)
            continue
        if columns and len(words) != columns:
            field = f"pairs {len(words)}" if len(words) < columns else None
            what = f"the row has {len(words) - 1} times, the rows before have {columns - 1}"
            error = where.corrupt(field, what)
            if len(words) > columns:
                raise error
            skipped.cut_row(where, line, error)
            continue
        skipped.row_follows()
        columns = len(words)
        if lacking := [word for word in words[1:] if is_number(word) and lacks_value(word)]:
            skipped.row(where, line, None, f"is {lacking[0]}: there is no time for that")
            continue
        records.append(_record(words, place, where))
    skipped.refuse_if_empty(records)
    return Imported(records, CONVENTION, ranks=2 * max(columns - 1, 1), warnings=skipped.warnings())


def _hops(line: str, where: Where) -> int:
    match = _HOPS.fullmatch(line.strip())
    return whole(match[1] if match else line.strip(), "Hops", where)


def _record(words: list[str], place: _Place, where: Where) -> ImportedRecord:
    size = whole(words[0], "size", where, maximum=1 << 45)
    if len(words) < 2:
        raise where.corrupt("pairs 1", "there is no time")
    launch = place.enter(size)
    series = tuple(
        _series(size * INT_BYTES, pairs, time(word, f"pairs {pairs}", where))
        for pairs, word in enumerate(words[1:], start=1)
    )
    tag: dict[str, object] = {} if place.hops is None else {"hops": place.hops}
    return ImportedRecord(series, launch=launch, tag=tag)


def _series(message_bytes: int, pairs: int, seconds: float) -> ImportedSeries:
    return ImportedSeries(
        pattern="pairs",
        direction="round-trip",
        message_bytes=message_bytes,
        seconds=np.array([seconds]),
        messages_per_sample=2 * pairs,
        bytes_per_sample=2 * pairs * message_bytes,
        pairs=pairs,
    )


NODECOMM = Importer(
    name="nodecomm",
    summary="nodecomm: ping-pongs of k pairs between two nodes",
    sign=r"^\s*Hops:\s*\d+\s*$",
    is_log=True,
    read=read,
)
