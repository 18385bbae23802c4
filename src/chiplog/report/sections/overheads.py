"""Gap and overheads over size, in one plot: where o_s lies above the gap, g can't be seen."""

from __future__ import annotations

from chiplog.fit.result import Curve, Fit
from chiplog.report.document import Figure, Section, line, symbol
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
from chiplog.report.plot import Axis, Plot, Trace
from chiplog.report.sections.time_over_size import SIZE_AXIS

SHOWN = ("gap", "o_s", "o_r")


def section(target: TargetReport, key: str) -> Section | None:
    """The plot; None where none of the three was measured."""
    fit = headline(target)
    if fit is None:
        return None
    traces: list[Trace] = []
    for name in SHOWN:
        source = _source(target, fit, name)
        if source is None:
            continue
        traces.append(_measured(source, name))
        for other in main_fits(target):
            if other is not fit and coincides(fit, other, name):
                continue
            trace = model_trace(
                other,
                name,
                f"{_short(name)}, {model_name(other.model)}",
                lambda _, predicted, __: predicted,
                visible=other is fit,
                colour=name,
            )
            if trace is not None:
                traces.append(trace)
    if not traces:
        return None
    plot = Plot(
        f"{key}-overheads",
        SIZE_AXIS,
        Axis("time per message", "s", ("log", "linear")),
        tuple(traces),
        change_marks(target.consensus),
    )
    caption = line(
        "Median time per message with its 95 % interval: gap between messages of a train, send "
        "overhead ",
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
    figure = Figure(
        "Gap and overheads over message size", caption, plot, per_message_table(target, fit, SHOWN)
    )
    return Section(
        f"{key}-overheads",
        line("Gap and overheads over message size"),
        (figure,),
        in_terminal=False,
    )


def _source(target: TargetReport, fit: Fit, name: str) -> Curve | None:
    for candidate in (fit, *target.fits):
        measured = curve(candidate, name)
        if measured is not None:
            return measured
    return None


def _measured(source: Curve, name: str) -> Trace:
    chosen = thinned(source.message_bytes, ())
    return Trace(
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
