"""How far off each model is, as numbers: fitted and, where points were held out, predicted."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.fit.result import FitError
from chiplog.report import format
from chiplog.report.document import Column, Inline, Section, Span, Table, bad, line, plain
from chiplog.report.input import ComparisonRow, TargetReport
from chiplog.report.names import method_name, model_name, of_many
from chiplog.report.sections.verdict import FAIR_MEDIAN

NOT_HELD_OUT = "nothing"


def section(target: TargetReport, key: str) -> Section | None:
    """The table of model errors, best first; None without any fit."""
    rows = target.comparison or tuple(
        ComparisonRow(
            fit.model,
            fit.method,
            NOT_HELD_OUT,
            sum(len(segment.parameters) for segment in fit.segments),
            fit.error,
        )
        for fit in target.fits
    )
    mine = [row for row in rows if not of_many(row.model, row.method)]
    if not mine:
        return None
    return Section(f"{key}-errors", line("Model errors"), (table(mine),))


def table(rows: Sequence[ComparisonRow]) -> Table:
    """One row a model and method."""
    ordered = sorted(rows, key=lambda row: (not row.error.points, row.error.mean_factor))
    columns = (
        Column(line("Model")),
        Column(line("Method")),
        Column(line(plain("Held out", term="held-out"))),
        Column(line("Points"), numeric=True),
        Column(line(plain("Parameters", term="parameters")), numeric=True),
        Column(line(plain("Median error", term="error")), numeric=True),
        Column(line("Mean error"), numeric=True),
        Column(line("Worst"), numeric=True),
        Column(line(plain("Factor", term="factor")), numeric=True),
    )
    caption = line(
        "Relative error |predicted − measured| / measured over all points of the model's patterns, "
        "the least factor first; factor = exp(mean |ln(predicted / measured)|)."
    )
    return Table(caption, columns, tuple(_row(row) for row in ordered))


def _row(row: ComparisonRow) -> tuple[Inline, ...]:
    names = (line(model_name(row.model)), line(method_name(row.method)), line(row.held_out))
    points, parameters = line(format.count(row.error.points)), line(format.count(row.parameters))
    if not row.error.points:
        blank = line(format.NOTHING)
        return (*names, points, parameters, line(bad("no fit")), blank, blank, blank)
    return (*names, points, parameters, *_errors(row.error))


def _errors(error: FitError) -> tuple[Inline, ...]:
    def judged(ratio: float) -> Span:
        shown = format.percent(ratio)
        return bad(shown) if ratio > FAIR_MEDIAN else plain(shown)

    return (
        line(judged(error.median_relative)),
        line(judged(error.mean_relative)),
        line(format.percent(error.max_relative)),
        line(format.value(error.mean_factor, "1", digits=3)),
    )
