"""nccl-tests and rccl-tests: times of a collective operation of several devices.

    # Collective test starting: all_reduce_perf
    #  Rank  0 Group  0 Pid 17 on node1 device  0 …
    #       size   count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
               8       2  float   sum    -1  23.4   0.00   0.00      0  22.1   0.00   0.00      0

The pattern is the collective's name, the direction "call": no model here is fitted to it, and nothing takes it for a
ping-pong. The two times of a row, out of place and in place, are two operations of one record; with several types,
reductions or roots in a file they are part of the operation. A row with wrong values has no time. Where no line names
the collective, its columns tell it, or the file's name.

Releases before 2.13 have a column `error` instead of `#wrong`: the largest difference from the right result, which is
not 0 of floating-point numbers. They leave `redop` blank where nothing is reduced.

Releases before 2.17 print no name. What the columns tell: an operation that reduces has a `redop`, one with a root has
a `root`, and the ratio of busbw to algbw is 2 (n - 1) / n of n ranks for allreduce, (n - 1) / n or 1 for the others.

Source: nccl-tests' output and its PERFORMANCE.md: mean over the iterations, in us.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chiplog.dataset.import_side_by_side import one_below_the_other
from chiplog.dataset.import_text import Skipped, is_number, lacks_value, noted, printed_lines
from chiplog.dataset.import_values import MICROSECOND, MICROSECOND_STEP, printed_step, time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.outside import as_float

CONVENTION = "the mean duration of a collective operation over its iterations, in us"
PLACES = ("out-of-place", "in-place")
OPTIONAL = ("type", "redop", "root")
"""Columns that a row may leave blank."""
LARGEST_DIFFERENCE: Mapping[str, float] = {
    "half": 1e-2,
    "bfloat16": 1e-2,
    "float": 1e-5,
    "double": 1e-12,
}
"""Given: the difference from the right result above which older releases call a value wrong; integers have none."""
COLLECTIVES: Mapping[str, str] = {
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
_REDUCING = ("allreduce", "reduce_scatter", "reduce", "sendrecv")
_NOT_REDUCING = ("allgather", "bcast", "alltoall", "gather", "scatter", "sendrecv", "hypercube")
_ROOTED = ("bcast", "reduce", "gather", "scatter")
_SHARE = ("allgather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube")
"""Those whose busbw is algbw times (n - 1) / n."""
_NAME = re.compile(r"all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|sendrecv")
_TEST = re.compile(rf"\b({'|'.join(COLLECTIVES)})_perf(?![a-z])")
"""The name of a program, to which sites add what they built it with: `all_reduce_perf_mpi`."""
_STARTING = re.compile(r"(?:\\?#\s*)?\bCollective test starting:")
_HEADER = re.compile(r"(?:\\?#+\s*)?\bsize\s+count\b")
_RANK = re.compile(r"#?\s*Rank\s+(\d+)\s.*\bon\s+(\S+)\s+device\b.*")


@dataclass
class _NcclTestsTable:
    """One table: its columns, how many ranks it is of, and the rows with their places."""

    columns: list[str]
    ranks: int
    test: str | None = None
    places: tuple[str, ...] = PLACES
    """The operation of each time, in the order of the columns."""
    is_named: bool = False
    """Does a line name its collective, and no table stands between the two?"""
    rows: list[tuple[list[str], str, Where]] = field(default_factory=list)

    def variant(self, words: list[str]) -> str:
        """What a row is of beside its size: type, reduction and root."""
        cells = dict(zip(self.columns, words, strict=True))
        return " ".join(cells[name] for name in OPTIONAL if cells.get(name))

    def cells(self, words: list[str]) -> list[str] | None:
        """The word of each column, "" where it is blank; None where the row has words too few or too many.

        >>> _NcclTestsTable("size count type redop root time".split(), 8).cells("8 2 float 0 23.4".split())
        ['8', '2', 'float', '', '0', '23.4']
        """
        optional = [name for name in self.columns if name in OPTIONAL]
        given = words[2 : len(words) - (len(self.columns) - 2 - len(optional))]
        names = iter(optional)
        filled: dict[str, str] = {}
        for word in given:
            is_root = word.lstrip("-").isdigit()
            name = next((column for column in names if (column == "root") == is_root), None)
            if name is None:
                return None
            filled[name] = word
        if len(words) != len(self.columns) - len(optional) + len(given):
            return None
        return [
            *words[:2],
            *(filled.get(name, "") for name in optional),
            *words[2 + len(given) :],
        ]

    def is_wrong(self, words: list[str], time_index: int) -> bool:
        """Does a row say that the values beside the time at `time_index` are wrong?"""
        cells = dict(zip(self.columns, words, strict=True))
        for name, word in zip(self.columns[time_index + 1 :], words[time_index + 1 :], strict=True):
            if name == "time":
                return False
            if name == "error" and word.endswith("*"):
                return True
            if name in ("error", "#wrong") and is_number(word):
                limit = LARGEST_DIFFERENCE.get(cells.get("type", ""), 0.0)
                return float(word) > (limit if name == "error" else 0.0)
        return False


@dataclass
class _NcclTestsFile:
    """What was read of a file so far."""

    test: str | None = None
    """The collective that was named last."""
    is_news: bool = False
    """Has no table begun since it was named?"""
    places: tuple[str, ...] = PLACES
    """The order of the two times that the line above the next header names."""
    hosts: dict[int, str] = field(default_factory=dict)
    tables: list[_NcclTestsTable] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    guessed: Counter[str] = field(default_factory=Counter)

    @property
    def ranks(self) -> int:
        """How many ranks the last list of devices has."""
        return max(self.hosts, default=-1) + 1


def read(source: Source, options: Options) -> Imported:
    """The rows of a collective's table; CorruptFile names line and column of what is wrong."""
    options.check_pattern((), "nccl-tests time collective operations")
    options.check_direction((), "the time of a collective is that of a call")
    file = _NcclTestsFile()
    for where, line in one_below_the_other(printed_lines(source), _STARTING, _HEADER):
        _read_line(file, line.strip(), where)
    tables = [table for table in file.tables if table.rows]
    for table in tables:
        _name(table, file, source)
    records = list(_records(tables, file.skipped))
    file.skipped.refuse_if_empty(records)
    ranks = file.ranks or 1
    hosts = tuple(file.hosts[rank] for rank in sorted(file.hosts))
    return Imported(
        records,
        CONVENTION,
        ranks=ranks,
        hosts=hosts if len(hosts) == ranks else (),
        warnings=(*_warnings(file.guessed), *file.skipped.warnings()),
        statistic="mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _read_line(file: _NcclTestsFile, line: str, where: Where) -> None:
    words = line.lstrip("\\#").split()
    if words[:2] == ["Using", "devices"]:
        file.hosts = {}
    elif match := _RANK.fullmatch(line):
        file.hosts[int(match[1][:9])] = match[2]
    elif match := _TEST.search(line):
        file.test, file.is_news = COLLECTIVES[match[1]], True
    elif words[:2] == ["size", "count"]:
        file.tables.append(_NcclTestsTable(words, file.ranks, places=file.places))
    elif set(words) == set(PLACES):
        file.places = tuple(words)
    elif not words or line.startswith(("#", "\\#")):
        return
    elif not (words[0].isascii() and words[0].isdigit() and len(words) > 2 and is_number(words[1])):
        file.skipped.foreign_line(where, line)
    else:
        _read_row(file, words, line, where)


def _read_row(file: _NcclTestsFile, words: list[str], line: str, where: Where) -> None:
    if not file.tables or "time" not in file.tables[-1].columns:
        raise where.corrupt("time", "no line before names the columns")
    table = file.tables[-1]
    cells = table.cells(words)
    if cells is None:
        what = f"the row has {len(words)} columns, its header {len(table.columns)}"
        file.skipped.row(where, line, None, what)
        return
    if not table.rows:
        table.test, table.is_named, file.is_news = file.test, file.is_news, False
    table.rows.append((cells, line, where))


def _name(table: _NcclTestsTable, file: _NcclTestsFile, source: Source) -> None:
    """Finds the collective of `table`; CorruptFile where neither the file nor its columns tell it."""
    if table.is_named:
        return
    can_be = candidates(table.columns, (words for words, _, _ in table.rows), table.ranks)
    if table.test is not None and (table.test in can_be or not can_be):
        return
    if len(can_be) > 1:
        collective = by_file_name(Path(source.path).name)
        can_be = (collective,) if collective in can_be else can_be
    if len(can_be) != 1:
        tests = [test for test, name in COLLECTIVES.items() if name in can_be] or ["all_reduce"]
        what = (
            f"the file does not name its collective, which can be {' or '.join(can_be) or 'any'}: put a line such as "
            f"'# Collective test starting: {tests[0]}_perf' before the table"
        )
        raise table.rows[0][2].corrupt("test", what)
    table.test = can_be[0]
    file.guessed[can_be[0]] += 1


def candidates(
    columns: Sequence[str], rows: Iterable[Sequence[str]], ranks: int
) -> tuple[str, ...]:
    """The collectives that a table can be of; `ranks` is 0 where the file does not say how many there are.

    >>> columns = "size count type redop root time algbw busbw #wrong".split()
    >>> candidates(columns, ["16777216 4194304 float sum -1 123.4 135.96 237.93 0".split()], 8)
    ('allreduce',)
    """
    table = [dict(zip(columns, row, strict=False)) for row in rows]
    possible = set(COLLECTIVES.values())
    for row in table:
        possible &= set(_NOT_REDUCING if row.get("redop", "") in ("", "none") else _REDUCING)
        has_root = row.get("root", "-1") not in ("", "-1")
        possible = {collective for collective in possible if (collective in _ROOTED) == has_root}
        possible &= _by_ratio(row.get("algbw", "0"), row.get("busbw", "0"), ranks)
    return tuple(fromkey for fromkey in dict.fromkeys(COLLECTIVES.values()) if fromkey in possible)


def _by_ratio(algorithm_rate: str, bus_rate: str, ranks: int) -> set[str]:
    """The collectives whose ratio of rates a row has, but for the last digits of both."""
    everything = set(COLLECTIVES.values())
    rate, bus = as_float(algorithm_rate), as_float(bus_rate)
    if not rate or not bus:
        return everything
    ratio = bus / rate
    slack = ratio * (printed_step(algorithm_rate) / rate + printed_step(bus_rate) / bus)
    share = (ranks - 1) / ranks if ranks else None
    fits = {
        "allreduce": abs(ratio - 2 * share) < slack if share else 1 - slack < ratio < 2 + slack,
        **{
            collective: abs(ratio - share) < slack if share else ratio < 1 + slack
            for collective in _SHARE
        },
    }
    return {collective for collective in everything if fits.get(collective, abs(ratio - 1) < slack)}


def by_file_name(name: str) -> str | None:
    """The collective that the name of a file tells; None where it tells none or several.

    >>> by_file_name("all_gather_output.dat"), by_file_name("n2.log")
    ('allgather', None)
    """
    plain = {key.replace("_", ""): value for key, value in COLLECTIVES.items()}
    words = {plain[word.replace("_", "")] for word in _NAME.findall(name.lower())}
    return words.pop() if len(words) == 1 else None


def _records(tables: list[_NcclTestsTable], skipped: Skipped) -> Iterator[ImportedRecord]:
    variants: dict[str | None, set[str]] = {}
    for table in tables:
        variants.setdefault(table.test, set()).update(table.variant(row[0]) for row in table.rows)
    launches: Counter[tuple[str | None, int, str]] = Counter()
    for table in tables:
        visits: Counter[tuple[str, int]] = Counter()
        for words, line, where in table.rows:
            variant = table.variant(words)
            suffix = f", {variant}" if len(variants[table.test]) > 1 else ""
            series = tuple(_series(table, words, suffix, line, skipped, where))
            if series:
                size = series[0].message_bytes
                tag = {"nccl-tests": table.test, "variant": variant}
                launch, visit = launches[table.test, table.ranks, variant], visits[variant, size]
                yield ImportedRecord(series, visit=visit, launch=launch, tag=tag)
                visits[variant, size] += 1
        launches.update(
            (table.test, table.ranks, variant) for variant in {variant for variant, _ in visits}
        )


def _series(
    table: _NcclTestsTable, words: list[str], suffix: str, line: str, skipped: Skipped, where: Where
) -> Iterator[ImportedSeries]:
    size = whole(words[0], "size", where)
    at = [index for index, name in enumerate(table.columns) if name == "time"]
    for place, index in zip(table.places, at, strict=False):
        word = words[index]
        is_wrong = table.is_wrong(words, index)
        if is_wrong or not is_number(word) or lacks_value(word):
            what = "with wrong values" if is_wrong else f"{word[:20]}: there is no time for that"
            skipped.row(where, line, "time", f"the time {place} is {what}")
            continue
        yield ImportedSeries(
            pattern=table.test or "",
            direction="call",
            operation=f"{place}{suffix}",
            message_bytes=size,
            seconds=np.array([time(word, "time", where, factor=MICROSECOND)]),
            messages_per_sample=1,
            peers=max(table.ranks - 1, 1),
        )


def _warnings(guessed: Counter[str]) -> Iterator[Mapping[str, object]]:
    for test, count in guessed.items():
        fact = f"the file does not name its collective; by its columns it is {test}"
        remedy = (
            "put a line '# Collective test starting: …_perf' before the table if it is another one"
        )
        yield from noted(count, "tables", fact, remedy)


NCCL_TESTS = Importer(
    name="nccl-tests",
    summary="nccl-tests: times of collective operations, for which there are no models",
    sign=r"#\s*size\s+count\s+type\b",
    is_log=True,
    read=read,
)
