"""Reads jobs from files: PICO's results, detail.out of ompi-collectives-tuning, run files, samples of a race."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chiplog.dataset.foreign import head_of, importer_of
from chiplog.dataset.import_collectives import COLLECTIVES
from chiplog.dataset.import_file import read_measurements
from chiplog.dataset.importer import IMPORTERS, ImportedSeries, Importer, Options
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Series
from chiplog.errors import CorruptFile, UsageError
from chiplog.file_kind import RUN, kind_of
from chiplog.input_file import open_input
from chiplog.tune.from_jobs.job import Floats, JobCell, JobTime, MeasuredJob, Place
from chiplog.tune.measured.launch import BESIDE_FILE, BY_FILE
from chiplog.tune.measured.raw_file import SAMPLES, read_launches

PICO, TUNING = KINDS = ("pico", "ompi-collectives-tuning")
PICO_SUFFIXES = (".csv", ".gz", ".tgz", ".tar")
"""Of files of one test, and of archives of these."""
DETAIL = "detail.out"
"""What ompi-collectives-tuning calls its table."""
PICOSECOND_DIGITS = 12
"""Given: run files keep no finer times, so the same time from another kind of file is the same to that digit."""
OF_ALL_RANKS = ("reduce_scatter", "reduce_scatter_block")
"""Their imported size is that of all blocks together; rules are for a rank's block."""
ACCEPTED = "PICO's results, detail.out of ompi-collectives-tuning, run files, and the samples of tune --measure"


@dataclass(frozen=True)
class _CellTimes:
    """The times of one cell in one file; those of one job may stand in several."""

    job: str
    mpi: str | None
    cell: JobCell
    seconds: Floats
    """Shape (calls that count,)."""
    cost_seconds: float | None


@dataclass
class _Gathered:
    mpi: str | None = None
    seconds: dict[JobCell, list[Floats]] = field(default_factory=dict)
    costs: dict[JobCell, list[float | None]] = field(default_factory=dict)

    def add(self, times: _CellTimes) -> None:
        """The times of a cell, once: a job may stand in several files."""
        known = self.seconds.setdefault(times.cell, [])
        rounded = np.round(times.seconds, PICOSECOND_DIGITS)
        if not any(np.array_equal(rounded, seconds) for seconds in known):
            known.append(rounded)
            self.costs.setdefault(times.cell, []).append(times.cost_seconds)

    def job(self, name: str) -> MeasuredJob:
        """All of it, as one launch."""
        return MeasuredJob(
            name,
            self.mpi,
            {
                cell: JobTime(float(np.median(np.concatenate(arrays))), _sum(self.costs[cell]))
                for cell, arrays in self.seconds.items()
            },
        )


def read_jobs(paths: Iterable[Path], operation: str | None = None) -> list[MeasuredJob]:
    """The jobs in all files, each once: a job whose times stand in several files is one launch, and so is a copy.

    `operation` is that of a detail.out which does not say it. Raises UsageError for files of other kinds, and
    CorruptFile for damaged ones.
    """
    gathered: dict[str, _Gathered] = {}
    for path in {path.resolve(): path for path in paths}.values():
        for times in _read(path, operation):
            gathered.setdefault(times.job, _Gathered(times.mpi)).add(times)
    return _without_copies([of_job.job(name) for name, of_job in sorted(gathered.items())])


def _without_copies(jobs: Sequence[MeasuredJob]) -> list[MeasuredJob]:
    """Jobs in which no time differs from those of an earlier one are copies of it, not launches."""
    kept: dict[tuple[tuple[JobCell, float], ...], MeasuredJob] = {}
    for job in jobs:
        times = tuple(sorted((cell, time.seconds) for cell, time in job.times.items()))
        kept.setdefault(times, job)
    return list(kept.values())


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _read(path: Path, operation: str | None) -> Iterator[_CellTimes]:
    if not path.is_dir():
        with open_input(path):
            pass  # a file that is not there is named as such
    head = "" if path.is_dir() else head_of(path) or ""
    kind = kind_of(path)
    if SAMPLES in head.partition("\n")[0]:
        yield from _of_race(path)
    elif kind is not None and kind[0] == RUN:
        yield from _of_run(path)
    else:
        importer = _importer(path, head)
        pattern = operation if importer.name == TUNING else None
        yield from _of_import(path, importer, pattern)


