"""Bandwidth over size: bytes over half round trip."""

from __future__ import annotations

from chiplog.report.document import Figure, Section, figure_section, line
from chiplog.report.input import TargetReport
from chiplog.report.measured import change_marks, measured_trace, model_lines
from chiplog.report.plot import Axis, Plot
from chiplog.report.sections.time_over_size import SIZE_AXIS


def section(target: TargetReport, key: str) -> Section | None:
    """The plot; None where no round trip was measured."""
    measured = measured_trace(target, rate)
    if measured is None:
        return None
    lines = model_lines(target, lambda size, predicted, _: rate(size, predicted))
    plot = Plot(
        f"{key}-bandwidth",
        SIZE_AXIS,
        Axis("bandwidth", "B/s", ("linear", "log")),
        (measured, *lines),
        change_marks(target.consensus),
        reference="measured",
    )
    caption = line(
        "Message size over median half round trip, of one message at a time: what a ping-pong sees, less than what a "
        "stream reaches. GB/s = 1e9 bytes per second."
    )
    return figure_section(f"{key}-bandwidth", Figure("Bandwidth over message size", caption, plot))


def rate(size: float, seconds: float) -> float:
    """Bytes a second."""
    return size / seconds if seconds > 0 else float("nan")
