"""`chiplog run` as a function: measure targets, fit all models, compare them, and write a report."""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.counts import seconds_within
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import ChiplogError, RunFailed
from chiplog.jobs import defaults
from chiplog.jobs.folders import new_folder, show_latest
from chiplog.jobs.many import (
    LEAST_SECONDS,
    MARGIN,
    ManyOptions,
    all_within,
    check_ranks,
    with_many,
)
from chiplog.jobs.measure import SIMULATED, measure
from chiplog.measurement.inquiry import check_transports
from chiplog.measurement.mpis import find_mpis
from chiplog.measurement.start import MPI, Start, seconds_to_build, transport_of
from chiplog.measurement.time_budget import (
    REFINEMENT_SHARE,
    OutOfTime,
    deadline,
    latest_end,
    slowness,
)
from chiplog.plan import PlanOptions, parse_sizes
from chiplog.plan.assessment import ALL_METHODS

if TYPE_CHECKING:
    from chiplog.report.input import ReportInput, TargetReport

PATTERNS = (*ALL_METHODS, "exchange")
"""Between two ranks: what the methods need, and how full the duplex is, which most collectives depend on."""
LAUNCHES, VISITS, LARGE_VISITS = 3, 2, 1
"""Given: of each target: how far launches differ is a part of the intervals, and takes three of them to tell."""
BYTES = 10_000_000_000
"""Given: of each target's grid. Time is what bounds it: the fewest samples of large messages alone are most of them."""
ANALYSIS_SECONDS = 6.0
"""Given: what fitting the first target may take; later ones may take MARGIN times as long as the slowest before."""
ANALYSIS_CPU_SECONDS, END_CPU_SECONDS = 2.5, 1.0
"""Given: what the same take on an idle core, which a busy machine makes longer."""
END_SECONDS = 6.0
"""Given: for writing the report, and for the parts with many processes to end."""
MANY_SHARE = 0.2
"""Given: of the measuring time, what one to many and pairs get."""
LEAST_MEASURING_SHARE = 0.15
"""Given: of the budget, what measuring gets in all, however long the rest may take."""
GRACE_SECONDS = 1.0
"""Given: what the parts with many processes may take beyond the budget."""


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


@dataclass(frozen=True)
class RunRequest:
    """What is measured, for how long and on which ranks, and where the report goes; see `run`."""

    targets: Sequence[str] = ()
    out: str | os.PathLike[str] = "report"
    budget: float = defaults.BUDGET_SECONDS
    sizes: str = defaults.SIZES
    ranks: int | None = None
    launcher: str | None = None
    mpi: str | None = None
    rendezvous: str | None = None
    seed: int = 1  # Given: a seed like any other.
    command: Sequence[str] = ()
    began: float = field(default_factory=time.monotonic)


def run(request: RunRequest) -> RunResult:
    """Measure every target, fit every model by every method, compare them and write the report into `out`.

    Each target is assessed between two ranks, then measured with `ranks` ranks: one process to many, and k pairs at
    once. By default that is one rank for each core, or as many as `launcher` starts; more than there are cores are
    measured, and flagged.

    Where a launcher starts ranks of an MPI on several hosts, an anchor is measured as well: two collective operations
    of all ranks, whose times `predict` takes (`chiplog.jobs.run_anchor`).

    Without `targets`: shm, tcp, and mpi where one is found. `budget` bounds the whole run in seconds, from `began` on,
    a time of `time.monotonic`, by default now; building an MPI's probe, once, comes before. Where it is short, fewer
    sizes are measured, and two ranks alone unless `ranks` is given. The directory gets a new folder with runs/*.jsonl,
    model.json, report.html and report.md, and links to those of the latest run that has a result
    (`chiplog.jobs.folders`). A target that fails does not lose the others, nor do many ranks lose what two brought: the
    report says why there is no result.

    Raises UsageError where an option can't be met, RunFailed where nothing can be written.
    """
    targets, out = _targets(request), Path(request.out)
    request = replace(request, began=request.began + seconds_to_build(targets, request.mpi))
    whole = _WholeRun(request, targets)
    folder = new_folder(out)
    reports, too_late = whole.measure(folder)
    over = f"the budget of {request.budget:g} s was over before"
    kept = _kept_samples(folder)
    if not reports:
        raise RunFailed(f"{over} {' and '.join(too_late)} could be analysed: {kept}.")
    from chiplog.jobs.report import report_input

    seconds = time.monotonic() - request.began
    report = report_input(reports, command=request.command, seconds=seconds)
    parts = (part for target in reports for part in target.runs if part.failure)
    failures = [f"{part.name}: {part.failure}" for part in parts]
    failures += [f"{target}: {over} it could be analysed: {kept}." for target in too_late]
    files: tuple[Path, ...] = ()
    try:
        with deadline(whole.end):
            files = _write(report, folder)
    except OutOfTime:
        failures.append(f"{folder}: {over} the report was written: {kept}.")
    has_result = bool(files) and any(report.failure is None for report in reports)
    if has_result:
        show_latest(out, folder)
    return RunResult(report, out if has_result else folder, files, tuple(failures))


