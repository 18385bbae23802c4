"""Gap and overheads over size, in one plot: where o_s lies above the gap, g can't be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chiplog.fitting.result import Curve, Fit
from chiplog.report.document import Figure, Section, figure_section, line, symbol
from chiplog.report.input import TargetReport
from chiplog.report.measured import (
    change_marks,
    coincides,
    curve,
    headline,
    main_fits,
    model_trace,
    thinned,
)
from chiplog.report.names import QUANTITIES, model_name
from chiplog.report.numbers import per_message_table
from chiplog.report.plot import Axis, Plot, PlotSeries
from chiplog.report.sections.time_over_size import SIZE_AXIS

SHOWN = ("gap", "o_s", "o_r")


def section(target: TargetReport, key: str) -> Section | None:
    """The plot; None where none of the three was measured."""
    fit = headline(target)
    traces = () if fit is None else tuple(_traces(target, fit))
    if fit is None or not traces:
        return None
    plot = Plot(
        f"{key}-overheads",
        SIZE_AXIS,
        Axis("time per message", "s", ("log", "linear")),
        traces,
        change_marks(target.consensus),
    )
    caption = line(
        "Median time per message with its 95 % interval: gap between messages of a train, send overhead ",
        symbol("o_s", term="o_s"),
        " and receive overhead ",
        symbol("o_r", term="o_r"),
        ". Lines: ",
        f"{model_name(fit.model)}; other models through the legend. Where ",
        symbol("o_s"),
        " reaches the gap, the train is bound by the processor and ",
        symbol("g", term="g"),
        " can't be seen.",
    )
    numbers = per_message_table(target, fit, SHOWN)
    figure = Figure("Gap and overheads over message size", caption, plot, numbers)
    return figure_section(f"{key}-overheads", figure)


def _traces(target: TargetReport, fit: Fit) -> Iterator[PlotSeries]:
    """Each quantity as it was measured, and as the verdict's model and those that differ from it predict it."""
    for name in SHOWN:
        source = _source(target, fit, name)
        if source is None:
            continue
        yield _measured(source, name)
        for other in main_fits(target):
            if other is not fit and coincides(fit, other, name):
                continue
            trace = model_trace(other, name, f"{_short(name)}, {model_name(other.model)}")
            if trace is not None:
                yield replace(trace, visible=other is fit, colour=name)


def _source(target: TargetReport, fit: Fit, name: str) -> Curve | None:
    for candidate in (fit, *target.fits):
        measured = curve(candidate, name)
        if measured is not None:
            return measured
    return None


def _measured(source: Curve, name: str) -> PlotSeries:
    chosen = thinned(source.message_bytes, ())
    return PlotSeries(
        f"{_short(name)}, measured",
        "points",
        name,
        [float(v) for v in source.message_bytes[chosen]],
        [float(v) for v in source.measured_seconds[chosen]],
        low=[float(v) for v in source.low_seconds[chosen]],
        high=[float(v) for v in source.high_seconds[chosen]],
    )


def _short(name: str) -> str:
    return name if name.startswith("o_") else QUANTITIES.get(name, name)
