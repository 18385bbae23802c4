"""From jobs to choices: an algorithm leaves the default where it is surely faster with the job as the random factor.

As in a race all choices hold together with 95 % confidence. Statements are made of those candidates only that seem to
be faster; on that condition a p-value is twice as large (Zhao, Small and Su, Multiple testing when many p-values are
uniformly conservative, J. Am. Stat. Assoc. 114 (2019)), so the risk is divided by two and by their number. After each
that is sure, it is divided by the number of those that are left (Holm, A simple sequentially rejective multiple test
procedure, Scand. J. Stat. 6 (1979)).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chiplog.tune.choice import Native
from chiplog.tune.from_jobs.job import Floats, JobCell, MeasuredJob, Place, all_cells, log_ratios
from chiplog.tune.from_jobs.scatter import JobScatter, scatter_of
from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import SizeVerdict, without_lone_sizes
from chiplog.tune.measured.launch import Cell
from chiplog.tune.measured.statistics import RISK, CandidateRatio

NO_SCATTER = JobScatter(math.nan, 0.0, math.inf)
"""Given: where no cell has two jobs."""
FEWEST_JOBS = 2
"""Derived: of one job nothing says how much the next one differs."""


@dataclass(frozen=True)
class Missing:
    """What would have to be measured before anything can be said."""

    place: Place
    message_bytes: tuple[int, ...]
    what: str


@dataclass(frozen=True)
class JobChoices:
    """What jobs say about one operation."""

    operation: str
    jobs: tuple[MeasuredJob, ...]
    """Those that have measured the operation."""
    verdicts: tuple[SizeVerdict, ...]
    """Ascending by ranks, then by size."""
    missing: tuple[Missing, ...] = ()
    scatter: JobScatter | None = None
    logs: Mapping[JobCell, Floats] = field(default_factory=dict)
    """Of the operation's candidates, as of `log_ratios`."""


def choose_from(
    jobs: Sequence[MeasuredJob],
    operation: str,
    natives: Mapping[str, Native],
    *,
    scatter: JobScatter | None = None,
) -> JobChoices:
    """The choices of one operation among the algorithms that a tuning file can name.

    How much jobs differ is what all cells of all jobs say, unless `scatter` says it.
    """
    cells = all_cells(jobs)
    logs = log_ratios(jobs, cells)
    scatter = scatter or scatter_of(logs.values())
    native_logs = {
        c: logs[c] for c in cells if c.place.operation == operation and c.algorithm in natives
    }
    ratios = _ratios(native_logs, scatter or NO_SCATTER)
    of_operation = tuple(
        job for job in jobs if any(cell.place.operation == operation for cell in job.times)
    )
    measured = {
        cell for job in of_operation for cell in job.times if cell.place.operation == operation
    }
    sizes = sorted({(cell.place.ranks, cell.message_bytes) for cell in measured})
    verdicts = [
        _verdict(operation, size, _at(size, measured), ratios, natives, of_operation)
        for size in sizes
    ]
    return JobChoices(
        operation,
        of_operation,
        tuple(without_lone_sizes(verdicts, _typical(ratios))),
        tuple(_missing(measured, of_operation, natives)),
        scatter,
        native_logs,
    )


def _at(size: tuple[int, int], cells: Collection[JobCell]) -> list[JobCell]:
    return [cell for cell in cells if (cell.place.ranks, cell.message_bytes) == size]


def _ratios(logs: Mapping[JobCell, Floats], scatter: JobScatter) -> dict[JobCell, CandidateRatio]:
    """Each ratio with the interval of the level at which it is tested; who is not tested gets that of the hardest."""
    chances = {
        cell: scatter.chance_of_slower(of_cell)
        for cell, of_cell in logs.items()
        if of_cell.size >= FEWEST_JOBS and np.mean(of_cell) < 0
    }
    hardest = RISK / (2 * max(1, len(chances)))
    ratios = {cell: scatter.ratio(of_cell, hardest) for cell, of_cell in logs.items()}
    for place, cell in enumerate(sorted(chances, key=lambda cell: (chances[cell], cell))):
        ratios[cell] = scatter.ratio(logs[cell], RISK / (2 * (len(chances) - place)))
        if ratios[cell].high >= 1:
            break
    return ratios


def _verdict(
    operation: str,
    size: tuple[int, int],
    cells: Sequence[JobCell],
    ratios: Mapping[JobCell, CandidateRatio],
    natives: Mapping[str, Native],
    jobs: Sequence[MeasuredJob],
) -> SizeVerdict:
    """The fastest of those that are sure in all parts, else of those that seem faster in all, else nobody."""
    parts = {cell.place for cell in cells}
    worst: dict[str, CandidateRatio] = {}
    for name in sorted({cell.algorithm for cell in cells} & natives.keys()):
        of_parts = [ratios[cell] for cell in cells if cell.algorithm == name]
        if len(of_parts) == len(parts) and all(ratio.launches for ratio in of_parts):
            worst[name] = max(of_parts, key=lambda ratio: (ratio.high, ratio.value))
    sure = [name for name, ratio in worst.items() if ratio.high < 1]
    seeming = [name for name, ratio in worst.items() if ratio.value < 1]
    best = min(sure or seeming, key=lambda name: worst[name].value, default=None)
    defaults = [
        job.times[c.default].seconds for job in jobs for c in cells if c.default in job.times
    ]
    return SizeVerdict(
        Cell(operation, *size),
        None if best is None else Candidate(best, native=natives[best]),
        None if best is None else worst[best],
        float(np.median(defaults)) if defaults else math.nan,
        is_held_out=False,
        is_changed=bool(sure),
    )


def _typical(
    ratios: Mapping[JobCell, CandidateRatio],
) -> Mapping[tuple[int, int, str], float]:
    """By ranks, size and candidate: the greatest ratio of any part."""
    typical: dict[tuple[int, int, str], float] = {}
    for cell, ratio in ratios.items():
        key = (cell.place.ranks, cell.message_bytes, cell.algorithm)
        if ratio.launches:
            typical[key] = max(ratio.value, typical.get(key, 0.0))
    return typical


def _missing(
    cells: Collection[JobCell], jobs: Sequence[MeasuredJob], natives: Mapping[str, Native]
) -> list[Missing]:
    """Places, with their sizes, of which no job has the default, or only one has it together with an algorithm."""
    sizes: dict[tuple[Place, str], set[int]] = {}
    for cell in sorted(cells):
        with_default = [job for job in jobs if cell.default in job.times]
        here = {c for c in cells if c[:2] == cell[:2] and c.algorithm in natives}
        most = max((sum(c in job.times for job in with_default) for c in here), default=0)
        what = None
        if not with_default:
            what = "the default in the same jobs as its algorithms"
        elif here and not most:
            what = "the default and an algorithm in one job"
        elif here and most < FEWEST_JOBS:
            what = "another job"
        if what:
            sizes.setdefault((cell.place, what), set()).add(cell.message_bytes)
    return [Missing(place, tuple(sorted(of)), what) for (place, what), of in sizes.items()]
