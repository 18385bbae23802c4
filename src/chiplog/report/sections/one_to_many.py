"""One process to many: RTT(p)/p and the time to post a send over the number of peers, each model's curve, and f."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chiplog.comparison.result import ModelRow
from chiplog.dataset.operations import ONE_SIDED, operation_text
from chiplog.fitting.result import Fit, FitError, Parameter
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Bullets,
    Figure,
    Inline,
    Panels,
    Section,
    Table,
    bad,
    detail,
    line,
    number_columns,
    plain,
    symbol,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.many import line_trace, opening, peers_curve, ranks, run_of
from chiplog.report.measured import colour_of
from chiplog.report.names import model_name, sizes
from chiplog.report.numbers import latencies_table, over_peers_table
from chiplog.report.parameter_text import bounds, is_known, not_identified
from chiplog.report.plot import Axis, Plot, PlotSeries
from chiplog.report.sections import parameters
from chiplog.report.sections.postings import posting_blocks

METHOD = "one-to-many"
ROUND_TRIP, OVERHEAD = "round_trip_over_peers", "o_s_over_peers"
STATISTICS = ("minimum", "median", "mean")


@dataclass(frozen=True)
class _Over:
    """What is drawn over the number of peers; `divided` by p or not."""

    quantity: str
    name: str
    title: str
    label: str
    divided: bool


_SHOWN = (
    _Over(ROUND_TRIP, "round-trip", "RTT(p)/p", "round trip per peer", True),
    _Over(OVERHEAD, "posts", "o_s(p)", "time to post one of p sends", False),
)


def section(target: TargetReport, key: str) -> Section | None:
    """Plots over the peers for each message size, f, parameters and errors; None where it was not measured."""
    run = run_of(target, "one_to_many")
    if run is None or missing(target) is not None:
        return None
    by_way = _by_way(run)
    name = f"{key}-one-to-many"
    title = line(plain("One to many", term="one-to-many"))
    blocks = opening(run)
    if len(by_way) < 2:
        for way, fits in by_way.items():
            blocks += _blocks(run, fits, way, key)
        return Section(name, title, tuple(blocks)) if blocks else None
    blocks += posting_blocks(run.postings, key)
    parts = tuple(
        _part(run, fits, way, f"{name}-{number}")
        for number, (way, fits) in enumerate(by_way.items())
    )
    return Section(name, title, tuple(blocks), parts)


def missing(target: TargetReport) -> Inline | None:
    """Why there is nothing to show, and what would show it; None where there is, or where it was not asked for."""
    run = run_of(target, "one_to_many")
    by_way = {} if run is None else _by_way(run)
    if run is None or run.failure or not by_way:
        return None
    if any(len(_peers(fits)) > 1 for fits in by_way.values()):
        return None
    return line(
        plain("One process to many", term="one-to-many"),
        f": one number of peers only, {ranks(run)}; more ranks (--ranks 8) or hosts (--launcher) would show it.",
    )


def _by_way(run: TargetReport) -> dict[tuple[str, str], list[Fit]]:
    """The fits of each operation and way of posting."""
    by_way: dict[tuple[str, str], list[Fit]] = {}
    for fit in run.fits:
        if fit.method == METHOD:
            by_way.setdefault((fit.operation, fit.posting), []).append(fit)
    return by_way


def _part(run: TargetReport, fits: list[Fit], way: tuple[str, str], key: str) -> Section:
    """What is known of one operation by one way of posting, where there are several."""
    blocks = _blocks(run, fits, way, key)
    return Section(key, line(operation_text(*way)), tuple(blocks), in_terminal=False)


def _blocks(run: TargetReport, fits: list[Fit], way: tuple[str, str], key: str) -> list[Block]:
    blocks: list[Block] = []
    measured = _measured_sizes(fits)
    blocks.append(Bullets(tuple(text for fit in fits for text in _f(fit))))
    blocks += [
        Panels(tuple(figures)) for size in measured if (figures := _figures(fits, size, key))
    ]
    blocks += [table for size in measured if (table := latencies_table(fits, size)) is not None]
    blocks += [parameters.table(fit, in_terminal=bool(_f(fit))) for fit in fits]
    rows = tuple(row for row in run.comparison if (row.operation, row.posting) == way)
    return blocks + _errors(rows)


def _measured_sizes(fits: list[Fit]) -> list[int]:
    curves = [curve for fit in fits for curve in fit.curves if curve.peers is not None]
    return sorted({size for curve in curves for size in curve.message_bytes.tolist()})


def _peers(fits: list[Fit]) -> set[int]:
    curves = [curve for fit in fits for curve in fit.curves if curve.quantity == ROUND_TRIP]
    return {p for curve in curves if curve.peers is not None for p in curve.peers.tolist()}


def _f(fit: Fit) -> list[Inline]:
    """What LogfP says of each size: f, and beside it the p at which RTT(p)/p is least."""
    lines = []
    for segment in fit.segments:
        f, naive = segment.parameters.get("f"), segment.parameters.get("f_argmin")
        if f is None:
            continue
        size = sizes(segment.first_bytes, segment.last_bytes)
        biased: Inline = (plain("; "), *_told("f_argmin", naive)) if naive is not None else ()
        lines.append(line(f"{size}: ", *_told("f", f), *biased, "."))
    return lines


def _told(name: str, parameter: Parameter | None) -> Inline:
    shown = symbol(name, term=name)
    if parameter is None:
        return (shown, plain(" was not looked for"))
    if not is_known(parameter):
        _, _, reason = not_identified(parameter).partition("not identified")
        known = bounds(parameter)
        words = plain(f"not identified ({known})") if known else bad("not identified")
        return (shown, plain(" is "), words, plain(reason))
    number = format.brief(parameter.value, "")
    where = ", where RTT(p)/p is least" if name == "f_argmin" else ""
    return (shown, plain(f" = {number}{where}"))


def _figures(fits: list[Fit], size: int, key: str) -> list[Figure]:
    figures = []
    for shown in _SHOWN:
        traces = _traces(fits, shown, size)
        if not traces:
            continue
        plot = Plot(
            f"{key}-{shown.name}-{size}",
            Axis("peers p", "", ("linear",)),
            Axis(shown.label, "s", ("linear", "log")),
            tuple(traces),
            reference="measured",
        )
        title = f"{shown.title}, messages of {format.message_size(size)}"
        numbers = over_peers_table(fits, size) if shown.divided else None
        figures.append(Figure(title, line(_caption(shown)), plot, numbers))
    return figures


def _caption(shown: _Over) -> str:
    if shown.divided:
        return (
            "Time from the first send to the last of p answers, divided by p: median with its 95 % interval, and each "
            "model's line. LogP (4o) has both overheads, (2o) is its form where the receiver's CPU has no part."
        )
    return (
        "Time to post p sends, divided by p: median with its 95 % interval, and each model's line."
    )


def _traces(fits: list[Fit], shown: _Over, size: int) -> list[PlotSeries]:
    traces: list[PlotSeries] = []
    for fit in fits:
        curve = peers_curve(fit, shown.quantity, size)
        if curve is None or curve.peers is None:
            continue
        p = curve.peers.astype(np.float64)
        share = p if shown.divided else np.ones_like(p)
        if not traces:
            measured, low, high = (
                (seconds / share).tolist()
                for seconds in (curve.measured_seconds, curve.low_seconds, curve.high_seconds)
            )
            traces.append(
                PlotSeries(
                    "measured", "points", "measured", p.tolist(), measured, low=low, high=high
                )
            )
        predicted = (curve.predicted_seconds / share).tolist()
        trace = line_trace(_name(fit), colour_of(fit.model), p.tolist(), predicted)
        if trace is not None:
            traces.append(trace)
    return traces


def _name(fit: Fit) -> str:
    if fit.model != "logp":
        return model_name(fit.model)
    return "LogP (2o)" if fit.operation in ONE_SIDED else "LogP (4o)"


def _errors(rows: tuple[ModelRow, ...]) -> list[Block]:
    """One row a model: its errors on numbers of peers held out, for each statistic."""
    over_sizes = [row for row in rows if row.method == METHOD]
    by_model: dict[str, dict[str, ModelRow]] = {}
    for row in over_sizes:
        by_model.setdefault(row.model, {})[row.statistic] = row
    if not by_model:
        return []
    columns = (
        *text_columns("Model"),
        *number_columns(plain("Parameters", term="parameters"), "Points"),
        *number_columns(*(f"Error of the {name}" for name in STATISTICS)),
    )
    table = []
    for model, by_statistic in by_model.items():
        some = by_statistic.get("median") or next(iter(by_statistic.values()))
        errors = (by_statistic[name].error if name in by_statistic else None for name in STATISTICS)
        table.append(
            (
                line(model_name(model)),
                line(format.count(some.parameters)),
                line(format.count(some.error.points)),
                *(_error(error) for error in errors),
            )
        )
    where = (
        line(" on the points that the models were fitted to (in-sample)")
        if over_sizes[0].in_sample
        else line(" where ", plain("held out", term="held-out"), f" ({over_sizes[0].held_out})")
    )
    caption = line(
        "Mean (and median) relative error of RTT(p)",
        *where,
        ", fitted and judged on the minimum, the median and the mean of each series. Parameters: "
        "over all message sizes; points: at which the model has a prediction.",
    )
    return [Table(caption, columns, tuple(table))]


def _error(error: FitError | None) -> Inline:
    if error is None or not error.points:
        return line(format.NOTHING)
    median = format.percent(error.median_relative)
    return line(f"{format.percent(error.mean_relative)} ", detail(f"({median})"))
