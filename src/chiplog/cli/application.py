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
    from chiplog.application.result import Alternative, AppResult, Replay
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
    from chiplog.cli.application_text import application_text
    from chiplog.tracing.importer import TraceOptions, read_trace

    if reading.any_source is not None and reading.any_source not in WILDCARDS:
        raise UsageError(f"--any-source: is {reading.any_source}; it accepts -1 and -2.")
    if reading.flops_per_second is not None and not reading.flops_per_second > 0.0:
        raise UsageError(
            f"--flops-per-second: is {reading.flops_per_second:g}; it accepts more than 0."
        )
    traced = read_trace(trace, TraceOptions(any_source=reading.any_source))
    result = costs_of(traced)
    if model.is_asked:
        result = _replayed(result, traced, reading.flops_per_second, model, trace)
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


def _replayed(
    result: AppResult, traced: Trace, flops: float | None, model: ReplayOptions, path: Path
) -> AppResult:
    """With the time that the model says."""
    from chiplog.application.replay import schedule_of
    from chiplog.jobs.replay import replay
    from chiplog.jobs.savings import TracedProgram, savings
    from chiplog.jobs.sensitivity import sensitivity

    program = TracedProgram(traced, schedule_of(traced, flops), flops)
    by = _by(model, program.schedule)
    if by.fitted is not None:
        cautions(by.fitted, program.schedule)
    by = replace(by, trace=str(path))
    answer = replay(result, program.replayed, by)
    answer = replace(
        answer,
        alternatives=_alternatives(answer, program.schedule, by, model),
        sensitivity=sensitivity(program.schedule, by) if model.sensitivity else None,
        savings=savings(program, by) if model.savings else None,
    )
    return replace(result, replay=answer)


def _alternatives(
    answer: Replay, schedule: Schedule, by: ReplayBy, model: ReplayOptions
) -> tuple[Alternative, ...]:
    """With the changes that were asked for, and by the other models."""
    from chiplog.jobs.paired import PairedTimes, Variant
    from chiplog.jobs.replay import ReplayBy, alternative, saves_by
    from chiplog.prediction.network_change import parse_change

    paired = PairedTimes(schedule, by)
    alternatives = []
    for text in model.changes or ():
        change = parse_change(text)
        saves = paired.saved_share(Variant(schedule, change))
        alternatives.append(alternative(text, by.simulate(schedule, change), saves))
    for path in model.others or ():
        fitted = fitted_from(path, ParameterOptions(), model.target, anyway=model.anyway)
        cautions(fitted, schedule)
        other = ReplayBy(fitted, trace=by.trace).simulate(schedule)
        alternatives.append(alternative(str(path), other, saves_by(answer, other)))
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
