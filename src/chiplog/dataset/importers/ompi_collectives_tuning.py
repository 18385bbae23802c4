"""detail.out of ompi-collectives-tuning: times of each algorithm of one collective operation of Open MPI.

    #Nnodes    Message_size 0                    1                    2
    2          4            64.33(0.94)          107.24(0.83)         No data              64.33(0.94)

A cell is the mean in us, over several launches, of what OSU (IMB of reduce_scatter_block) prints, and in parentheses
its standard deviation. The first column is the number of ranks, whatever it is called. Algorithms are Open MPI's
numbers, or names in old files; 0, or `tuned`, is what Open MPI chooses. The last column of a row that has no title
repeats it. The collective operation is not in the file: it is the name of the folder, or --pattern.

Source: the script that writes the file, coltune_analyze.py of ompi-collectives-tuning, and its example.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from chiplog.dataset.import_collectives import (
    COLLECTIVES,
    DEFAULT,
    collective_name,
    collective_series,
)
from chiplog.dataset.import_text import Skipped, clean_lines, lacks_value
from chiplog.dataset.import_values import MICROSECOND, MICROSECOND_STEP, time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where
from chiplog.errors import UsageError

CONVENTION = "a collective operation's duration in us, the mean over launches of means over ranks and iterations"
DEFAULTS = frozenset({"0", "tuned"})
"""The columns of what Open MPI chooses itself."""
NO_DATA, NO_CELL = "No data", "-"
_HEADER = re.compile(r"#(?:Nnodes|Nranks)\s+Message_size((?:\s+\S+)+)")
_BEST = re.compile(r"#(?:Nnodes|Nranks)\s+Message_size\s+Best_Algorithm\b.*")
_CELL = re.compile(r"(\d+\.?\d*)(?:\((\d+\.?\d*)\))?", re.ASCII)


def read(source: Source, options: Options) -> Imported:
    """All cells of the file; CorruptFile names line and column of what is wrong."""
    options.check_direction((), "the time of a collective is that of a call")
    algorithms: list[str] = []
    records: list[ImportedRecord] = []
    skipped = Skipped()
    seen: set[tuple[int, int]] = set()
    collective = _collective(source, options)
    most = 1
    for where, line in clean_lines(source):
        if _BEST.fullmatch(line):
            raise where.corrupt(
                None, "this is best.out; detail.out beside it has the times of all algorithms"
            )
        if match := _HEADER.fullmatch(line):
            algorithms = match[1].split()
        elif not algorithms or not line[:1].isdigit():
            if line:
                skipped.foreign_line(where, line)
        else:
            record, ranks = _record(line, algorithms, collective, seen, skipped, where)
            most = max(most, ranks)
            records += [record] if record.series else []
    skipped.refuse_if_empty(records)
    if records and collective is None:
        what = (
            "neither the file nor its folder names the collective operation: name it with --pattern, such as "
            "--pattern allreduce"
        )
        raise source.where(1).corrupt("collective", what)
    return Imported(
        records,
        CONVENTION,
        ranks=most,
        warnings=skipped.warnings(),
        statistic="mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _collective(source: Source, options: Options) -> str | None:
    """The collective operation that --pattern names, else the folder, else the file's name."""
    if options.pattern is not None:
        if options.pattern not in COLLECTIVES:
            raise UsageError(
                f"--pattern {options.pattern} does not fit: the file is of a collective operation, one of "
                f"{', '.join(COLLECTIVES)}."
            )
        return options.pattern
    path = Path(source.path).absolute()
    words = [path.parent.name, *re.split(r"[^A-Za-z_]+|detail", path.stem)]
    return next((name for word in words if (name := collective_name(word)) is not None), None)


def _record(
    line: str,
    algorithms: list[str],
    collective: str | None,
    seen: set[tuple[int, int]],
    skipped: Skipped,
    where: Where,
) -> tuple[ImportedRecord, int]:
    cells = line.replace(NO_DATA, NO_CELL).split()
    ranks = whole(cells[0], "#Nnodes", where, minimum=1, maximum=1 << 24)
    if len(cells) - len(algorithms) not in (2, 3):  # Given: with or without the column that repeats
        what = f"the row has {len(cells)} columns, its header {len(algorithms) + 2}"
        raise where.corrupt(None, what)
    size = whole(cells[1], "Message_size", where)
    if (ranks, size) in seen:
        raise where.corrupt("Message_size", f"{size} stands twice for {ranks} ranks")
    seen.add((ranks, size))
    means, deviations = _times(zip(algorithms, cells[2:], strict=False), line, skipped, where)
    series = [
        collective_series(collective or "", size, np.array([seconds]), algorithm=name, ranks=ranks)
        for name, seconds in means
    ]
    twice = [
        name
        for name, count in Counter(imported.operation for imported in series).items()
        if count > 1
    ]
    if twice:
        raise where.corrupt(twice[0][:20], "stands twice in the header")
    tag = {"ompi-collectives-tuning": collective, "standard_deviation_seconds": deviations}
    return ImportedRecord(tuple(series), tag=tag), ranks


def _times(
    cells: Iterable[tuple[str, str]], line: str, skipped: Skipped, where: Where
) -> tuple[list[tuple[str, float]], dict[str, float]]:
    """The mean of each algorithm's cell and the standard deviations, in seconds."""
    means: list[tuple[str, float]] = []
    deviations: dict[str, float] = {}
    for algorithm, cell in cells:
        column = algorithm[:20]
        match = _CELL.fullmatch(cell)
        if cell == NO_CELL:
            continue
        if match is None:
            raise where.corrupt(column, f"{cell[:30]!r} is not a mean with its standard deviation")
        if lacks_value(match[1]):
            skipped.without_time(where, line, column, cell)
            continue
        name = DEFAULT if algorithm in DEFAULTS else _algorithm(algorithm)
        means.append((name, time(match[1], column, where, factor=MICROSECOND)))
        if match[2]:
            deviations[name] = time(match[2], column, where, factor=MICROSECOND)
    return means, deviations


def _algorithm(title: str) -> str:
    """The name of a column's algorithm, which Open MPI may know by a number alone."""
    return f"algorithm-{title}" if title.isdigit() else title


OMPI_COLLECTIVES_TUNING = Importer(
    name="ompi-collectives-tuning",
    summary="detail.out of ompi-collectives-tuning: each algorithm of an Open MPI's collective",
    sign=r"^#(?:Nnodes|Nranks)\s+Message_size\b",
    is_log=True,
    read=read,
)
