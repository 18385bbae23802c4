r"""smptest: ping-pongs of k pairs of processes between two nodes at once, in seconds; nodecomm's successor.

    Min time

    Ints    1         2         4               the numbers of pairs
    1       4.00e-06  4.34e-06  4.40e-06        a row: message size in 4-byte ints, then a time for each of them

A time is that of the full ping-pong, there and back, the mean over the repetitions and the maximum over the ranks. With
-ntrials it was taken several times, of which -tmin, -tmax and -tavg print a table each: they are of one run. The
average is taken where it is printed, else the least; the others are in the tag. Where the command of a run is in the
file, -nb makes an exchange of it, and -olap and -t, with work or with threads, no time of messages.

Source: smptest.c of W. Gropp's BaseEnv.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chiplog.dataset.import_node_pairs import INT_BYTES, Between, pair_series, tag_of, with_parts
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, lacks_value
from chiplog.dataset.import_values import time, whole
from chiplog.dataset.importer import Imported, ImportedRecord, Importer, Options, Source
from chiplog.dataset.lines import Where

CONVENTION = (
    "whole round trips in seconds, the maximum over the ranks and the mean over the repetitions; sizes were in ints of "
    "4 bytes; with -nb exchanges, which the file tells only where its command is in it"
)
STATISTICS: Mapping[str, str] = {"average": "mean", "min": "minimum", "max": "maximum"}
"""What each table is of several trials, the best one first."""
_KEYS: Mapping[str, str] = {"average": "mean_seconds", "min": "min_seconds", "max": "max_seconds"}
_LABEL = re.compile(r"(Min|Max|Average) time")
_HEADER = re.compile(r"Ints((?:\s+\d+)+)")
_OTHER_HEADER = re.compile(r"Ints\b.*")
_PROGRESS = re.compile(
    r"(?:size:)?(?:\d+,)*(?:Saving \d+ \d+ \S+)?|Trial \d+|Model ntest = .*|Information on .*"
)
_COMMAND = re.compile(r".*\bsmptest\b(.*)")


@dataclass
class _SmptestRun:
    """The tables of one run of smptest, by their statistic: seconds by size in ints and number of pairs."""

    between: Between
    where: Where
    is_exchange: bool
    tables: dict[str, dict[int, dict[int, float]]] = field(default_factory=dict)


@dataclass
class _SmptestFile:
    """What was read of a file so far."""

    skipped: Skipped = field(default_factory=Skipped)
    runs: list[_SmptestRun] = field(default_factory=list)
    between: Between = field(default_factory=Between)
    statistic: str = "min"
    columns: list[int] = field(default_factory=list)
    """The numbers of pairs; none where the rows are of no times."""
    rows: dict[int, dict[int, float]] | None = None
    is_exchange: bool = False
    refused: str | None = None
    """Why the tables below the last command can't be used."""

    def begin(self, columns: list[int], where: Where) -> None:
        """Begins a table: of the last run, or of another one where that has such a table already."""
        self.skipped.end_table()
        self.between.enter()
        self.columns = columns
        key = (self.between.part, dict(self.between.far), self.is_exchange)
        last = self.runs[-1] if self.runs else None
        if last is None or self.statistic in last.tables or _key(last) != key:
            far = dict(self.between.far)
            between = Between(dict(self.between.ranks), self.between.pairs, far, self.between.label)
            last = _SmptestRun(between, where, self.is_exchange)
            self.runs.append(last)
        self.rows = last.tables[self.statistic] = {}


def _key(run: _SmptestRun) -> tuple[str | None, dict[str, int], bool]:
    return run.between.part, run.between.far, run.is_exchange


def read(source: Source, options: Options) -> Imported:
    """The tables of smptest's output; CorruptFile names line and column of what is wrong."""
    options.check_pattern(("pairs", "exchange"), "smptest's output holds pairs")
    file = _SmptestFile(is_exchange=options.pattern == "exchange")
    fitting = "one-way" if file.is_exchange else "round-trip"
    options.check_direction((fitting,), f"it is {fitting}")
    for where, line in clean_lines(source):
        _read_line(file, line, where)
    runs = [run for run in file.runs if any(run.tables.values())]
    file.skipped.refuse_if_empty(runs)
    if not runs:
        raise source.where(1).corrupt("Ints", "no line 'Ints 1 2 ...' names the numbers of pairs")
    statistic = _statistic(runs)
    records = with_parts([*_records(runs, statistic)])
    most = max(series.pairs for record in records for series in record.series)
    return Imported(
        records,
        CONVENTION,
        ranks=2 * most,
        warnings=file.skipped.warnings(),
        statistic=STATISTICS[statistic],
    )


