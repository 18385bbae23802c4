"""One table over all targets: the numbers that most readers came for."""

from __future__ import annotations

from collections.abc import Callable

from chiplog.compare.result import ModelRow
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Column,
    Figure,
    Inline,
    Panels,
    Paragraph,
    Section,
    Table,
    bad,
    code,
    detail,
    line,
    muted,
    plain,
    symbol,
)
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.measured import headline, measured_trace
from chiplog.report.names import model_name, parameter_symbol, short_place
from chiplog.report.parameter_text import bandwidth_of, short
from chiplog.report.plot import Axis, Plot, Trace
from chiplog.report.ranking import row_of
from chiplog.report.sections.bandwidth import rate
from chiplog.report.sections.time_over_size import SIZE_AXIS

FEWEST_SIZES = 2
COLOURS = 6
"""Targets that the page's style sheet has colours for; more begin anew."""
FIRST_SEGMENT = ("L_half", "L", "o_s", "o_r", "g")


def section(report: ReportInput) -> Section | None:
    """The overview; None without any target."""
    if not report.targets:
        return Section("overview", line("Overview"), (Paragraph(line("No target was measured.")),))
    columns = (
        Column(line("Target")),
        *(Column((parameter_symbol(name),), numeric=True) for name in FIRST_SEGMENT),
        Column(line(plain("Bandwidth ", term="G"), symbol("1/G")), numeric=True),
        Column(line(plain("Protocol changes", term="change"))),
        Column(line(plain("Median error", term="error")), numeric=True),
        Column(line("Cost"), numeric=True),
    )
    caption = line(
        "Latency, overheads and gap of the first protocol (the smallest messages), bandwidth of "
        "the last one (the "
        "largest), with 95 % intervals; medians; one-way = half round trip. GB = 1e9 B, KiB = "
        "1024 B."
    )
    table = Table(caption, columns, tuple(_row(target) for target in report.targets))
    blocks: list[Block] = [table, *_plots(report)]
    if report.cost is not None:
        blocks.append(Paragraph(_total(report)))
    return Section("overview", line("Overview"), tuple(blocks))


def _plots(report: ReportInput) -> list[Panels]:
    """Time and bandwidth of all targets over the size; none where no target was measured at several sizes."""
    shown: tuple[tuple[str, str, str, Callable[[float, float], float]], ...] = (
        ("time", "Half round trip", "s", lambda _, seconds: seconds),
        ("bandwidth", "Bandwidth", "B/s", rate),
    )
    figures = []
    for name, title, unit, scale in shown:
        traces = []
        for number, target in enumerate(report.targets):
            trace = measured_trace(target, scale)
            if trace is None or len(trace.x) < FEWEST_SIZES:
                continue
            colour = f"target-{number % COLOURS + 1}"
            traces.append(Trace(target.name, "line", colour, trace.x, trace.y, dots=True))
        if not traces:
            return []
        plot = Plot(
            f"overview-{name}",
            SIZE_AXIS,
            Axis(title.lower(), unit, ("log", "linear")),
            tuple(traces),
            small=True,
            group="overview",
        )
        figures.append(Figure(title, line(), plot))
    return [Panels(tuple(figures))]


def _row(target: TargetReport) -> tuple[Inline, ...]:
    fit = headline(target)
    if fit is None or not fit.segments:
        words = "failed" if target.failure else "no fit"
        blank = line(format.NOTHING)
        return (line(code(target.name)), line(bad(words)), *([blank] * (len(FIRST_SEGMENT) + 3)))
    first, last = fit.segments[0].parameters, fit.segments[-1].parameters
    return (
        line(code(target.name)),
        *(short(first.get(name)) for name in FIRST_SEGMENT),
        bandwidth_of(last.get("G"), last.get("R")),
        _changes(target),
        _error(row_of(target, fit)),
        line(f"{format.duration(fit.cost.seconds)} ", detail(format.volume(fit.cost.bytes))),
    )


def _changes(target: TargetReport) -> Inline:
    if not target.consensus:
        return line(muted("none found"))
    return line(", ".join(short_place(change) for change in target.consensus))


def _error(row: ModelRow) -> Inline:
    words = format.percent(row.error.median_relative) if row.error.points else format.NOTHING
    basis = "in-sample" if row.in_sample else "held out"
    return line(f"{words} ", detail(f"{model_name(row.model)}, {basis}"))


def _total(report: ReportInput) -> Inline:
    cost = report.cost
    assert cost is not None
    return line(
        f"In all: {format.duration(cost.seconds)}, {format.count(cost.messages)} messages, "
        f"{format.volume(cost.bytes)} on the wire, warm-up included."
    )
