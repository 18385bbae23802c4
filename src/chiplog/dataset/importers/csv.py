"""chiplog's own tidy CSV: a header line that names the columns, then one sample a row.

`message_bytes` and `seconds` are required, and `pattern`, unless it is given by option. A time of ping_pong, pairs and
all_pairs means half or the double of what another tool's does: their direction must be said, by a column or by option.
Rows that agree in all but `seconds` are the samples of one series; series that agree in `record` belong to one record.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from chiplog.dataset.import_text import noted
from chiplog.dataset.import_values import LONGEST_SECONDS, time, too_long, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where, other_separator
from chiplog.dataset.patterns import FILE_PATTERNS
from chiplog.dataset.records import DIRECTIONS
from chiplog.errors import UsageError

COLUMNS = (
    "pattern",
    "operation",
    "posting",
    "direction",
    "transport",
    "message_bytes",
    "pairs",
    "peers",
    "train",
    "delay_seconds",
    "batch",
    "launch",
    "visit",
    "record",
    "seconds",
)
TAGS = ("hops", "distance")
"""Columns that are kept in the record's tag: how far the nodes are apart."""
POSTINGS = ("normal", "inline", "list")
CONVENTION = "one sample a row, seconds of one operation"

_DIRECTION_TO_BE_SAID = ("ping_pong", "pairs", "all_pairs")
_DIRECTION = {
    "prtt": "round-trip",
    "one_to_many": "round-trip",
    "flood": "round-trip",
    "exchange": "one-way",
}
_LEAST = {"pairs": 1, "peers": 1, "train": 1, "batch": 1}


class _Key(NamedTuple):
    """What the samples of one series share."""

    record: int
    launch: int
    visit: int
    pattern: str
    operation: str
    posting: str
    direction: str
    transport: str
    message_bytes: int
    pairs: int
    peers: int
    train: int
    delay_seconds: float
    batch: int
    tag: tuple[tuple[str, int], ...]


