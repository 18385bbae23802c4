"""nccl-tests and rccl-tests: times of a collective operation of several devices.

    # Collective test starting: all_reduce_perf
    #  Rank  0 Group  0 Pid 17 on node1 device  0 …
    #       size   count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
               8       2  float   sum    -1  23.4   0.00   0.00      0  22.1   0.00   0.00      0

The pattern is the collective's name, the direction "call": no model here is fitted to it, and nothing takes it for a
ping-pong. The two times of a row, out of place and in place, are two operations of one record. A row with wrong values
has no time.

Source: nccl-tests' output and its PERFORMANCE.md: mean over the iterations, in µs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

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

MICROSECOND = 1e-6
PRINTED_STEP_SECONDS = 1e-8
CONVENTION = "the mean duration of a collective operation over its iterations, in µs"
COLLECTIVES = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "bcast",
    "reduce": "reduce",
    "alltoall": "alltoall",
    "all_to_all": "alltoall",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "sendrecv",
    "hypercube": "hypercube",
}
"""chiplog's name of a collective by that of its test."""
PLACES = ("out-of-place", "in-place")
_TEST = re.compile(rf"\b({'|'.join(COLLECTIVES)})_perf\b")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s.*\bon\s+(\S+)\s+device\b.*")


@dataclass
class _File:
    """What was read of a file so far."""

    test: str | None = None
    columns: list[str] = field(default_factory=list)
    launch: int = -1
    sizes: Counter[tuple[str, int]] = field(default_factory=Counter)
    hosts: dict[int, str] = field(default_factory=dict)
    records: list[ImportedRecord] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)


def read(source: Source, options: Options) -> Imported:
    """The rows of a collective's table; CorruptFile names line and column of what is wrong."""
    if options.pattern is not None:
        raise UsageError(
            f"--pattern {options.pattern} does not fit: nccl-tests time collective operations; leave it out."
        )
    if options.direction is not None:
        raise UsageError(
            f"--direction {options.direction} does not fit: the time of a collective is that of a call; leave it out."
        )
    file = _File()
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    file.skipped.refuse_if_empty(file.records)
    ranks = len(file.hosts) or 1
    hosts = tuple(file.hosts[rank] for rank in sorted(file.hosts))
    return Imported(
        file.records,
        CONVENTION,
        ranks=ranks,
        hosts=hosts if sorted(file.hosts) == list(range(ranks)) else (),
        warnings=file.skipped.warnings(),
        statistic="mean",
        resolution_seconds=PRINTED_STEP_SECONDS,
    )


def _read_line(file: _File, line: str, where: Where) -> None:
    words = line.lstrip("#").split()
    if match := _RANK.fullmatch(line):
        file.hosts[int(match[1][:9])] = match[2]
    elif match := _TEST.search(line):
        file.test = COLLECTIVES[match[1]]
    elif line.startswith("#"):
        if words[:2] == ["size", "count"]:
            file.columns = words
    elif line and not (is_number(words[0]) and len(words) > 2):
        file.skipped.foreign_line(where, line)
    elif line:
        _row(file, words, line, where)


def _row(file: _File, words: list[str], line: str, where: Where) -> None:
    if file.test is None:
        what = (
            "the file does not name its collective: put a line such as '# Collective test starting: all_reduce_perf' "
            "before the table"
        )
        raise where.corrupt("test", what)
    if "time" not in file.columns:
        raise where.corrupt("time", "no line before names the columns")
    if len(words) != len(file.columns):
        what = f"the row has {len(words)} columns, its header {len(file.columns)}"
        file.skipped.row(where, line, None, what)
        return
    size = whole(words[0], "size", where)
    series = []
    at = [index for index, name in enumerate(file.columns) if name == "time"]
    for place, index in zip(PLACES, at, strict=False):
        wrong = words[index + 3] if index + 3 < len(words) else "0"
        word = words[index]
        if not is_number(word) or lacks_value(word) or (is_number(wrong) and float(wrong) != 0):
            what = f"the time {place} is {word[:20]} with {wrong[:20]} wrong values"
            file.skipped.row(where, line, "time", what)
            continue
        series.append(
            ImportedSeries(
                pattern=file.test,
                direction="call",
                operation=place,
                message_bytes=size,
                seconds=np.array([time(word, "time", where, factor=MICROSECOND)]),
                messages_per_sample=1,
                bytes_per_sample=size,
                peers=max(len(file.hosts) - 1, 1),
            )
        )
    if series:
        launch = file.sizes[file.test, size]
        file.sizes[file.test, size] += 1
        file.records.append(
            ImportedRecord(tuple(series), launch=launch, tag={"nccl-tests": file.test})
        )


NCCL_TESTS = Importer(
    name="nccl-tests",
    summary="nccl-tests: times of collective operations, for which there are no models",
    sign=r"#\s*size\s+count\s+type\b",
    read=read,
)
