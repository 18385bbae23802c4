"""The classes of links: how the figures of each are distributed over its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.link_classes import NOT_IDENTIFIED, REMEDY, LinkParameter, class_names
from chiplog.machine_survey.page.input import QUANTITY_UNIT, SurveyPage
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Column,
    Figure,
    Inline,
    Panels,
    Section,
    Table,
    bad,
    line,
    symbol,
)
from chiplog.report.plot import Axis, Plot, PlotSeries

if TYPE_CHECKING:
    from chiplog.machine_survey.leaves import Unit
    from chiplog.machine_survey.pair_values import FloatArray
    from chiplog.machine_survey.slowness_model import PairFit

MOST_POINTS = 200
"""Given: points of a distribution that is drawn."""
TAIL = 0.005
"""Given: the share at each end that is not drawn where there are many pairs: one spike would flatten all the rest."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Given: quantiles of the table: the median, the quartiles, and nine of ten pairs."""
COLOURS = ("gap", "o_s")


def classes_section(page: SurveyPage) -> Section | None:
    """Returns a distribution and a table of each kind that was measured."""
    blocks: list[Block] = [_parameters(page)] if page.result.classes else []
    figures: list[Figure] = []
    for kind, fit in page.result.verdict.fits.items():
        known = _classes(fit, page.result.verdict.unit)
        spread = page.result.latency if kind == "latency" else page.result.bandwidth
        size = "" if spread is None else f" of {format.message_size(spread.message_bytes)}"
        blocks.append(_table(fit, known, size))
        if any(figures_of_class.size > 1 for figures_of_class in known.values()):
            figures.append(_distribution(fit, known))
    blocks += [Panels(tuple(figures))] if figures else []
    return Section("survey-classes", line("Classes of links"), tuple(blocks)) if blocks else None


def _parameters(page: SurveyPage) -> Table:
    units = {"L_half": "s", "G": "s/B", "R": "B/s"}
    columns = (
        Column(line("Link")),
        Column(line("Pairs"), numeric=True),
        *(Column((symbol(name),), numeric=True) for name in units),
    )
    rows = tuple(
        (
            line(link_class.name),
            line(format.count(link_class.pairs)),
            *(_parameter(link_class.parameters[name], unit) for name, unit in units.items()),
        )
        for link_class in page.result.classes
    )
    names = ", ".join(NOT_IDENTIFIED)
    reasons = dict.fromkeys(
        parameter.reason
        for link_class in page.result.classes
        for name, parameter in link_class.parameters.items()
        if name in units and parameter.reason
    )
    notes = (
        line(f"Not identified by a survey: {names}. {REMEDY}."),
        *(line(f"Bounds where {reason}.") for reason in reasons),
    )
    caption = line(
        "Medians over the pairs of a class, with 95 % intervals by resampling nodes: L_half by each pair's minimum, "
        "G and R = min(R_C, R_N) by its median, one pair to a node."
    )
    return Table(caption, columns, rows, notes)


def _parameter(parameter: LinkParameter, unit: str) -> Inline:
    low, high = (format.value(end, unit) for end in (parameter.low, parameter.high))
    if parameter.value is not None:
        interval = format.with_interval(parameter.value, parameter.low, parameter.high, unit)
        return line(interval)
    if parameter.low is None and parameter.high is None:
        return line(bad("not identified"))
    if parameter.low is None:
        return line(f"below {high}")
    return line(f"above {low}" if parameter.high is None else f"{low} to {high}")


def _classes(fit: PairFit, unit: Unit) -> dict[str, FloatArray]:
    values = fit.values.values[fit.usable]
    return {
        name: np.sort(values[fit.classes == number])
        for number, name in class_names(fit, unit).items()
    }


def _table(fit: PairFit, known: dict[str, FloatArray], size: str) -> Table:
    unit = QUANTITY_UNIT[fit.values.kind]
    columns = (
        Column(line("Link")),
        Column(line("Pairs"), numeric=True),
        *(Column(line(f"{100 * quantile:g} %"), numeric=True) for quantile in QUANTILES),
    )
    rows = tuple(
        (
            line(name),
            line(format.count(figures.size)),
            *(
                line(format.value(float(value), unit, digits=4))  # Given: as a latency is read.
                for value in np.quantile(figures, QUANTILES)
            ),
        )
        for name, figures in known.items()
    )
    what = "Bandwidth" if fit.values.kind == "bandwidth" else "Latency, half a round trip,"
    return Table(line(f"{what}{size}: so many of the pairs are below."), columns, rows)


def _distribution(fit: PairFit, known: dict[str, FloatArray]) -> Figure:
    kind = fit.values.kind
    traces = []
    for number, (name, values) in enumerate(known.items()):
        tail = TAIL if values.size > MOST_POINTS else 0.0
        shares = np.linspace(tail, 1.0 - tail, min(MOST_POINTS, values.size))
        x = np.quantile(values, shares)
        traces.append(
            PlotSeries(name, "line", COLOURS[number], x.tolist(), (100 * shares).tolist())
        )
    plot = Plot(
        f"survey-classes-{kind}",
        Axis(kind, QUANTITY_UNIT[kind], ("linear", "log")),
        Axis("pairs below, per cent", "", ("linear",), range=(0.0, 100.0)),
        tuple(traces),
        small=True,
    )
    caption = line(
        "A steep line is a class of equal links; a step is links of two kinds in it. "
        f"Of more than {MOST_POINTS} pairs the outer {100 * TAIL:g} % at each end are not drawn."
    )
    return Figure(f"Distribution: {kind}", caption, plot)
