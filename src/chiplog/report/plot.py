"""What a plot shows, as data: axes, traces and marks. `assets/plot.js` draws it; nothing here knows how."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ScaleName = Literal["log", "linear", "symlog"]
JSON_DIGITS = 6
"""Given: more digits than a plot shows."""


@dataclass(frozen=True)
class Axis:
    """An axis: its label, the unit of its values and the scales that the reader can choose from, the first one first.

    `unit` is "B" (message size), "s", "B/s", "ratio" (printed as per cent) or "" (a plain number).
    """

    label: str
    unit: str
    scales: tuple[ScaleName, ...]
    range: tuple[float, float] | None = None
    """What the axis shows at least; None: what the traces need."""


@dataclass(frozen=True)
class PlotSeries:
    """One series of a plot: measured points, or a model's line.

    `x` and `y` have shape (points,). `breaks` lists the indices at which a line starts anew (a protocol change).
    """

    name: str
    kind: Literal["points", "line"]
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    spread: Sequence[Sequence[float]] | None = None
    """The 5, 25, 75 and 95 % points of the raw samples, each of shape (points,)."""
    breaks: tuple[int, ...] = ()
    labels: tuple[str, ...] | None = None
    visible: bool = True
    dots: bool = False
    """Whether a line has a dot at each point too."""
    area: bool = False
    """Whether `low` and `high` bound a shaded area: where the next measurement will lie."""


@dataclass(frozen=True)
class PlotMark:
    """A vertical mark over an interval of x: a protocol change, or where a switch should be."""

    low: float
    high: float
    label: str
    kind: Literal["change", "crossing"] = "change"


@dataclass(frozen=True)
class Plot:
    """A plot; `identifier` is unique in the document, `reference` the trace that others are compared with."""

    identifier: str
    x: Axis
    y: Axis
    traces: tuple[PlotSeries, ...]
    marks: tuple[PlotMark, ...] = ()
    reference: str | None = None
    band: tuple[float, float] | None = None
    """A range of y that is drawn shaded, such as +- 5 %."""
    small: bool = False
    group: str | None = None
    """Plots of one group share the x axis: its zoom and its scale."""


def as_json(plot: Plot) -> dict[str, object]:
    """The plot as JSON's types; numbers with six significant digits, what is not finite as null."""
    return {
        "id": plot.identifier,
        "x": _axis(plot.x),
        "y": _axis(plot.y),
        "traces": [_trace(trace) for trace in plot.traces],
        "marks": [
            {"low": _number(m.low), "high": _number(m.high), "label": m.label, "kind": m.kind}
            for m in plot.marks
        ],
        "reference": plot.reference,
        "band": None if plot.band is None else list(plot.band),
        "small": plot.small,
        "group": plot.group,
    }


def _axis(axis: Axis) -> dict[str, object]:
    return {
        "label": axis.label,
        "unit": axis.unit,
        "scales": list(axis.scales),
        "range": axis.range,
    }


def _trace(trace: PlotSeries) -> dict[str, object]:
    shown: dict[str, object] = {
        "name": trace.name,
        "kind": trace.kind,
        "colour": trace.colour,
        "x": _numbers(trace.x),
        "y": _numbers(trace.y),
        "visible": trace.visible,
    }
    if trace.low is not None and trace.high is not None:
        shown["low"], shown["high"] = _numbers(trace.low), _numbers(trace.high)
    if trace.spread is not None:
        shown["spread"] = [_numbers(quantile) for quantile in trace.spread]
    if trace.dots:
        shown["dots"] = True
    if trace.area:
        shown["area"] = True
    if trace.breaks:
        shown["breaks"] = list(trace.breaks)
    if trace.labels is not None:
        shown["labels"] = list(trace.labels)
    return shown


def _numbers(values: Sequence[float]) -> list[float | int | None]:
    return [_number(value) for value in values]


def _number(value: float) -> float | int | None:
    number = float(value)
    if not math.isfinite(number):
        return None
    if number.is_integer() and abs(number) < 1e15:
        return int(number)
    return float(f"{number:.{JSON_DIGITS}g}")
