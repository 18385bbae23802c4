"""How far off each model is at each size."""

from __future__ import annotations

from chiplog.report.document import Figure, Section, figure_section, line
from chiplog.report.input import TargetReport
from chiplog.report.measured import change_marks, model_lines
from chiplog.report.plot import Axis, Plot
from chiplog.report.sections.time_over_size import SIZE_AXIS

BAND = (-0.05, 0.05)
"""Given: what is shaded, as captions say."""


def section(target: TargetReport, key: str) -> Section | None:
    """The plot; None where no model predicts a half round trip."""
    traces = model_lines(target, relative, dots=True)
    if not traces:
        return None
    plot = Plot(
        f"{key}-residuals",
        SIZE_AXIS,
        Axis("(predicted − measured) / measured", "ratio", ("symlog", "linear")),
        tuple(traces),
        change_marks(target.consensus),
        band=BAND,
    )
    caption = line(
        "Relative residual of each model's half round trip; above zero the model is too slow, below too fast. "
        "Shaded: within 5 %. The axis is linear near zero and logarithmic beyond, so that bad fits stay visible."
    )
    return figure_section(f"{key}-residuals", Figure("How far off each model is", caption, plot))


def relative(_: float, predicted: float, measured: float) -> float:
    """By how much a prediction is off, as a share of what was measured."""
    return predicted / measured - 1.0 if measured > 0 else float("nan")
