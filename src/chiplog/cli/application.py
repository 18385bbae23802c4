"""`chiplog app`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.model_parameters import (
    ParameterOptions,
    cautions,
    fitted_from,
    pair_classes,
    parameters_from,
)
from chiplog.cli.options import AnywayOption, JsonOption, TargetOption, names_help, option
from chiplog.cli.output import note, say, write_json
from chiplog.cli.parameters import Argument, Option, OutputFile
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.collectives.mpis.choice import Chooser
    from chiplog.jobs.application import ReplayQuestions
    from chiplog.jobs.replay import ReplayBy
    from chiplog.schedule import Schedule
    from chiplog.tracing.trace import Trace

WILDCARDS = (-1, -2)
"""Given: MPI_ANY_SOURCE of Open MPI, and of MPICH."""
LINE_SECONDS = 5.0
"""Given: between two lines on how far the work has got, and before the first."""


@dataclass(frozen=True)
class TraceReading:
    """What a trace can't say of itself."""

    any_source: int | None = option(
        None,
        "--any-source",
        metavar="NUMBER",
        help="In liballprof's text, MPI_ANY_SOURCE: -2 of MPICH, -1 of Open MPI.",
    )
    flops_per_second: float | None = option(
        None,
        "--flops-per-second",
        metavar="RATE",
        help="How fast a rank computes, for traces with flops in place of times.",
    )
    mpi: str | None = option(
        None,
        "--mpi",
        metavar="RELEASE",
        help="openmpi-5.0, mpich-4.0 or the like, whose algorithms collectives are replayed by; else the trace's.",
    )

    def check(self) -> None:
        """UsageError where a number can't be meant."""
        if self.any_source is not None and self.any_source not in WILDCARDS:
            raise UsageError(f"--any-source: is {self.any_source}; it accepts -1 and -2.")
        if self.flops_per_second is not None and not self.flops_per_second > 0.0:
            raise UsageError(
                f"--flops-per-second: is {self.flops_per_second:g}; it accepts more than 0."
            )


@dataclass(frozen=True)
class ReplayOptions:
    """By what the trace is replayed, if it is."""

    parameters: ParameterOptions
    target: TargetOption = None
    anyway: AnywayOption = False
    sensitivity: bool = option(
        False,
        "--sensitivity",
        help="How much each parameter of the model matters to the application's time.",
    )
    savings: bool = option(
        False, "--savings", help="What would save most: placement, the eager limit, overlap."
    )
    changes: list[str] | None = option(
        None,
        "--change",
        metavar="CHANGE",
        help="The time with L+200us, G*2, computing*0.5 or the like; may be repeated.",
    )
    tuning: Path | None = option(
        None,
        "--tuning",
        metavar="FILE",
        help="Collectives as this tuning file of Open MPI or MPICH has them.",
    )
    anchors: list[Path] | None = option(
        None,
        "--anchor",
        metavar="FILE",
        help="Correct collectives by measured ones, as chiplog predict does; may be repeated.",
    )
    others: list[Path] | None = option(
        None,
        "--compare",
        metavar="MODEL.json",
        help="The time by another model, too; may be repeated.",
    )

    @property
    def is_asked(self) -> bool:
        """Is there any parameter?"""
        given = self.parameters
        return given.model is not None or given.classes is not None or bool(given.times)

    @property
    def asked_of_a_model(self) -> str | None:
        """The first option that is given and needs a model."""
        asked = {
            "--sensitivity": self.sensitivity,
            "--savings": self.savings,
            "--change": self.changes,
            "--compare": self.others,
            "--tuning": self.tuning,
            "--anchor": self.anchors,
        }
        return next((name for name, value in asked.items() if value), None)


