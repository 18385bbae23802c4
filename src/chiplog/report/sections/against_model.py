"""What was measured against the best model, and below it, over the same axis, by how much they differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chiplog.fitting.result import Fit
from chiplog.report.document import Figure, Section, figure_section, line, plain
from chiplog.report.input import TargetReport
from chiplog.report.measured import (
    change_marks,
    measured_trace,
    model_trace,
    told_over_sizes,
    with_band,
)
from chiplog.report.names import model_name
from chiplog.report.numbers import half_round_trip_table
from chiplog.report.plot import Axis, Plot
from chiplog.report.sections.residuals import BAND, relative
from chiplog.report.sections.time_over_size import SIZE_AXIS


def section(target: TargetReport, key: str) -> Section | None:
    """The figure; None where nothing was measured at several sizes, or no model predicts it."""
    fit = told_over_sizes(target)
    if fit is None:
        return None
    measured = measured_trace(target, lambda _, seconds: seconds)
    name = model_name(fit.model)
    model = model_trace(fit, "half_round_trip", name)
    if measured is None or model is None or not np.isfinite(model.y).any():
        return None
    times = Plot(
        f"{key}-model",
        SIZE_AXIS,
        Axis("half round trip", "s", ("log", "linear")),
        (measured, with_band(model, fit)),
        change_marks(target.consensus),
        reference="measured",
        group=f"{key}-sizes",
    )
    shaded = "Shaded: where the next median will lie, 19 times of 20. " if fit.bands else ""
    caption = line(
        "Points: median half round trip (one-way = half round trip), with the middle half and 5–95 % of its samples. "
        f"Line: {name}. {shaded}Vertical: ",
        plain("protocol changes", term="change"),
        ", as wide as their interval; dotted: where the two protocols' lines cross. Below: above zero the model is too "
        "slow; grey: within 5 %.",
    )
    numbers = half_round_trip_table(target)
    figure = Figure(f"Measured against {name}", caption, times, numbers, _residuals(times, fit))
    return figure_section(f"{key}-model", figure)


def _residuals(times: Plot, fit: Fit) -> Plot:
    """What the plot of times misses by, over the same sizes."""
    trace = model_trace(fit, "half_round_trip", model_name(fit.model), relative)
    return replace(
        times,
        identifier=f"{times.identifier}-residuals",
        y=Axis("(predicted − measured) / measured", "ratio", ("symlog", "linear")),
        traces=() if trace is None else (replace(trace, dots=True),),
        reference=None,
        band=BAND,
        small=True,
    )
