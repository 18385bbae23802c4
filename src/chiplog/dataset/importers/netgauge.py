"""Netgauge's loggp pattern: 11 columns, times in microseconds, whole round trips and trains.

    size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,d,s) L o_s o_r g G lsqu(g,G)          with d = PRTT(1,0,s)

A row becomes the three series of one record. Netgauge's own answers are kept in the record's tag, in seconds, null
where it printed NaN; a size that stands twice with the same times marks a protocol change of its own: one record.

Files of its patterns one_one and one_one_mpi_bidirect are read by `import_netgauge_times`.

Source: Netgauge's loggp output as CODES reads it, too.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict

import numpy as np

from chiplog.dataset.import_netgauge_times import PRINTED, SAMPLES, SUMMARY, read_times
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value
from chiplog.dataset.import_values import MICROSECOND, time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.outside import as_number

COLUMNS = (
    "size",
    "n",
    "PRTT(1,0,s)",
    "PRTT(n,0,s)",
    "PRTT(n,d,s)",
    "L",
    "o_s",
    "o_r",
    "g",
    "G",
    "lsqu",
)
CONVENTION = (
    "totals of PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s) with d = PRTT(1,0,s), one value each"
)

_ANSWERS = re.compile(r"L=\S+\s+s=\d+\s+o_s=")
_ONLY_ANSWERS = (
    "this is what Netgauge's loggp prints on the terminal: answers without the times that they come from; "
    "import the file that it wrote with -o"
)

_NOISE = re.compile(r"#\s*(?:Selfish|Fixed (?:Work|Time) Quantum) Benchmark\s*")
_LOST_TIMES = (
    "this is Netgauge's pattern noise: lost times of a CPU, and no messages; the selfish benchmark is what "
    "chiplog simulate --noise-trace reads"
)

_Key = tuple[int, int, float, float, float]


def read(source: Source, options: Options) -> Imported:
    """The rows of a Netgauge file; CorruptFile names line and column of what is wrong."""
    for where, line in clean_lines(source):
        if _NOISE.fullmatch(line):
            raise where.corrupt(None, _LOST_TIMES)
        if any(pattern.fullmatch(line) for pattern in (SAMPLES, SUMMARY, PRINTED)):
            return read_times(source, options)
        if _is_loggp(line.split()):
            break
    return _read_loggp(source, options)


def _is_loggp(words: list[str]) -> bool:
    """Is a line a row of the pattern loggp?"""
    return len(words) == len(COLUMNS) and all(map(is_number, words))


def _read_loggp(source: Source, options: Options) -> Imported:
    options.check_pattern(("prtt",), "a Netgauge file holds prtt")
    options.check_direction(("round-trip",), "prtt is a round-trip")
    answers: dict[_Key, list[dict[str, float | None]]] = defaultdict(list)
    skipped, rows = Skipped(), 0
    printed: Where | None = None
    for where, line in clean_lines(source):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not is_number(words[0]):
            printed = printed or (where if _ANSWERS.match(line) else None)
            skipped.foreign_line(where, line)
            continue
        if 0 < len(words) < len(COLUMNS) and rows:
            what = f"the row has {len(words)} columns, not {len(COLUMNS)}"
            skipped.cut_row(where, line, where.corrupt(COLUMNS[len(words)], what))
            continue
        skipped.row_follows()
        rows += 1
        times = list(enumerate(words))[2:5] if len(words) == len(COLUMNS) else []
        if lacking := [at for at, word in times if is_number(word) and lacks_value(word)]:
            skipped.without_time(where, line, COLUMNS[lacking[0]], words[lacking[0]])
            continue
        key, answer = _row(words, where)
        answers[key].append(answer)
    records = [*_records(answers)]
    if printed is not None and not records:
        raise printed.corrupt(None, _ONLY_ANSWERS)
    skipped.refuse_if_empty(records)
    return Imported(records, CONVENTION, warnings=skipped.warnings())


def _row(words: list[str], where: Where) -> tuple[_Key, dict[str, float | None]]:
    if len(words) != len(COLUMNS):
        missing = COLUMNS[len(words)] if len(words) < len(COLUMNS) else None
        what = f"the row has {len(words)} columns, not {len(COLUMNS)} as of the pattern loggp"
        raise where.corrupt(missing, what)
    size, train = whole(words[0], "size", where), whole(words[1], "n", where, minimum=2)
    single, several, delayed = (
        time(word, column, where, factor=MICROSECOND)
        for word, column in zip(words[2:5], COLUMNS[2:5], strict=True)
    )
    answer = {
        name: _answer(word, name, where) for name, word in zip(COLUMNS[5:], words[5:], strict=True)
    }
    return (size, train, single, several, delayed), answer


def _answer(word: str, name: str, where: Where) -> float | None:
    """One of Netgauge's own answers in seconds; it may be negative, and None stands for NaN."""
    value = as_number(word)
    if value is None:
        raise where.corrupt(name, f"{word[:40]!r} is not a number")
    return value * MICROSECOND if math.isfinite(value) else None


def _records(answers: dict[_Key, list[dict[str, float | None]]]) -> list[ImportedRecord]:
    visits: dict[int, int] = defaultdict(int)
    records = []
    for (size, train, single, several, delayed), of_runs in answers.items():
        tag: dict[str, object] = {"netgauge": of_runs[0]}
        if len(of_runs) > 1:
            tag["netgauge_after_its_protocol_change"] = of_runs[1]
        series = (
            _series(size, 1, 0.0, single),
            _series(size, train, 0.0, several),
            _series(size, train, single, delayed),
        )
        records.append(ImportedRecord(series, visit=visits[size], tag=tag))
        visits[size] += 1
    return records


def _series(size: int, train: int, delay_seconds: float, seconds: float) -> ImportedSeries:
    return ImportedSeries(
        pattern="prtt",
        direction="round-trip",
        message_bytes=size,
        seconds=np.array([seconds]),
        messages_per_sample=train + 1,
        train=train,
        delay_seconds=delay_seconds,
    )


NETGAUGE = Importer(
    name="netgauge",
    summary="Netgauge's loggp, one_one, netnoise, conc and bidirect files, also CODES's table",
    sign=r"^#?\s*size\s+n\s+PRTT\(1,0,s\)|^#size\s+rtt\s*$|^##\s*Netgauge v|^\d+ bytes\s+->.*== \S+ Mbit/s",
    is_log=True,
    read=read,
)
