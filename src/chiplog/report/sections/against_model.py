"""What was measured against the best model, and below it, over the same axis, by how much they differ."""

from __future__ import annotations

import numpy as np

from chiplog.fit.result import Fit
from chiplog.report.document import Figure, Section, line, plain
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
from chiplog.report.plot import Axis, Plot, Trace
from chiplog.report.sections.residuals import BAND, relative
from chiplog.report.sections.time_over_size import SIZE_AXIS


def section(target: TargetReport, key: str) -> Section | None:
    """The figure; None where nothing was measured at several sizes, or no model predicts it."""
    fit = told_over_sizes(target)
    if fit is None:
        return None
    measured = measured_trace(target, lambda _, seconds: seconds)
    model = model_trace(
        fit, "half_round_trip", model_name(fit.model), lambda _, predicted, __: predicted
    )
    if measured is None or model is None or not np.isfinite(model.y).any():
        return None
    marks = change_marks(target.consensus)
    group = f"{key}-sizes"
    times = Plot(
        f"{key}-model",
        SIZE_AXIS,
        Axis("half round trip", "s", ("log", "linear")),
        (measured, with_band(model, fit)),
        marks,
        reference="measured",
        group=group,
    )
    below = Plot(
        f"{key}-model-residuals",
        SIZE_AXIS,
        Axis("(predicted − measured) / measured", "ratio", ("symlog", "linear")),
        tuple(_residuals(fit)),
        marks,
        band=BAND,
        small=True,
        group=group,
    )
    name = model_name(fit.model)
    shaded = "Shaded: where the next median will lie, 19 times of 20. " if fit.bands else ""
    caption = line(
        "Points: median half round trip (one-way = half round trip), with the middle half and 5–95 % of its samples. "
        f"Line: {name}. {shaded}Vertical: ",
        plain("protocol changes", term="change"),
        ", as wide as their interval; dotted: where the two protocols' lines cross. Below: above zero the model is too "
        "slow; grey: within 5 %.",
    )
    title = f"Measured against {name}"
    figure = Figure(title, caption, times, half_round_trip_table(target), below)
    return Section(f"{key}-model", line(title), (figure,), in_terminal=False)


def _residuals(fit: Fit) -> list[Trace]:
    trace = model_trace(fit, "half_round_trip", model_name(fit.model), relative, dots=True)
    return [] if trace is None else [trace]
