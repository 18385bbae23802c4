"""How far off each model is, as numbers: on points that were held out or, where none were, on those of the fit."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.comparison.best import best_rows, most_points, predicts_enough, ranked
from chiplog.comparison.result import IN_SAMPLE, ModelRow
from chiplog.fitting.request import left_out_lines
from chiplog.fitting.result import FitError
from chiplog.fitting.verdict import FAIR_MEDIAN
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Bullets,
    Inline,
    Section,
    Span,
    Table,
    bad,
    line,
    muted,
    number_columns,
    plain,
    strong,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.names import method_name, model_name, of_many
from chiplog.report.ranking import in_sample_row

SHARES = ("Repeatability", "Within 95 % prediction interval")
"""Columns that are shown where they are known."""


def section(target: TargetReport, key: str) -> Section | None:
    """The table of model errors, best first, and the models left out; None where there is neither."""
    rows = target.comparison or tuple(in_sample_row(fit) for fit in target.fits if fit.error.points)
    shown = [row for row in rows if not of_many(row.method)]
    left_out = left_out_lines(target.left_out)
    blocks: list[Block] = [table(shown)] if shown else []
    if left_out:
        blocks.append(Bullets(tuple(line(muted(words)) for words in left_out)))
    return Section(f"{key}-errors", line("Model errors"), tuple(blocks)) if blocks else None


def table(rows: Sequence[ModelRow]) -> Table:
    """One row a model and method, the least factor first; a model that predicts too few of the points stands last."""
    some = any(share is not None for row in rows for share in _shares(row))
    columns = (
        *text_columns("Model", "Method", plain("Held out", term="held-out")),
        *number_columns("Points", plain("Parameters", term="parameters")),
        *number_columns(plain("Median error", term="error"), "Mean error", "Worst"),
        *number_columns(plain("Factor", term="factor"), *(SHARES if some else ())),
    )
    best = best_rows(rows)
    return Table(
        _caption(rows), columns, tuple(_row(row, rows, best, some) for row in ranked(rows))
    )


def _caption(rows: Sequence[ModelRow]) -> Inline:
    if all(row.in_sample for row in rows):
        where = "on the points that the models were fitted to (in-sample)"
    else:
        where = "on points that were held out, so that no model was fitted to them"
    most = most_points(rows)
    few = any(not predicts_enough(row, rows) for row in rows)
    tail = (
        f" A model that predicts fewer than nine tenths of the {most} points stands last."
        if few
        else ""
    )
    return line(
        f"Relative error |predicted − measured| / measured {where}; the least factor first; "
        f"factor = exp(mean |ln(predicted / measured)|).{tail}"
    )


def _row(
    row: ModelRow, rows: Sequence[ModelRow], best: Sequence[ModelRow], with_shares: bool
) -> tuple[Inline, ...]:
    most = most_points(rows)
    points = format.count(row.error.points)
    if not predicts_enough(row, rows):
        points = f"{points} of {format.count(most)}"
    mark = (" ", strong("best")) if any(row is model_row for model_row in best) else ()
    names = (
        line(model_name(row.model), *mark),
        line(method_name(row.method)),
        line(row.held_out or IN_SAMPLE),
        line(points),
        line(format.count(row.parameters)),
    )
    shares = tuple(line(format.percent(share)) for share in _shares(row)) if with_shares else ()
    if not row.error.points:
        blank = line(format.NOTHING)
        return (*names, line(bad("no prediction")), blank, blank, blank, *shares)
    return (*names, *_errors(row.error), *shares)


def _shares(row: ModelRow) -> tuple[float | None, ...]:
    """What belongs to the columns of `SHARES`."""
    return row.repeatability, row.inside_prediction_interval


def _errors(error: FitError) -> tuple[Inline, ...]:
    def judged(ratio: float) -> Span:
        shown = format.percent(ratio)
        return bad(shown) if ratio > FAIR_MEDIAN else plain(shown)

    return (
        line(judged(error.median_relative)),
        line(judged(error.mean_relative)),
        line(format.percent(error.max_relative)),
        line(format.brief(error.mean_factor, "1")),
    )
