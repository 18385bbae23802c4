"""mpiGraph: the bandwidth from every rank to every other one, as a matrix.

    MsgSize 1048576
    Window  50
    Recv    node1:0     node2:1     …                     MiB/s of 2^20 B/s
    node1:0 from    0.000   10123.456   …

In each of N - 1 steps all ranks send a window of messages to the rank D to the right, and receive one from the left.
A step becomes a round of all_pairs, one-way, a pair's time that of one message of its window. The matrix of receives
is read, since a send may be over before the message is there; that of sends where there is no other. A run that stands
in the file again, between the same hosts and with the same messages, is another visit.

Source: mpiGraph's output, version 1.5; its MB/s are of 1024 * 1024 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chiplog.dataset.import_series import pair_records
from chiplog.dataset.import_text import Skipped, clean_lines, is_number
from chiplog.dataset.import_values import LONGEST_SECONDS, MEBIBYTE, number, whole
from chiplog.dataset.importer import Imported, ImportedRecord, Importer, Options, Source
from chiplog.dataset.lines import Where

MOST_RANKS = 1 << 14
CONVENTION = (
    "one-way: the time of a window of messages by their number, mean over the iterations; all ranks send at once; "
    "1 MB/s of mpiGraph is 2^20 B/s"
)
_SETTING = re.compile(r"(MsgSize|Times|Window|Procs)\s+(\S+)")
_NAME = re.compile(r"(.*):(\d+)")


@dataclass
class _Matrix:
    """The matrix of sends or of receives: seconds by (sender, receiver)."""

    kind: str
    hosts: tuple[str, ...]
    where: Where
    rows: set[int] = field(default_factory=set)
    seconds: dict[tuple[int, int], float] = field(default_factory=dict)


@dataclass
class _MpigraphRun:
    """The settings and the matrices of one run."""

    settings: dict[str, int] = field(default_factory=dict)
    matrices: dict[str, _Matrix] = field(default_factory=dict)

    @property
    def matrix(self) -> _Matrix | None:
        """The matrix that is read."""
        return self.matrices.get("Recv") or self.matrices.get("Send")

    @property
    def kind(self) -> tuple[object, ...]:
        """What two runs must share to be visits of one another."""
        size, window = (self.settings.get(name) for name in ("MsgSize", "Window"))
        return size, window, self.matrix and (self.matrix.kind, self.matrix.hosts)


def read(source: Source, options: Options) -> Imported:
    """The matrices of mpiGraph; CorruptFile names line and column of what is wrong."""
    options.check_pattern(("all_pairs",), "mpiGraph measures all_pairs")
    options.check_direction(("one-way",), "mpiGraph is one-way")
    skipped = Skipped()
    runs = [run for run in _runs(source, skipped) if run.matrix is not None]
    if not runs or (matrix := runs[0].matrix) is None:
        raise source.where(1).corrupt("Recv", "the file has no matrix of mpiGraph")
    for run in runs:
        for rank in range(len(matrix.hosts)):
            if run.matrix is not None and rank not in run.matrix.rows:
                skipped.row(
                    run.matrix.where, f"rank {rank}", run.matrix.kind, "the rank has no row"
                )
        if run.kind != runs[0].kind:
            what = "two runs are of other hosts or messages: put each into a file of its own"
            raise source.where(1).corrupt("Recv", what)
    records = [
        record
        for visit, run in enumerate(runs)
        if run.matrix
        for record in _records(run, run.matrix, visit)
    ]
    skipped.refuse_if_empty(records)
    return Imported(
        records,
        CONVENTION,
        ranks=len(matrix.hosts),
        hosts=matrix.hosts,
        warnings=skipped.warnings(),
        statistic="mean",
    )


def _runs(source: Source, skipped: Skipped) -> list[_MpigraphRun]:
    """The runs of a file: one begins wherever a setting or a matrix stands again."""
    runs = [_MpigraphRun()]
    current: _Matrix | None = None
    for where, line in clean_lines(source):
        words, run = line.split(), runs[-1]
        if match := _SETTING.fullmatch(line):
            if match[1] in run.settings:
                runs.append(run := _MpigraphRun())
                current = None
            run.settings[match[1]] = whole(match[2], match[1], where, minimum=1)
        elif words[:1] in (["Send"], ["Recv"]) and len(words) > 1 and _NAME.fullmatch(words[1]):
            if words[0] in run.matrices:
                runs.append(run := _MpigraphRun(dict(run.settings)))
            current = run.matrices[words[0]] = _begun(words, where)
        elif current is not None and len(words) > 1 and words[1] in ("to", "from"):
            _row(words, current, run.settings, skipped, where, line)
        elif words and not _is_progress(line):
            skipped.foreign_line(where, line)
    return runs


def _records(run: _MpigraphRun, matrix: _Matrix, visit: int) -> Iterator[ImportedRecord]:
    return pair_records(
        matrix.seconds,
        ranks=len(matrix.hosts),
        message_bytes=run.settings["MsgSize"] if matrix.seconds else 0,
        tag={"mpigraph": matrix.kind, "window": run.settings.get("Window")},
        visit=visit,
    )


def _is_progress(line: str) -> bool:
    return (
        re.match(r"(START|END) mpiGraph|\d+ of \d+ \(|Gathering|(Send|Recv) (max|avg)", line)
        is not None
    )


def _begun(words: list[str], where: Where) -> _Matrix:
    names = [_NAME.fullmatch(word) for word in words[1:]]
    if len(names) > MOST_RANKS:
        raise where.corrupt(words[0], f"{len(names)} ranks are more than {MOST_RANKS}")
    for rank, name in enumerate(names):
        if name is None or int(name[2][:20]) != rank:
            raise where.corrupt(words[0], f"column {rank + 1} is not of rank {rank}")
    return _Matrix(words[0], tuple(name[1] for name in names if name), where)


def _row(
    words: list[str],
    matrix: _Matrix,
    settings: dict[str, int],
    skipped: Skipped,
    where: Where,
    line: str,
) -> None:
    name = _NAME.fullmatch(words[0])
    rank = len(matrix.hosts) if name is None else int(name[2][:20])
    if rank >= len(matrix.hosts) or rank in matrix.rows:
        raise where.corrupt(matrix.kind, f"{words[0][:40]!r} is no rank that is still missing")
    if (matrix.kind == "Send") != (words[1] == "to"):
        raise where.corrupt(matrix.kind, f"the row says {words[1]!r}")
    if "MsgSize" not in settings:
        raise where.corrupt("MsgSize", "no line before says how long the messages are")
    matrix.rows.add(rank)
    if len(words) != 2 + len(matrix.hosts):
        what = f"the row has {len(words) - 2} numbers, not {len(matrix.hosts)}"
        skipped.row(where, line, matrix.kind, what)
        return
    for other, word in enumerate(words[2:]):
        if other == rank:
            continue
        if not is_number(word):
            skipped.row(where, word, matrix.kind, f"{word[:20]!r} is no number")
            continue
        rate = number(word, matrix.kind, where) * MEBIBYTE if word.lower() not in _NO_NUMBER else 0
        seconds = settings["MsgSize"] / rate if rate else LONGEST_SECONDS
        if seconds >= LONGEST_SECONDS:
            pair = f"rank {rank} {words[1]} rank {other}: {word}"
            skipped.row(where, pair, matrix.kind, "there is no time for such a rate")
            continue
        matrix.seconds[(rank, other) if matrix.kind == "Send" else (other, rank)] = seconds


_NO_NUMBER = ("nan", "-nan", "inf", "-inf")

MPIGRAPH = Importer(
    name="mpigraph",
    summary="mpiGraph: bandwidths between every two ranks",
    sign=r"START mpiGraph",
    is_log=True,
    read=read,
)
