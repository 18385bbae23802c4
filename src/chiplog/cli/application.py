"""`chiplog app`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chiplog.cli.model_parameters import (
    ParameterOptions,
    cautions,
    fitted_from,
    pair_classes,
    parameters_from,
)
from chiplog.cli.options import AnywayOption, JsonOption, TargetOption, option
from chiplog.cli.output import note, say, write_json
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.application.replay import ReplayedTrace
    from chiplog.application.result import Alternative, AppResult, Replay
    from chiplog.collectives.mpis.choice import Chooser
    from chiplog.jobs.replay import ReplayBy
    from chiplog.schedule import Schedule
    from chiplog.tracing.trace import Trace

WILDCARDS = (-1, -2)


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
            "--change": self.changes,
            "--compare": self.others,
            "--tuning": self.tuning,
            "--anchor": self.anchors,
        }
        return next((name for name, value in asked.items() if value), None)


def application(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="A trace of an MPI program: a folder or a file."),
    ],
    *,
    reading: TraceReading,
    model: ReplayOptions,
    json_file: JsonOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print all calls, ranks and pairs.")
    ] = False,
) -> None:
    """Say what an application's communication costs.

    By call, rank, size and pair, and how much of it is waiting for other ranks. With a model, or --L, --o, --g and --G,
    how long the application would take with it.
    """
    from chiplog.application.costs import costs_of
    from chiplog.application.replay import schedule_of
    from chiplog.cli.application_text import application_text
    from chiplog.cli.reading_progress import reading_progress
    from chiplog.tracing.importer import TraceOptions, read_trace

    if reading.any_source is not None and reading.any_source not in WILDCARDS:
        raise UsageError(f"--any-source: is {reading.any_source}; it accepts -1 and -2.")
    if reading.flops_per_second is not None and not reading.flops_per_second > 0.0:
        raise UsageError(
            f"--flops-per-second: is {reading.flops_per_second:g}; it accepts more than 0."
        )
    options = TraceOptions(any_source=reading.any_source, progress=reading_progress(trace))
    traced = read_trace(trace, options)
    result = costs_of(traced)
    if model.is_asked:
        choose = _chooser(traced, reading.mpi, model.tuning)
        if model.anchors:
            replayed = _anchored(traced, reading, model, choose)
        else:
            replayed = schedule_of(traced, reading.flops_per_second, choose)
        result = _replayed(result, replayed, model, trace)
    elif asked := model.asked_of_a_model:
        raise UsageError(
            f"{asked}: needs a model: add --model MODEL.json, or --L, --o, --g and --G."
        )
    if json_file:
        write_json(json_file, result.to_json())
    if json_file != "-":
        say(application_text(result, details=details))
    for sentence in result.notes:
        note(f"{sentence}.")


def _chooser(trace: Trace, mpi: str | None, tuning: Path | None) -> Chooser:
    """By which algorithms collectives are replayed; says what is not known of the MPI's rules."""
    from chiplog.collectives.mpis.known import chooser_of, release_in, release_named
    from chiplog.tune.in_effect import chooser_from

    release = release_in(trace.mpi) if mpi is None else release_named(mpi)
    if release is None and tuning is None:
        note(
            "collectives are replayed by chiplog's default algorithms, since the trace names no MPI whose rules are "
            "known: --mpi openmpi-5.0 or the like names it."
        )
    if release is not None and release.caution is not None:
        note(f"{release.caution}.")
    return chooser_of(release) if tuning is None else chooser_from(tuning, release)


def _anchored(
    trace: Trace, reading: TraceReading, model: ReplayOptions, choose: Chooser
) -> ReplayedTrace:
    """With collectives as measured ones correct them; UsageError where none of them was measured."""
    from chiplog.application.replay import schedule_of
    from chiplog.jobs.anchor_files import read_anchors
    from chiplog.jobs.anchored_replay import AnchoredChooser, refuse_unused

    given = model.parameters
    if given.model is None:
        raise UsageError("--anchor: needs --model, since it corrects what a model predicts.")
    fit = fitted_from(given.model, given, model.target, anyway=model.anyway).fit
    anchored = AnchoredChooser(choose, fit, read_anchors(model.anchors or ()))
    replayed = schedule_of(trace, reading.flops_per_second, anchored)
    refuse_unused(anchored)
    return replace(replayed, notes=(*replayed.notes, *anchored.notes))


def _replayed(
    result: AppResult, replayed: ReplayedTrace, model: ReplayOptions, path: Path
) -> AppResult:
    """With the time that the model says."""
    from chiplog.jobs.replay import replay

    by = _by(model, replayed.schedule)
    if by.fitted is not None:
        cautions(by.fitted, replayed.schedule)
    by = replace(by, trace=str(path))
    answer = replay(result, replayed, by)
    answer = replace(answer, alternatives=_alternatives(answer, replayed.schedule, by, model))
    if model.sensitivity:
        from chiplog.jobs.sensitivity import sensitivity

        answer = replace(answer, sensitivity=sensitivity(replayed.schedule, by))
    return replace(result, replay=answer)


def _alternatives(
    answer: Replay, schedule: Schedule, by: ReplayBy, model: ReplayOptions
) -> tuple[Alternative, ...]:
    """With the changes that were asked for, and by the other models."""
    from chiplog.jobs.replay import ReplayBy, alternative
    from chiplog.prediction.network_change import parse_change

    alternatives = [
        alternative(text, answer, by.simulate(schedule, parse_change(text)))
        for text in model.changes or ()
    ]
    for path in model.others or ():
        other = fitted_from(path, ParameterOptions(), model.target, anyway=model.anyway)
        cautions(other, schedule)
        alternatives.append(
            alternative(str(path), answer, ReplayBy(other, trace=by.trace).simulate(schedule))
        )
    return tuple(alternatives)


def _by(model: ReplayOptions, schedule: Schedule) -> ReplayBy:
    from chiplog.jobs.replay import ReplayBy
    from chiplog.simulation import Conditions, LogGOPS

    given = model.parameters
    pairs = pair_classes(schedule, given)
    if pairs is not None:
        alike = LogGOPS(pairs.classes[0], given.largest_eager_bytes)
        return ReplayBy(parameters=alike, conditions=Conditions(pairs=pairs))
    if given.model is not None:
        fitted = fitted_from(given.model, given, model.target, anyway=model.anyway)
        return ReplayBy(fitted=fitted)
    return ReplayBy(parameters=parameters_from(given))


def epilog() -> str:
    """The end of the help: which traces are read."""
    from chiplog.cli.options import names_help
    from chiplog.tracing.importer import TRACE_IMPORTERS

    return names_help("TRACE", TRACE_IMPORTERS.all())
