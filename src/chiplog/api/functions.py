"""Each command as a function. Runs are paths or what `read` and `measure` return."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chiplog.api.words import for_python
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.api.fitted import FittedModel
    from chiplog.api.tables import Results
    from chiplog.benchmarking.result import Bench
    from chiplog.comparison.result import ModelRow, RunRow
    from chiplog.dataset.series import Dataset
    from chiplog.fitting.quantities.overlap import HiddenShare
    from chiplog.fitting.result import Fit
    from chiplog.jobs.measure_to_report import RunResult
    from chiplog.machine_survey.result import SurveyResult
    from chiplog.prediction.result import Prediction
    from chiplog.protocol_changes.result import ChangesResult
    from chiplog.run_history.result import HistoryResult
    from chiplog.simulation.simulate import Simulation
    from chiplog.tune.guidelines.judge import GuidelineJudgement
    from chiplog.tune.ucx.result import UcxTuning

File = str | os.PathLike[str]


@for_python
def read(file: File) -> Dataset:
    """A run file's samples. CorruptFile names file, line and field of what is wrong."""
    from chiplog.dataset.run_file import read_run

    return read_run(file)


@for_python
def measure(
    target: str,
    out: File | None = None,
    *,
    sizes: str | Sequence[int] = "1:1MiB",
    patterns: Sequence[str] | str = ("prtt",),
    budget: float | None = None,
    visits: int | None = None,
    launches: int = 1,
    ranks: int = 2,
    launcher: str | None = None,
    mpi: str | None = None,
    time_limit: float = 30.0,  # Given: the default of `Start`.
    seed: int = 1,
    resume: bool = False,
) -> Dataset:
    """Measure `target` ("tcp", "mpi", "sim:L=5us,o=1us,g=2us,G=0.5ns") between ranks, and return the samples.

    `sizes` are a list of numbers of bytes, or a range such as "1:1MiB". `out` keeps the samples in a run file as well;
    `resume` continues a file that exists, which is refused without it. `budget` in seconds bounds all of it.

    UsageError names the argument that can't be met; RunFailed where a rank is lost.
    """
    from chiplog.jobs.measure import measure as measure_target
    from chiplog.measurement.start import Start
    from chiplog.plan import PlanOptions, parse_patterns, parse_sizes
    from chiplog.plan.plan import DEFAULT_VISITS

    options = PlanOptions(
        transport=target.partition(":")[0],
        patterns=parse_patterns(_listed(patterns)),
        sizes=parse_sizes(_listed(sizes)),
        visits=DEFAULT_VISITS if visits is None else visits,
        launches=launches,
        seed=seed,
        budget_seconds=budget,
        ranks=ranks,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl" if out is None else Path(out)
        measure_target(
            target,
            path,
            options,
            start=Start(launcher, mpi, time_limit=time_limit),
            resume=resume,
        )
        return read(path)


@for_python
def fit(
    run: File | Dataset,
    model: str = "loggp",
    *,
    method: str | None = None,
    statistic: str = "median",
    seed: int = 0,
) -> FittedModel:
    """One model fitted to a run; see `chiplog list models`. UsageError where the run can't tell the model.

    Where a run holds several operations or placements, the fit is that of the first; `chiplog.fitting.fit.fit` gives
    all.
    """
    from chiplog.api.fitted import FittedModel
    from chiplog.fitting.fit import fit as fit_models

    fits = fit_models(_dataset(run), (model,), method=method, statistic=statistic, seed=seed)
    return FittedModel(fits[0])


@for_python
def changes(run: File | Dataset) -> ChangesResult:
    """The protocol changes of every series of a run, and their consensus."""
    from chiplog.protocol_changes.find import find_changes

    return find_changes(_dataset(run))


@for_python
def overlap(run: File | Dataset) -> Results[HiddenShare]:
    """How much of each send and receive of a run is hidden behind a computation; see the pattern overlap.

    `side` says who computes, `value` is a share between 0 and 1 with its 95 % interval `low` to `high`, and `reason`
    why it is not identified, where it is not. UsageError where the run has no such series.
    """
    from chiplog.api.tables import Results
    from chiplog.fitting.quantities.overlap import HiddenShare
    from chiplog.jobs.overlap import overlap as overlap_of

    shares = overlap_of(_dataset(run))
    if not shares:
        raise UsageError("run: has no overlap to tell; measure it with patterns='overlap'.")
    return Results(shares, HiddenShare.to_json)


@for_python
def compare(
    run: File | Dataset,
    other: File | Dataset | None = None,
    *,
    models: Sequence[str] | str | None = None,
    statistic: str = "median",
) -> Results[ModelRow] | Results[RunRow]:
    """How far off models are on held-out points of a run; or, with `other`, the ratios of its times to the run's.

    The last of the ratios is that of the whole.
    """
    from chiplog.api.tables import Results, columns_of
    from chiplog.comparison.result import model_row_to_json, run_row_to_json

    if other is None:
        from chiplog.comparison.best import best_rows
        from chiplog.comparison.models import compare_models

        names = models.split(",") if isinstance(models, str) else models
        judged = compare_models(_dataset(run), names, statistic=statistic)
        errors = ("held_out", "points", "mean_relative_error", "max_relative_error", "mean_factor")
        row = partial(model_row_to_json, best=best_rows(judged))
        return Results(judged, columns_of("model", *errors, "parameters", "best", of=row))
    if models is not None:
        raise UsageError("models: are compared on one run; leave out the other one.")
    from chiplog.comparison.runs import compare_runs

    ratios = compare_runs(_dataset(run), _dataset(other), statistic=statistic)
    shown = ("pattern", "message_bytes", "ratio", "low", "high", "verdict", "reason")
    return Results(ratios, columns_of(*shown, of=run_row_to_json))


@for_python
def predict(
    model: File | FittedModel | Sequence[FittedModel],
    operation: str,
    *,
    ranks: int,
    message_bytes: int = 1,
    algorithm: str | None = None,
    peers: int | None = None,
    per_node: int = 1,
    paper_literal: bool = False,
    anyway: bool = False,
    convention: str = "common-start",
    anchors: Sequence[File] = (),
    errors: File | None = None,
) -> Results[Prediction]:
    """How long each algorithm of a collective operation takes, the fastest first, with a range; a bound is last.

    Of "one-to-many", rank 0 sends a message to each of the others; `paper_literal` takes LoP's formulas as printed.

    A fit that its own check rejects raises UsageError, unless `anyway`: then each row's `rejected` says why.

    `anchors` are files with measured operations of fewer ranks, which correct the times: see each row's `correction`.
    Times are those of `convention`: "common-start" or "osu", the mean over ranks of own clocks. `errors`, a table of
    `chiplog calibrate` or "clusters", widens the intervals.
    """
    from dataclasses import asdict

    from chiplog.api.tables import Results, columns_of
    from chiplog.collectives.algorithm import Task
    from chiplog.jobs.anchor_files import read_anchors
    from chiplog.prediction.convention import convention_of
    from chiplog.prediction.error_table import read_error_table
    from chiplog.prediction.predict import predict as predict_all

    task = Task(ranks, message_bytes, peers=peers or Task.peers)
    predictions = predict_all(
        fits_of(model),
        operation,
        task,
        algorithm=algorithm,
        peers=peers,
        per_node=per_node,
        paper_literal=paper_literal,
        anyway=anyway,
        convention=convention_of(convention, "convention"),
        anchors=read_anchors(anchors),
        errors=None if errors is None else read_error_table(errors),
    )
    shown = ("algorithm", "peers", "seconds", "low", "high", "verdict", "extrapolated")
    return Results(predictions, columns_of(*shown, of=asdict))


@for_python
def simulate(
    schedule: File, model: File | FittedModel | Sequence[FittedModel], *, anyway: bool = False
) -> Simulation:
    """When each rank of a GOAL schedule is done under LogGOPS, with the parameters of a fit or a model file.

    UsageError where no fit can be simulated, and for a fit that its own check rejects, unless `anyway`; RunFailed where
    the schedule can't finish, naming the ranks that wait.
    """
    from chiplog.jobs.simulated_model import parameters_to_simulate
    from chiplog.schedule.goal import read_goal

    read_schedule = read_goal(Path(schedule))
    fitted = parameters_to_simulate(fits_of(model), anyway=anyway)
    return fitted.simulate(read_schedule).simulation


@for_python
def bench(operation: str, **options: Any) -> Bench:
    """How long a collective operation of an MPI really takes.

    The options are those of `chiplog.benchmarking.benchmark.bench`.
    """
    from chiplog.benchmarking.benchmark import bench as bench_operation

    return bench_operation(operation, **options)


@for_python
def guidelines(*operations: str, **options: Any) -> GuidelineJudgement:
    """Which calls of an MPI are surely slower than others that do the same; of these operations, or of all.

    The options are those of `chiplog.tune.guidelines.measure.guidelines`.
    """
    from chiplog.tune.guidelines.measure import guidelines as judged

    return judged(operations, **options)


@for_python
def survey(
    target: str,
    out: File = "survey",
    *,
    launcher: str | None = None,
    ranks: int | None = None,
    sparse: int | None = None,
    visits: int = 1,
    seed: int = 1,
    budget: float | None = None,
    resume: bool = False,
) -> SurveyResult:
    """Latency and bandwidth between every two nodes, and who is slow beyond doubt."""
    from chiplog.machine_survey.job import SurveyStart, ranks_to_plan
    from chiplog.machine_survey.job import survey as survey_target
    from chiplog.machine_survey.plan import SurveyOptions
    from chiplog.measurement.start import transport_of

    options = SurveyOptions(
        transport_of(target),
        ranks_to_plan(ranks, launcher),
        sparse=sparse,
        visits=visits,
        seed=seed,
    )
    start = SurveyStart(launcher, budget=budget, ranks_are_given=ranks is not None)
    return survey_target(target, out, options, start, resume=resume)


@for_python
def history(
    folder: File,
    *,
    node: str | None = None,
    pair: tuple[str, str] | str | None = None,
    link_class: str | None = None,
    against: str = "30d",
    target: str | None = None,
) -> HistoryResult:
    """Which nodes of a history of surveys changed, since when and by how much: `rows`, the worst first.

    `pair` ("n05", "n09") asks for one pair instead, `link_class` ("leaf", "spine" or "all") for the median of the pairs
    within leaves, between them, or of all.

    Each run is held against the time `against` before it: "30d", "2w", "12h". UsageError where the history lacks the
    node, the pair, the class, the target or any run, or a package is missing; CorruptFile where no file can be read,
    while single broken files are in `unread`.
    """
    from chiplog.run_history.result import judge_history

    return judge_history(
        os.fspath(folder),
        node=node,
        pair=pair if pair is None or isinstance(pair, str) else ",".join(pair),
        link_class=link_class,
        against=against,
        target=target,
    )


@for_python
def ucx(
    target: str = "ucx",
    out: File | None = None,
    *,
    sizes: str | Sequence[int] = "8:4MiB:1",
    launches: int = 6,  # Given: the default of `UcxOptions`.
    launcher: str | None = None,
    seed: int = 1,
) -> UcxTuning:
    """The thresholds of UCX in bytes, with intervals, and what a file may set; `out` gets the environment file.

    `launches` is the number of launches of each protocol at all `sizes`, before the race against what is in force.

    UsageError where the target is not UCX, or sizes or launches are too few; RunFailed where a rank is lost.
    """
    from chiplog.measurement.start import Start
    from chiplog.tune.ucx.tuning import UcxOptions, tune_ucx

    return tune_ucx(target, out, UcxOptions(_listed(sizes), launches, seed, Start(launcher)))


@for_python
def run(targets: Sequence[str] = (), out: File = "report", **options: Any) -> RunResult:
    """Measure, fit, compare and report; the options are those of `chiplog.jobs.measure_to_report.RunRequest`."""
    from chiplog.jobs.measure_to_report import RunRequest
    from chiplog.jobs.measure_to_report import run as run_all

    return run_all(RunRequest(targets, out, **options))


def _listed(given: str | Sequence[object]) -> str:
    """Several words or numbers as the command line has them."""
    return given if isinstance(given, str) else ",".join(map(str, given))


def _dataset(given: File | Dataset) -> Dataset:
    if isinstance(given, str | os.PathLike):
        return read(given)
    from chiplog.dataset.series import Dataset

    if not isinstance(given, Dataset):
        raise UsageError(
            f"a run is needed here: a run file, or what measure and read return, not {_kind(given)}."
        )
    return given


def fits_of(given: File | FittedModel | Sequence[FittedModel]) -> tuple[Fit, ...]:
    """The fits of a model file, or those that are given; UsageError where it is neither."""
    if isinstance(given, str | os.PathLike):
        from chiplog.fitting.model_file import read_model

        return read_model(given)
    from chiplog.api.fitted import FittedModel

    models = (given,) if isinstance(given, FittedModel) else given
    if not isinstance(models, Sequence) or not all(
        isinstance(model, FittedModel) for model in models
    ):
        raise UsageError(
            f"a fit is needed here: a model file, or what fit returns, not {_kind(given)}."
        )
    return tuple(model.details for model in models)


def _kind(given: object) -> str:
    """What was given, as its class is called.

    >>> _kind(3)
    'a value of type int'
    """
    return f"a value of type {type(given).__name__}"