def _read_line(file: _SmptestFile, line: str, where: Where) -> None:
    words = line.split()
    if not line:
        return
    if match := _LABEL.fullmatch(line):
        file.statistic = match[1].lower()
    elif match := _HEADER.fullmatch(line):
        columns = [
            whole(word, "Ints", where, minimum=1, maximum=1 << 20) for word in match[1].split()
        ]
        if len(set(columns)) < len(columns):
            raise where.corrupt("Ints", "a number of pairs stands twice")
        if file.refused is not None:
            file.skipped.table(where, line, file.refused)
            file.columns = []
        else:
            file.begin(columns, where)
    elif _OTHER_HEADER.fullmatch(line):
        file.columns = []
    elif match := _COMMAND.fullmatch(line):
        _command(file, match[1].split())
    elif file.between.read(line, where) or _PROGRESS.fullmatch(line):
        return
    elif not is_number(words[0]):
        file.skipped.foreign_line(where, line)
    elif file.columns and file.rows is not None:
        _row(file, file.rows, words, line, where)
    elif not file.runs and file.refused is None:
        raise where.corrupt("Ints", "no line before names the numbers of pairs")


def _command(file: _SmptestFile, options: list[str]) -> None:
    """Takes what a run's command says of its times."""
    file.is_exchange = "-nb" in options
    file.refused = None
    if "-olap" in options:
        file.refused = "smptest ran with -olap: its times are those of work and messages together"
    elif "-t" in options:
        file.refused = "smptest ran with -t: several threads of each process send at once"


def _row(
    file: _SmptestFile, rows: dict[int, dict[int, float]], words: list[str], line: str, where: Where
) -> None:
    names = ["Ints", *(f"pairs {pairs}" for pairs in file.columns)]
    what = f"the row has {len(words) - 1} times, its header {len(file.columns)} numbers of pairs"
    if file.skipped.cut(where, line, words, names, what):
        return
    size = whole(words[0], "Ints", where, maximum=1 << 45)
    if size in rows:
        raise where.corrupt("Ints", f"{size} stands twice in one table")
    if lacking := [word for word in words[1:] if is_number(word) and lacks_value(word)]:
        file.skipped.without_time(where, line, None, lacking[0])
        return
    rows[size] = {
        pairs: time(word, f"pairs {pairs}", where)
        for pairs, word in zip(file.columns, words[1:], strict=True)
    }


def _statistic(runs: list[_SmptestRun]) -> str:
    """The best statistic that all runs have; CorruptFile where there is none."""
    for name in STATISTICS:
        if all(run.tables.get(name) for run in runs):
            return name
    others = (run for run in runs if not run.tables.keys() & runs[0].tables.keys())
    other = next(others, runs[-1])
    first = runs[0].where.line
    what = f"the runs at line {first} and here have no statistic in common: put each into a file of its own"
    raise other.where.corrupt(None, what)


def _records(runs: list[_SmptestRun], statistic: str) -> Iterator[ImportedRecord]:
    """A record for each size of each run; runs between the same partners are launches."""
    launches: Counter[tuple[object, ...]] = Counter()
    distances_of: dict[str | None, list[dict[str, int]]] = {}
    for run in runs:
        distances = distances_of.setdefault(run.between.part, [])
        if run.between.far not in distances:
            distances.append(run.between.far)
        key = (run.between.part, tuple(run.between.far.items()), run.is_exchange)
        for size, times in run.tables[statistic].items():
            series = tuple(
                pair_series(size * INT_BYTES, pairs, seconds, is_exchange=run.is_exchange)
                for pairs, seconds in times.items()
            )
            further = {
                _KEYS[name]: [table[size][pairs] for pairs in times]
                for name, table in run.tables.items()
                if name != statistic and table.get(size, {}).keys() == times.keys()
            }
            yield ImportedRecord(
                series,
                visit=distances.index(run.between.far),
                launch=launches[key],
                tag=tag_of(run.between, **further),
                placement=run.between.part,
            )
        launches[key] += 1


SMPTEST = Importer(
    name="smptest",
    summary="smptest: ping-pongs of k pairs between two nodes",
    sign=r"^\s*Ints(?:[ \t]+\d+)+[ \t]*$",
    is_log=True,
    read=read,
)
