"""`chiplog run` as a function: measure targets, fit all models, compare them, and write a report."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import ChiplogError, RunFailed
from chiplog.fit.model_file import write_model
from chiplog.jobs.analysis import analyse
from chiplog.jobs.many import ManyOptions, check_ranks, with_many
from chiplog.jobs.measure import measure
from chiplog.jobs.report import report_input
from chiplog.measure.mpis import find_mpis
from chiplog.measure.start import transport_of
from chiplog.plan import PlanOptions, parse_sizes
from chiplog.plan.assessment import ALL_METHODS
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.write import write_report

DEFAULT_BUDGET_SECONDS = 60.0
DEFAULT_SIZES = "1:4MiB"
RESERVED_SECONDS = 6.0
"""Of each target's share of the budget, what starting, fitting and reporting it may take."""
REFINEMENT_SHARE = 0.25
"""Of the measuring time, what is kept for measuring again around protocol changes."""
MANY_SHARE = 0.2
"""Of the measuring time, what one to many and pairs get."""
LEAST_MEASURING_SECONDS = 1.0


@dataclass(frozen=True)
class RunResult:
    """What a run brought: the report's input and the files written; `failures` names each lost target."""

    report: ReportInput
    directory: Path
    files: tuple[Path, ...]
    failures: tuple[str, ...]


def default_targets() -> tuple[str, ...]:
    """Those of this host: shm, tcp, and mpi where one is found."""
    has_mpi = any(not mpi.simulated and mpi.launcher for mpi in find_mpis())
    return ("shm", "tcp", "mpi") if has_mpi else ("shm", "tcp")


def run(
    targets: Sequence[str] = (),
    out: str | os.PathLike[str] = "report",
    *,
    budget: float = DEFAULT_BUDGET_SECONDS,
    sizes: str = DEFAULT_SIZES,
    ranks: int | None = None,
    launcher: str | None = None,
    mpi: str | None = None,
    seed: int = 1,
    command: Sequence[str] = (),
) -> RunResult:
    """Measure every target, fit every model by every method, compare them and write the report into `out`.

    Each target is assessed between two ranks, then measured with `ranks` ranks: one process to many, and k pairs at
    once. By default that is one rank for each core, or as many as `launcher` starts; more than there are cores are
    measured, and flagged.

    Without `targets`: shm, tcp, and mpi where one is found. `budget` bounds the whole run in seconds. The directory
    gets runs/*.jsonl, model.json, report.html and report.md; what was there is replaced. A target that fails does not
    lose the others, nor do many ranks lose what two brought: the report says why there is no result.

    Raises UsageError where an option can't be met, RunFailed where nothing can be written.
    """
    began = time.monotonic()
    check_ranks(ranks)
    chosen = tuple(dict.fromkeys(targets)) or default_targets()
    share = budget / len(chosen)
    plans = {target: _options(target, sizes, share, seed) for target in chosen}
    many = ManyOptions(ranks, _measuring(share) * MANY_SHARE, parse_sizes(sizes), seed)
    directory = _directory(Path(out))
    reports = [
        _target(target, options, many, directory, launcher=launcher, mpi=mpi)
        for target, options in plans.items()
    ]
    report = report_input(reports, command=command, seconds=time.monotonic() - began)
    return RunResult(
        report,
        directory,
        _write(report, directory),
        tuple(
            f"{one.name}: {one.failure}" for target in reports for one in target.runs if one.failure
        ),
    )


def _options(target: str, sizes: str, seconds: float, seed: int) -> PlanOptions:
    return PlanOptions(
        transport=transport_of(target),
        patterns=ALL_METHODS,
        sizes=parse_sizes(sizes),
        seed=seed,
        budget_seconds=_measuring(seconds) * (1 - REFINEMENT_SHARE - MANY_SHARE),
    )


def _measuring(seconds: float) -> float:
    """Of a target's share of the budget, what is left for measuring."""
    return max(LEAST_MEASURING_SECONDS, seconds - RESERVED_SECONDS)


def _directory(out: Path) -> Path:
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFailed(f"{out} can't be made: {error.strerror}.") from error
    return out


def _target(
    target: str,
    options: PlanOptions,
    many: ManyOptions,
    directory: Path,
    *,
    launcher: str | None,
    mpi: str | None,
) -> TargetReport:
    runs, stem = directory / "runs", file_name(target)
    path = runs / f"{stem}.jsonl"
    path.unlink(missing_ok=True)  # what an earlier run left must not pass for this one's
    try:
        measure(target, path, options, launcher=launcher, mpi=mpi)
        report = analyse(target, read_run(path), raw_file=str(path))
    except ChiplogError as error:
        return TargetReport(target, _kept(path, target, options), failure=str(error))
    return with_many(report, many, runs, stem, launcher=launcher, mpi=mpi)


def _kept(path: Path, target: str, options: PlanOptions) -> Dataset:
    """What a failed run left behind; nothing, where it failed before its first record."""
    nothing = Dataset({"target": target, "transport": options.transport}, (), False, str(path))
    try:
        return read_run(path, salvage=True)
    except ChiplogError:
        return nothing


def file_name(target: str) -> str:
    """A file name for a target: letters, digits and dashes.

    >>> file_name("tcp:bind=127.0.0.1")
    'tcp-bind-127.0.0.1'
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", target).strip("-.")[:100] or "target"


def _write(report: ReportInput, directory: Path) -> tuple[Path, ...]:
    html, markdown, model = (
        directory / name for name in ("report.html", "report.md", "model.json")
    )
    write_report(report, html)
    write_report(report, markdown)
    fits = tuple(fit for target in report.targets for one in target.runs for fit in one.fits)
    write_model(model, fits)
    return html, markdown, model
