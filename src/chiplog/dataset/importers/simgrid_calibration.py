"""SimGrid's calibration: rows of `operation,bytes,start,seconds`, without a header, plain or in gzip.

    MPI_Isend, or MPI_Send alone    send_overhead, the duration of the call
    MPI_Recv alone                  receive_overhead, the duration of the call
    MPI_Send and MPI_Recv in turn   a ping-pong: each pair of rows has one start; the receive is timed from the end of
                                    the send, so that the round trip is the sum of both. It becomes ping_pong
                                    (round-trip) beside send_overhead of the blocking MPI_Send; the receive, which
                                    waits for the answer, is the difference of the two, sample by sample.

There is one record a size and operation, in the order of the file. The names of the calls are kept as `operation`.
Calls of other names, such as MPI_Iprobe and MPI_Wtime, and a call whose partner is missing are skipped.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from chiplog.dataset.import_text import Skipped
from chiplog.dataset.import_values import number, time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.errors import UsageError

COLUMNS = ("operation", "bytes", "start", "seconds")
CONVENTION = (
    "durations of single MPI calls; a ping-pong is the send and the receive that follows it"
)
MOST_UNPAIRED = 1
"""Given: how many calls of a size may lack their partner: the last one, where the job ended early."""
PATTERNS = {
    "MPI_Isend": "send_overhead",
    "MPI_Send": "send_overhead",
    "MPI_Ssend": "send_overhead",
    "MPI_Recv": "receive_overhead",
}

_Calls = dict[tuple[str, int], list[tuple[str, float]]]
"""Start, as printed, and seconds of each call, by operation and size."""


def read(source: Source, options: Options) -> Imported:
    """The calls of a calibration file; CorruptFile names line and column of what is wrong."""
    if options.pattern is not None:
        raise UsageError(
            "--pattern does not fit: a calibration file names its operations itself; leave it out."
        )
    skipped = Skipped()
    calls = _calls(source, skipped)
    sends = {size for name, size in calls if name == "MPI_Send"}
    receives = {size for name, size in calls if name == "MPI_Recv"}
    records = _ping_pongs(calls, source, skipped) if sends and receives else _bare_calls(calls)
    skipped.refuse_if_empty(records)
    return Imported(records, CONVENTION, warnings=skipped.warnings())


def _calls(source: Source, skipped: Skipped) -> _Calls:
    calls: _Calls = defaultdict(list)
    known: dict[tuple[str, str], tuple[str, int]] = {}
    for index, line in enumerate(source.lines(), start=1):
        words = line.split(",")
        if words == [""] or (index == 1 and _is_header(words)):
            continue
        where = source.where(index)
        if not words[0].startswith("MPI_"):
            skipped.foreign_line(where, line)
            continue
        if words[0] not in PATTERNS:
            what = f"{words[0][:40]!r} is unknown; known are {', '.join(PATTERNS)}"
            skipped.row(where, line, "operation", what)
            continue
        what = f"the row has {len(words)} columns, not {len(COLUMNS)}"
        if skipped.cut(where, line, words, COLUMNS, what):
            continue
        name, size, start, seconds = words
        key = known.get((name, size))
        if key is None:
            key = known[name, size] = (name, whole(size, "bytes", where))
        number(start, "start", where)
        calls[key].append((start, time(seconds, "seconds", where)))
    return calls


def _is_header(words: list[str]) -> bool:
    """Does a first line name as many columns as a row has?"""
    names = [word.strip(' "') for word in words]
    return len(names) == len(COLUMNS) and all(name.isidentifier() for name in names)


def _seconds(rows: list[tuple[str, float]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([seconds for _, seconds in rows])


def _bare_calls(calls: _Calls) -> list[ImportedRecord]:
    return [
        ImportedRecord((_call(name, size, rows),), tag={"calibration": name})
        for (name, size), rows in calls.items()
    ]


def _call(
    name: str, size: int, rows: list[tuple[str, float]], *, on_the_wire: bool = True
) -> ImportedSeries:
    """The calls of one name and size; not `on_the_wire` where another series counts their messages."""
    return ImportedSeries(
        pattern=PATTERNS[name],
        operation=name,
        direction="call",
        message_bytes=size,
        seconds=_seconds(rows),
        messages_per_sample=1 if on_the_wire else 0,
    )


def _ping_pongs(calls: _Calls, source: Source, skipped: Skipped) -> list[ImportedRecord]:
    """The ping-pongs of each size, and the calls of other names beside them."""
    halves = ("MPI_Send", "MPI_Recv")
    sizes = dict.fromkeys(size for name, size in calls if name in halves)
    ping_pongs = (_ping_pong(calls, size, source, skipped) for size in sizes)
    others = {key: rows for key, rows in calls.items() if key[0] not in halves}
    return [*(record for record in ping_pongs if record is not None), *_bare_calls(others)]


def _paired(
    calls: _Calls, size: int, source: Source, skipped: Skipped
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """The sends and receives of one size that have one start; CorruptFile where many have no partner."""
    sent, received = calls.get(("MPI_Send", size), []), calls.get(("MPI_Recv", size), [])
    if [start for start, _ in sent] == [start for start, _ in received]:
        return sent, received
    shorter = min(len(sent), len(received))
    starts = [start for start, _ in sent[:shorter]]
    lost = abs(len(sent) - len(received))
    if starts != [start for start, _ in received[:shorter]] or lost > MOST_UNPAIRED:
        what = f"the sends and receives of {size} bytes do not pair up: their starts differ"
        raise source.where(1).corrupt("start", what)
    what = "has no partner in the ping-pong"
    skipped.row(source.where(1), f"a call of {size} bytes", "start", what)
    return sent[:shorter], received[:shorter]


def _ping_pong(calls: _Calls, size: int, source: Source, skipped: Skipped) -> ImportedRecord | None:
    sent, received = _paired(calls, size, source, skipped)
    if not sent:
        return None
    whole_trip = ImportedSeries(
        pattern="ping_pong",
        direction="round-trip",
        message_bytes=size,
        seconds=_seconds(sent) + _seconds(received),
        messages_per_sample=2,
    )
    call = _call("MPI_Send", size, sent, on_the_wire=False)
    return ImportedRecord((whole_trip, call), tag={"calibration": "PingPong"})


SIMGRID_CALIBRATION = Importer(
    name="simgrid-calibration",
    summary="SimGrid's platform calibration: durations of MPI calls",
    sign=r"^MPI_\w+,\d+,[\d.eE+-]+,[\d.eE+-]+\s*$",
    is_log=True,
    read=read,
)