def _targets(request: RunRequest) -> tuple[str, ...]:
    """The targets that are meant, each once; what can't be is refused before anything is measured."""
    check_ranks(request.ranks)
    seconds_within("--budget", request.budget)
    targets = tuple(dict.fromkeys(request.targets)) or default_targets()
    for target in targets:
        _options(target, request, LEAST_SECONDS)
    check_transports(targets, elsewhere=request.launcher is not None)
    return targets


@dataclass(frozen=True)
class _WholeRun:
    """What was asked of a run, and the targets that this means."""

    request: RunRequest
    targets: Sequence[str]

    @cached_property
    def time_left(self) -> _TimeLeft:
        """Of the whole run."""
        return _TimeLeft(self.request.began, self.request.budget, len(self.targets), slowness())

    @property
    def end(self) -> float:
        """When writing the report is stopped; infinite where the budget does not end what runs on a target."""
        is_bounded = all(_is_bounded(target, self.request.ranks) for target in self.targets)
        return self.time_left.last if is_bounded else math.inf

    def measure(self, folder: Path) -> tuple[list[TargetReport], list[str]]:
        """The reports of the targets, and the targets that the budget was over for."""
        time_left, request = self.time_left, self.request
        start = Start(request.launcher, request.mpi, request.rendezvous)
        reports: list[TargetReport] = []
        too_late: list[str] = []
        for number, target in enumerate(self.targets):
            later = len(self.targets) - number - 1
            seconds = time_left.begin_target(later)
            is_bounded = _is_bounded(target, request.ranks)
            options = _options(target, request, (1.0 - MANY_SHARE) * seconds)
            many = ManyOptions(
                request.ranks,
                MANY_SHARE * seconds,
                parse_sizes(request.sizes),
                request.seed,
                request.began + request.budget + GRACE_SECONDS if is_bounded else math.inf,
            )
            try:
                with deadline(time_left.last_moment() if is_bounded else math.inf):
                    reports.append(_target(target, options, many, folder, time_left, start))
            except OutOfTime:
                too_late.append(target)
        return reports, too_late


def _kept_samples(folder: Path) -> str:
    """What there is of a run whose time was over, and what to do."""
    if any((folder / "runs").iterdir()):
        return f"the samples are kept, and `chiplog report {folder}/runs/*.jsonl -o report.html` analyses them"
    return "nothing was measured; give it more of --budget"


def _options(target: str, request: RunRequest, seconds: float) -> PlanOptions:
    """The plan of a target that may be measured for so long, what is measured again around changes included."""
    return PlanOptions(
        transport=transport_of(target),
        patterns=PATTERNS,
        sizes=parse_sizes(request.sizes),
        visits=VISITS,
        launches=LAUNCHES,
        seed=request.seed,
        budget_seconds=(1.0 - REFINEMENT_SHARE) * seconds,
        budget_bytes=BYTES,
        large_visits=LARGE_VISITS,
    )


def _is_bounded(target: str, ranks: int | None) -> bool:
    """Whether the budget ends what runs on the target.

    Many processes are measured however long that takes where `ranks` asks for them, and on `sim`, whose results do not
    depend on how busy the machine is.
    """
    return ranks is None and transport_of(target) != SIMULATED