def read(source: Source, options: Options) -> Imported:
    """The samples of a tidy CSV file; CorruptFile names line and column of what is wrong."""
    rows = _rows(source)
    names = [name.strip() for name in next(rows, (1, []))[1]]
    _check_names(names, source.where(1), options)
    series = _series(names, rows, source, options)
    return Imported(
        _records(series),
        CONVENTION,
        transport=_transport(series, source),
        warnings=tuple(_unused(names)),
    )


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row that is not empty."""
    reader = csv.reader(source.text.splitlines(keepends=True), strict=True)
    try:
        for row in reader:
            if row and row != [""]:
                yield reader.line_num, row
    except csv.Error as error:
        raise source.where(reader.line_num).corrupt(None, f"no valid CSV: {error}") from None


def _check_names(names: list[str], where: Where, options: Options) -> None:
    for needed in ("message_bytes", "seconds"):
        if needed not in names:
            raise where.corrupt(
                needed,
                f"there is no such column; the columns are {_listed(names)}{other_separator(names)}",
            )
    if "pattern" not in names and options.pattern is None:
        what = f"there is no such column, nor --pattern; the columns are {_listed(names)}"
        raise where.corrupt("pattern", what)
    for name, count in Counter(names).items():
        if count > 1:
            raise where.corrupt(name[:40], "the column stands twice")


def _listed(names: list[str]) -> str:
    return ", ".join(name[:40] for name in names[:20]) or "none"


def _unused(names: list[str]) -> Iterator[Mapping[str, object]]:
    remedy = f"name it as one of {', '.join((*COLUMNS, *TAGS))}"
    for name in names:
        if name not in (*COLUMNS, *TAGS):
            yield from noted(1, "column", f"the column {name[:40]!r} was not read", remedy)


def _series(
    names: list[str], rows: Iterator[tuple[int, list[str]]], source: Source, options: Options
) -> dict[_Key, list[float]]:
    seconds_at = names.index("seconds")
    known: dict[tuple[str, ...], _Key] = {}
    series: dict[_Key, list[float]] = defaultdict(list)
    for number, row in rows:
        where = source.where(number)
        if len(row) != len(names):
            missing = names[len(row)] if len(row) < len(names) else None
            raise where.corrupt(missing, f"the row has {len(row)} fields, the header {len(names)}")
        seconds = time(row[seconds_at], "seconds", where)
        rest = (*row[:seconds_at], *row[seconds_at + 1 :])
        key = known.get(rest)
        if key is None:
            key = known[rest] = _key(dict(zip(names, row, strict=True)), where, options)
        if too_long(seconds * key.batch):
            raise where.corrupt(
                "batch", f"{key.batch} times {seconds:g} s is more than {LONGEST_SECONDS:g} s"
            )
        series[key].append(seconds)
    return series


def _key(row: dict[str, str], where: Where, options: Options) -> _Key:
    row = {name: text.strip() for name, text in row.items()}

    def count(name: str) -> int:
        least = _LEAST.get(name, 0)
        return whole(row[name], name, where, minimum=least) if row.get(name) else least

    pattern = _word(row, "pattern", where, FILE_PATTERNS, options.pattern)
    return _Key(
        record=count("record"),
        launch=count("launch"),
        visit=count("visit"),
        pattern=pattern,
        operation=row.get("operation") or "send",
        posting=_word(row, "posting", where, POSTINGS, "normal"),
        direction=_direction(row, pattern, where, options),
        transport=row.get("transport", ""),
        message_bytes=whole(row["message_bytes"], "message_bytes", where),
        pairs=count("pairs"),
        peers=count("peers"),
        train=count("train"),
        delay_seconds=time(row.get("delay_seconds") or "0", "delay_seconds", where),
        batch=count("batch"),
        tag=tuple((name, count(name)) for name in TAGS if row.get(name)),
    )


def _word(
    row: dict[str, str], name: str, where: Where, known: tuple[str, ...], default: str | None
) -> str:
    """The text of a column that accepts only `known` ones; `default` where the column is missing or empty."""
    word = row.get(name) or default
    if word not in known:
        raise where.corrupt(name, f"{(word or '')[:40]!r} is unknown; known are {', '.join(known)}")
    return word


def _direction(row: dict[str, str], pattern: str, where: Where, options: Options) -> str:
    if row.get("direction"):
        said = _word(row, "direction", where, DIRECTIONS, None)
        if options.direction not in (None, said):
            what = f"the column says {said!r}, --direction says {options.direction!r}"
            raise where.corrupt("direction", what)
        return said
    if pattern not in _DIRECTION_TO_BE_SAID:
        return _DIRECTION.get(pattern, "call")
    if options.direction is None:
        raise UsageError(
            f"{where.path} does not say whether a {pattern} time is the whole round trip or half of it: "
            "give --direction round-trip or --direction one-way."
        )
    return options.direction


def _transport(series: dict[_Key, list[float]], source: Source) -> str | None:
    transports = sorted({key.transport for key in series} - {""})
    if len(transports) > 1:
        what = (
            f"a run is of one transport, but here are {', '.join(transports[:5])}; split the file"
        )
        raise source.where(1).corrupt("transport", what)
    return transports[0] if transports else None


def _records(series: dict[_Key, list[float]]) -> list[ImportedRecord]:
    """One record for all series that agree in record, launch, visit and size."""
    members: dict[tuple[int, int, int, int, tuple[tuple[str, int], ...]], list[ImportedSeries]] = (
        defaultdict(list)
    )
    for key, seconds in series.items():
        record = (key.record, key.launch, key.visit, key.message_bytes, key.tag)
        members[record].append(_imported(key, seconds))
    return [
        ImportedRecord(imported, visit=visit, launch=launch, tag=dict(tag))
        for (_, launch, visit, _, tag), imported in members.items()
    ]


def _imported(key: _Key, seconds: list[float]) -> ImportedSeries:
    answered = key.pattern in ("ping_pong", "prtt", "pairs", "one_to_many", "exchange")
    return ImportedSeries(
        pattern=key.pattern,
        operation=key.operation,
        posting=key.posting,
        direction=key.direction,
        message_bytes=key.message_bytes,
        seconds=np.array(seconds),
        messages_per_sample=(key.train + answered) * key.pairs * key.peers,
        train=key.train,
        delay_seconds=key.delay_seconds,
        batch=key.batch,
        pairs=key.pairs,
        peers=key.peers,
    )


CSV = Importer(
    name="csv",
    summary="chiplog's own tidy CSV: a header line, then one sample a row",
    sign=r"\A[\w, ]*\b(?:message_bytes\b[\w, ]*\bseconds|seconds\b[\w, ]*\bmessage_bytes)\b[\w, ]*$",
    read=read,
)