def application(
    trace: Annotated[
        Path,
        Argument(metavar="TRACE", help="A trace of an MPI program: a folder or a file."),
    ],
    *,
    reading: TraceReading,
    model: ReplayOptions,
    report: Annotated[
        Path | None,
        OutputFile("--report", metavar="FILE.html|FILE.md", help="Write a page with pictures."),
    ] = None,
    json_file: JsonOption = None,
    details: Annotated[bool, Option("--details", help="Print all calls, ranks and pairs.")] = False,
) -> None:
    """Say what an application's communication costs.

    By call, rank, size and pair, and how much of it is waiting for other ranks. With a model, or --L, --o, --g and --G,
    how long the application would take with it.
    """
    from chiplog.application.costs import costs_of
    from chiplog.cli.application_text import application_text
    from chiplog.jobs.application import replayed, write_application_page
    from chiplog.jobs.savings import TracedProgram
    from chiplog.report.write import check_suffix
    from chiplog.tracing.importer import TraceOptions, read_trace

    reading.check()
    if report is not None:
        check_suffix(report)
    options = TraceOptions(
        any_source=reading.any_source, progress=progress_lines(f"reading {trace}")
    )
    traced = read_trace(trace, options)
    choose = _chooser(traced, reading.mpi, model) if model.is_asked else None
    program = TracedProgram(str(trace), traced, reading.flops_per_second, choose)
    result, by = costs_of(traced), None
    if model.is_asked:
        by = _by(model, program.schedule, str(trace))
        questions = _questions(model, program.schedule, is_page_asked=report is not None)
        progress = progress_lines(f"replaying {trace}")
        result = replayed(result, program, by, questions, progress)
    elif asked := model.asked_of_a_model:
        raise UsageError(
            f"{asked}: needs a model: add --model MODEL.json, or --L, --o, --g and --G."
        )
    if report is not None:
        write_application_page(result, program, by, report)
        note(f"the report is {report}.")
    write_json(json_file, result.to_json())
    if json_file != "-":
        say(application_text(result, details=details))
    for sentence in result.notes:
        note(f"{sentence}.")


def progress_lines(
    work: str, clock: Callable[[], float] = time.monotonic
) -> Callable[[float], None]:
    """Takes the share of some work that is done, and says it with the time left, where it takes long."""
    began = clock()
    next_line = began + LINE_SECONDS

    def progress(share: float) -> None:
        nonlocal next_line
        now = clock()
        if now < next_line or not 0.0 < share < 1.0:
            return
        next_line = now + LINE_SECONDS
        seconds_left = (now - began) * (1.0 - share) / share
        note(f"{work}: {100 * share:.0f} %, {seconds_left:.0f} s left.")

    return progress


def _chooser(trace: Trace, mpi: str | None, model: ReplayOptions) -> Chooser:
    """By which algorithms collectives are replayed; says what is not known of the MPI's rules."""
    from chiplog.collectives.mpis.known import chooser_of, release_in, release_named
    from chiplog.jobs.anchor_files import read_anchors
    from chiplog.jobs.anchored_replay import AnchoredChooser
    from chiplog.tune.in_effect import chooser_from

    release = release_in(trace.mpi) if mpi is None else release_named(mpi)
    if release is None and model.tuning is None:
        note(
            "collectives are replayed by chiplog's default algorithms, since the trace names no MPI whose rules are "
            "known: --mpi openmpi-5.0 or the like names it."
        )
    if release is not None and release.caution is not None:
        note(f"{release.caution}.")
    choose = chooser_of(release) if model.tuning is None else chooser_from(model.tuning, release)
    if not model.anchors:
        return choose
    given = model.parameters
    if given.model is None:
        raise UsageError("--anchor: needs --model, since it corrects what a model predicts.")
    fit = fitted_from(given.model, given, model.target, anyway=model.anyway).fit
    return AnchoredChooser(choose, fit, read_anchors(model.anchors))


def _questions(model: ReplayOptions, schedule: Schedule, *, is_page_asked: bool) -> ReplayQuestions:
    """What is asked; a page has all answers."""
    from chiplog.jobs.application import ReplayQuestions
    from chiplog.prediction.network_change import parse_change

    others = {}
    for path in model.others or ():
        fitted = fitted_from(path, ParameterOptions(), model.target, anyway=model.anyway)
        cautions(fitted, schedule)
        others[str(path)] = fitted
    return ReplayQuestions(
        sensitivity=model.sensitivity or is_page_asked,
        savings=model.savings or is_page_asked,
        changes={text: parse_change(text) for text in model.changes or ()},
        others=others,
    )


def _by(model: ReplayOptions, schedule: Schedule, trace: str) -> ReplayBy:
    from chiplog.jobs.replay import ReplayBy
    from chiplog.simulation import Conditions, LogGOPS

    given = model.parameters
    classes = pair_classes(schedule, given)
    if classes is not None:
        alike = LogGOPS(classes.pairs.classes[0], given.largest_eager_bytes)
        conditions = Conditions(pairs=classes.pairs)
        return ReplayBy(None, alike, conditions, trace, classes)
    if given.model is not None:
        fitted = fitted_from(given.model, given, model.target, anyway=model.anyway)
        cautions(fitted, schedule)
        return ReplayBy(fitted=fitted, trace=trace)
    return ReplayBy(parameters=parameters_from(given), trace=trace)


def epilog() -> str:
    """The end of the help: which traces are read."""
    from chiplog.tracing.importer import TRACE_IMPORTERS

    known = {importer.name: importer.summary for importer in TRACE_IMPORTERS.all()}
    return names_help("TRACE", known)
