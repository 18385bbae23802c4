"""One table over all targets: the numbers that most readers came for."""

from __future__ import annotations

from collections.abc import Callable

from chiplog.comparison.result import ModelRow
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Figure,
    Inline,
    Panels,
    Paragraph,
    Section,
    Table,
    bad,
    code,
    detail,
    joined,
    line,
    number_columns,
    plain,
    symbol,
    text_columns,
)
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.measured import (
    LARGE_BYTES,
    SMALL_BYTES,
    HalfRoundTrip,
    half_round_trip_at,
    headline,
    measured_trace,
    parameter_fit,
)
from chiplog.report.names import model_name, parameter_symbol
from chiplog.report.parameter_text import bandwidth_of, short
from chiplog.report.plot import Axis, Plot, PlotSeries
from chiplog.report.ranking import row_of
from chiplog.report.sections.bandwidth import rate
from chiplog.report.sections.time_over_size import SIZE_AXIS
from chiplog.report.trust import trust_of

COLOURS = 6
"""Given: targets that the page's style sheet has colours for; more begin anew."""
FIRST_SEGMENT = ("L", "o_s", "o_r", "g")


def section(report: ReportInput) -> Section | None:
    """The overview; None without any target."""
    if not report.targets:
        return Section("overview", line("Overview"), (Paragraph(line("No target was measured.")),))
    half_round_trip = line(plain("Half round trip", term="half_round_trip"), ", 8 B")
    per_byte = line(plain("1/", term="G"), symbol("G"))
    columns = (
        *text_columns("Target"),
        *number_columns(half_round_trip, "Bandwidth, 4 MiB"),
        *text_columns(plain("Best model", term="error")),
        *number_columns(*map(parameter_symbol, FIRST_SEGMENT), per_byte),
    )
    caption = line(
        "Measured: medians; bandwidth of one message at a time. The best model with its median error on sizes held "
        "out, and its parameters with 95 % intervals: those of the smallest messages, and 1/G of the largest. "
        "One-way = half round trip. GB = 1e9 B."
    )
    table = Table(caption, columns, tuple(_row(target) for target in report.targets))
    blocks: list[Block] = [*_trust(report), table, *_plots(report)]
    if report.cost is not None:
        blocks.append(Paragraph(_total(report)))
    return Section("overview", line("Overview"), tuple(blocks))


def _trust(report: ReportInput) -> list[Paragraph]:
    """Whether each model may be relied on, before anything else is read: a line each why not, one for the others."""
    trusts = [(target.name, trust_of(target)) for target in report.targets]
    names_by_use: dict[str, list[Inline]] = {}
    for name, trust in trusts:
        if trust.level != "not usable":
            names_by_use.setdefault(trust.use, []).append(line(code(name)))
    uses = [line(f"{use}: ", *joined(names, ", ")) for use, names in names_by_use.items()]
    not_usable = [
        Paragraph(line(code(name), ": ", bad(trust.sentence())))
        for name, trust in trusts
        if trust.level == "not usable"
    ]
    return [*not_usable, *([Paragraph(line(*joined(uses, "; "), "."))] if uses else [])]


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
            if trace is None or len(trace.x) < 2:
                continue
            colour = f"target-{number % COLOURS + 1}"
            traces.append(PlotSeries(target.name, "line", colour, trace.x, trace.y, dots=True))
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
        blank = [line(format.NOTHING)] * (len(FIRST_SEGMENT) + 1)
        return (line(code(target.name)), *_measured(target), line(bad(words)), *blank)
    shown = parameter_fit(target) or fit
    first, last = shown.segments[0].parameters, shown.segments[-1].parameters
    return (
        line(code(target.name)),
        *_measured(target),
        _error(row_of(target, fit)),
        *(short(first.get(name)) for name in FIRST_SEGMENT),
        bandwidth_of(last.get("G"), last.get("R")),
    )


def _measured(target: TargetReport) -> tuple[Inline, Inline]:
    """The half round trip of a small message, and the bandwidth of a large one."""
    small, large = (half_round_trip_at(target, size) for size in (SMALL_BYTES, LARGE_BYTES))
    return (
        _about(small, format.brief(small.seconds if small else None, "s")),
        _about(large, format.brief(large.bytes_per_second if large else None, "B/s")),
    )


def _about(measured: HalfRoundTrip | None, text: str) -> Inline:
    if measured is None or not measured.is_near:
        return line(text)
    return line(text, detail(f" at {measured.message_bytes:,} B"))


def _error(row: ModelRow) -> Inline:
    words = format.percent(row.error.median_relative) if row.error.points else format.NOTHING
    basis = "in-sample" if row.in_sample else "held out"
    return line(f"{model_name(row.model)} ", detail(f"{words} {basis}"))


def _total(report: ReportInput) -> Inline:
    cost = report.cost
    assert cost is not None
    return line(
        f"In all: {format.duration(cost.seconds)}, {format.count(cost.messages)} messages, "
        f"{format.volume(cost.bytes)} on the wire, warm-up included."
    )