class _TimeLeft:
    """The time that is left of the whole run: what one target does not use is for the next ones."""

    def __init__(self, began: float, budget: float, targets: int, slow: float) -> None:
        """`began` is a time of `time.monotonic`, `slow` says how many times as long as usual work takes."""
        self._least = max(LEAST_SECONDS, LEAST_MEASURING_SHARE * budget / targets)
        self.until = began + budget - max(END_SECONDS, slow * END_CPU_SECONDS)
        """When measuring and fitting should be done: the report is still to be written."""
        self.last = latest_end(began, budget, slow)
        """When all is stopped."""
        self._analysis = max(ANALYSIS_SECONDS, slow * ANALYSIS_CPU_SECONDS)
        self._slowest = 0.0
        self._later_targets = targets

    def begin_target(self, later_targets: int) -> float:
        """Begins a target that so many others follow: the seconds for measuring it."""
        self._later_targets = later_targets
        seconds_left = (self.until - time.monotonic()) / (later_targets + 1)
        return max(self._least, seconds_left - self._analysis)

    def postpone(self, seconds: float) -> None:
        """Adds what took so long but is not of the budget."""
        self.until += seconds
        self.last += seconds

    def last_moment(self) -> float:
        """When what still runs on this target is stopped: later ones keep what they are measured for at least."""
        return self.last - self._later_targets * self._least

    def last_comparison(self, fit_seconds: float) -> float:
        """When comparing models is stopped: later targets can be measured and fitted then, and all be written.

        `fit_seconds` is what fitting this target took; later ones are taken to need as long.
        """
        writing = slowness() * END_CPU_SECONDS
        return self.last_moment() - self._later_targets * fit_seconds - writing

    def analysed(self, seconds: float) -> None:
        """Takes in how long the analysis of a target took."""
        self._slowest = max(self._slowest, seconds)
        self._analysis = MARGIN * self._slowest


def _target(
    target: str,
    options: PlanOptions,
    many: ManyOptions,
    directory: Path,
    time_left: _TimeLeft,
    start: Start,
) -> TargetReport:
    """The target's report: between two ranks, with an anchor where ranks are on several hosts, and with many ranks."""
    runs, stem = directory / "runs", file_name(target)
    started = time.monotonic()
    is_bounded = not math.isinf(many.until)
    report = _between_two(
        target, options, runs / f"{stem}.jsonl", time_left, start, is_bounded=is_bounded
    )
    if report.failure is not None:
        return report
    measured = sum(series.elapsed_seconds for series in report.dataset.series)
    took = max(0.0, time.monotonic() - started - measured)
    if takes_anchor(target, report.dataset.header, start):
        from chiplog.jobs.run_anchor import SHARE, seconds_to_build_bench, with_anchor

        building = seconds_to_build_bench(start)
        time_left.postpone(building)
        many = replace(many, until=many.until + building)
        of_anchor = replace(many, until=time_left.until if is_bounded else math.inf)
        report = with_anchor(report, of_anchor, runs / f"{stem}-anchor.json", start)
        many = replace(many, seconds=(1.0 - SHARE) * many.seconds)
    return with_many(report, many, runs, stem, start, took)


def takes_anchor(target: str, header: Mapping[str, object], start: Start) -> bool:
    """Whether a launcher started the ranks of an MPI on several hosts, as the header of their run says.

    Then collective operations say more than messages between two ranks do.
    """
    hosts = header.get("hosts")
    is_launched = target == MPI and start.launcher is not None
    return is_launched and isinstance(hosts, list) and len(set(map(str, hosts))) > 1


def _between_two(
    target: str,
    options: PlanOptions,
    path: Path,
    time_left: _TimeLeft,
    start: Start,
    *,
    is_bounded: bool,
) -> TargetReport:
    """What two ranks show, measured into the file `path`, with all fits; or how that failed."""
    visits_seconds = options.budget_seconds or LEAST_SECONDS
    limits = all_within(visits_seconds, visits_seconds / (1.0 - REFINEMENT_SHARE), target)
    try:
        measure(target, path, options, start=start, limits=limits)
        began = time.monotonic()
        dataset = read_run(path)
        # Fitting takes a second to load; ranks were started, and have measured, before that.
        from chiplog.jobs.analysis import compared, fitted

        report = fitted(target, dataset, raw_file=str(path))
        until = time_left.last_comparison(time.monotonic() - began) if is_bounded else math.inf
        with contextlib.suppress(OutOfTime), deadline(until):
            report = compared(report)
        time_left.analysed(time.monotonic() - began)
    except ChiplogError as error:
        from chiplog.report.input import TargetReport

        return TargetReport(target, _kept(path, target, options), failure=str(error))
    return report


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
    from chiplog.fitting.model_file import write_model
    from chiplog.report.write import write_report

    html, markdown, model = (
        directory / name for name in ("report.html", "report.md", "model.json")
    )
    write_report(report, html)
    write_report(report, markdown)
    fits = tuple(fit for target in report.targets for part in target.runs for fit in part.fits)
    write_model(model, fits)
    return html, markdown, model