def _importer(path: Path, head: str) -> Importer:
    """The importer of a file; UsageError or CorruptFile for what is of another kind."""
    known = importer_of(head)
    if known is not None and known.name in KINDS:
        return known
    if path.name == DETAIL:
        return IMPORTERS.load(TUNING)
    if _may_be_of_pico(path, head):
        return IMPORTERS.load(PICO)
    if known is not None or path.is_dir() or kind_of(path) is not None:
        raise UsageError(f"--from: {path} is of another kind; it accepts {ACCEPTED}.")
    raise CorruptFile(f"{path}, line 1: this is none of {ACCEPTED}")


def _may_be_of_pico(path: Path, head: str) -> bool:
    """An archive, a file of one test, or a folder of these."""
    if path.is_dir():
        return any(each.suffix in PICO_SUFFIXES for each in path.rglob("*"))
    if head:
        return path.suffix == ".csv" and importer_of(head) is None
    return path.suffix in PICO_SUFFIXES and path.stat().st_size > 0


def _of_import(path: Path, importer: Importer, pattern: str | None) -> Iterator[_CellTimes]:
    imported = read_measurements(importer, path, Options(pattern=pattern))
    is_raw = imported.statistic is None
    for record in imported.records:
        job = str(record.tag.get("job") or path)
        for series in record.series:
            cell = _cell(series, record.placement, record.tag)
            counted = series.seconds[series.warmup :]
            if cell is not None and counted.size:
                cost = float(series.seconds.sum()) if is_raw else None
                yield _CellTimes(job, _mpi(record.tag), cell, counted, cost)


def _of_run(path: Path) -> Iterator[_CellTimes]:
    run = read_run(path)
    provenance = run.header.get("provenance")
    is_raw = not (isinstance(provenance, Mapping) and provenance.get("statistic"))
    for series in run.series:
        job = str(series.tag.get("job") or f"{run.header['run_id']} launch {series.launch}")
        cell = _cell(series, series.placement, series.tag)
        if cell is not None:
            cost = float(series.seconds.sum() + series.warmup_seconds.sum()) if is_raw else None
            yield _CellTimes(job, _mpi(series.tag), cell, series.seconds, cost)


def _cell(
    series: ImportedSeries | Series, placement: str | None, tag: Mapping[str, object]
) -> JobCell | None:
    """What a series is of; None of what is no collective operation, or no whole number of bytes for each rank."""
    if series.direction != "call" or series.pattern not in COLLECTIVES:
        return None
    ranks, size = series.peers + 1, series.message_bytes
    if series.pattern in OF_ALL_RANKS:
        if size % ranks or not size:
            return None
        size //= ranks
    segment = tag.get("segment_bytes")
    name = f"{series.operation}/{segment}" if segment else series.operation
    return JobCell(Place(series.pattern, ranks, placement or ""), size, name)


def _mpi(tag: Mapping[str, object]) -> str | None:
    return str(tag["mpi"]) if tag.get("mpi") else None


def _of_race(path: Path) -> Iterator[_CellTimes]:
    """Each launch that was not cut is a job; a datatype, and a way to begin, are parts that a rule can't tell apart."""
    about, launches = read_launches(path)
    for number, (stage, entries, result) in enumerate(launches):
        for (place, name), samples in result.samples.items():
            if name in (BY_FILE, BESIDE_FILE):
                continue
            cell = entries[place].cell
            for mode, seconds in samples.by_mode.items():
                if stage == "cut" or not seconds.size:
                    continue
                where = Place(cell.operation, cell.ranks, f"{cell.datatype}, {mode}")
                yield _CellTimes(
                    f"{path} launch {number}",
                    f"{about.program} {about.version}",
                    JobCell(where, cell.message_bytes, name),
                    seconds,
                    float(seconds.sum()),
                )
