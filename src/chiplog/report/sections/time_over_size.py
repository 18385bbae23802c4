"""The main plot: half round trip over message size, with every model's line and the protocol changes."""

from __future__ import annotations

from chiplog.report.document import Figure, Section, figure_section, line
from chiplog.report.input import TargetReport
from chiplog.report.measured import change_marks, measured_trace, model_lines, told_over_sizes
from chiplog.report.numbers import half_round_trip_table
from chiplog.report.plot import Axis, Plot

SIZE_AXIS = Axis("message size", "B", ("log", "linear"))


def section(target: TargetReport, key: str) -> Section | None:
    """The plot; None where no round trip was measured."""
    measured = measured_trace(target, lambda _, seconds: seconds)
    if measured is None:
        return None
    traces = [measured, *model_lines(target)]
    plot = Plot(
        f"{key}-time",
        SIZE_AXIS,
        Axis("half round trip", "s", ("log", "linear")),
        tuple(traces),
        change_marks(target.consensus),
        reference="measured",
    )
    caption = line(
        "Points: median half round trip (one-way = half round trip). Thick bars: the middle half of the raw samples, "
        "thin bars: 5–95 % of them. Lines: each model's prediction at the measured sizes. Vertical lines: protocol "
        "changes, as wide as their interval; dotted: where the two protocols' lines cross, so where the switch "
        "should be."
    )
    numbers = None if told_over_sizes(target) is not None else half_round_trip_table(target)
    figure = Figure("Half round trip over message size", caption, plot, numbers)
    return figure_section(f"{key}-time", figure)
