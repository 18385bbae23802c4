"""The classes of links: how the figures of each are distributed over its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chiplog.report import format
from chiplog.report.document import Block, Column, Figure, Panels, Section, Table, line
from chiplog.report.plot import Axis, Plot, Trace
from chiplog.survey.page.input import QUANTITY_UNIT, SurveyPage

if TYPE_CHECKING:
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray

MOST_POINTS = 200
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
WITHIN_ALL = "all nodes"
NAMES = ("within a leaf", "between leaves")
COLOURS = ("gap", "o_s")


def classes_section(page: SurveyPage) -> Section | None:
    """A distribution and a table of each kind that was measured."""
    blocks: list[Block] = []
    figures: list[Figure] = []
    for kind, fit in page.result.verdict.fits.items():
        known = _classes(fit)
        spread = page.result.latency if kind == "latency" else page.result.bandwidth
        size = "" if spread is None else f" of {format.message_size(spread.message_bytes)}"
        blocks.append(_table(fit, known, size))
        if any(one.size > 1 for one in known.values()):
            figures.append(_distribution(fit, known))
    blocks += [Panels(tuple(figures))] if figures else []
    return Section("survey-classes", line("Classes of links"), tuple(blocks)) if blocks else None


def _classes(fit: PairFit) -> dict[str, FloatArray]:
    values = fit.values.values[fit.usable]
    found = {NAMES[number]: values[fit.classes == number] for number in (0, 1)}
    known = {name: np.sort(one) for name, one in found.items() if one.size}
    return known if fit.leaf_count > 1 else {WITHIN_ALL: np.sort(values)}


def _table(fit: PairFit, known: dict[str, FloatArray], size: str) -> Table:
    unit = QUANTITY_UNIT[fit.values.kind]
    columns = (
        Column(line("Link")),
        Column(line("Pairs"), numeric=True),
        *(Column(line(f"{100 * one:g} %"), numeric=True) for one in QUANTILES),
    )
    rows = tuple(
        (
            line(name),
            line(format.count(one.size)),
            *(
                line(format.value(float(value), unit, digits=4))
                for value in np.quantile(one, QUANTILES)
            ),
        )
        for name, one in known.items()
    )
    what = "Bandwidth" if fit.values.kind == "bandwidth" else "Latency, half a round trip,"
    return Table(line(f"{what}{size}: so many of the pairs are below."), columns, rows)


def _distribution(fit: PairFit, known: dict[str, FloatArray]) -> Figure:
    kind = fit.values.kind
    traces = []
    for number, (name, values) in enumerate(known.items()):
        shares = np.linspace(0.0, 1.0, min(MOST_POINTS, values.size))
        x = np.quantile(values, shares)
        traces.append(Trace(name, "line", COLOURS[number], x.tolist(), (100 * shares).tolist()))
    plot = Plot(
        f"survey-classes-{kind}",
        Axis(kind, QUANTITY_UNIT[kind], ("linear", "log")),
        Axis("pairs below, per cent", "", ("linear",), range=(0.0, 100.0)),
        tuple(traces),
        small=True,
    )
    caption = line("A steep line is a class of equal links; a step is links of two kinds in it.")
    return Figure(f"Distribution: {kind}", caption, plot)
