"""What an application's communication costs, as a function."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chiplog.api.functions import File, fits_of
from chiplog.api.words import for_python
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.api.fitted import FittedModel
    from chiplog.application.result import AppResult
    from chiplog.collectives.mpis.choice import Chooser
    from chiplog.tracing.trace import Trace


@for_python
def app(
    trace: File,
    model: File | FittedModel | Sequence[FittedModel] | None = None,
    *,
    any_source: int | None = None,
    flops_per_second: float | None = None,
    anyway: bool = False,
    sensitivity: bool = False,
    mpi: str | None = None,
    tuning: File | None = None,
    anchors: Sequence[File] = (),
    savings: bool = False,
    changes: Sequence[str] = (),
    compare: Sequence[File] = (),
    report: File | None = None,
) -> AppResult:
    """What an application's communication costs, from a trace of it; with a `model`, its time by it, in `replay`.

    `any_source` is the number of MPI_ANY_SOURCE in liballprof's text, where the trace does not tell it;
    `flops_per_second` is how fast a rank computes, where the trace has flops in place of times. With `sensitivity`,
    also how that time changes with each parameter of the model; with `savings`, what would save most of it; with
    `changes` such as "L+200us,G*2", its time on networks that differ; with `compare`, its time by other models.
    Collective operations are done by the algorithms that the MPI of the trace takes, or `mpi`, such as "openmpi-5.0",
    or that the `tuning` file of Open MPI or MPICH says; measured ones in files of `anchors` correct
    them. `report` writes a page of all, `FILE.html` or `FILE.md`.

    CorruptFile where the trace can't be understood; UsageError where the fit can't be simulated, or its own check
    rejects it, unless `anyway`.
    """
    from chiplog.application.costs import costs_of
    from chiplog.jobs.anchor_files import read_anchors
    from chiplog.jobs.anchored_replay import AnchoredChooser
    from chiplog.jobs.application import ReplayQuestions, replayed, write_application_page
    from chiplog.jobs.replay import ReplayBy
    from chiplog.jobs.savings import TracedProgram
    from chiplog.jobs.simulated_model import parameters_to_simulate
    from chiplog.prediction.network_change import parse_change
    from chiplog.report.write import check_suffix
    from chiplog.tracing.importer import TraceOptions, read_trace

    if report is not None:
        check_suffix(report)
    asked = sensitivity, savings, changes, compare, mpi, tuning, anchors
    if model is None and any(asked):
        raise UsageError(
            "sensitivity, savings, changes, compare, mpi, tuning and anchors need a model."
        )
    read_in = read_trace(trace, TraceOptions(any_source))
    choose = _chooser(read_in, mpi, tuning)
    fitted = None if model is None else parameters_to_simulate(fits_of(model), anyway=anyway)
    if fitted is not None and anchors:
        choose = AnchoredChooser(choose, fitted.fit, read_anchors(anchors))
    program = TracedProgram(os.fspath(trace), read_in, flops_per_second, choose)
    result, by = costs_of(program.trace), None
    if fitted is not None:
        by = ReplayBy(fitted, trace=program.name)
        others = {
            os.fspath(path): parameters_to_simulate(fits_of(path), anyway=anyway)
            for path in compare
        }
        questions = ReplayQuestions(
            sensitivity=sensitivity or report is not None,
            savings=savings or report is not None,
            changes={text: parse_change(text) for text in changes},
            others=others,
        )
        result = replayed(result, program, by, questions)
    if report is not None:
        write_application_page(result, program, by, report)
    return result


def _chooser(trace: Trace, mpi: str | None, tuning: File | None) -> Chooser:
    """By which algorithms collectives are replayed."""
    from chiplog.collectives.mpis.known import chooser_of, release_in, release_named
    from chiplog.tune.in_effect import chooser_from

    release = release_named(mpi) if mpi else release_in(trace.mpi)
    return chooser_from(tuning, release) if tuning else chooser_of(release)
