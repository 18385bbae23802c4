"""The run as it went by: did the machine drift, did the ranks' cores move apart?"""

from __future__ import annotations

import numpy as np

from chiplog.dataset.series import Series
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Figure,
    Panels,
    Section,
    Table,
    line,
    number_columns,
    plain,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import (
    MEDIAN,
    MOST_POINTS,
    QUANTILES,
    half_round_trips,
    is_bare_round_trip,
    one_way_seconds,
)
from chiplog.report.plot import Axis, Plot, PlotSeries

Shown = list[tuple[int, Series]]
"""Places in the run's order, and what was measured there."""


def section(target: TargetReport, key: str) -> Section | None:
    """Small plots over the run's records; None with fewer than two of them."""
    bare = _one_a_record(target)
    if len(bare) < 2:
        return None
    shown = list(enumerate(bare))[:: -(-len(bare) // MOST_POINTS)]
    axis = Axis("record in run order", "", ("linear",), (0.0, float(len(bare) - 1)))
    figures = (
        _drift(target, key, shown, axis),
        _placement(key, shown, axis),
        _reference(key, shown, axis),
    )
    blocks: list[Block] = [Panels(tuple(figure for figure in figures if figure is not None))]
    states = _states(target)
    if states is not None:
        blocks.append(states)
    return Section(f"{key}-run", line("Over the run"), tuple(blocks), in_terminal=False)


def _one_a_record(target: TargetReport) -> list[Series]:
    """Each record's first bare round trip, in run order."""
    first_of_record: dict[tuple[int, int], Series] = {}
    for series in target.dataset.series:
        if is_bare_round_trip(series):
            first_of_record.setdefault((series.launch, series.record_id), series)
    return list(first_of_record.values())


def _drift(target: TargetReport, key: str, shown: Shown, axis: Axis) -> Figure:
    raw = half_round_trips(target.dataset)
    typical = dict(zip(raw.message_bytes.tolist(), raw.quantiles[MEDIAN].tolist(), strict=True))
    x: list[float] = []
    quantiles: list[np.ndarray] = []
    labels: list[str] = []
    for order, series in shown:
        middle = typical[series.message_bytes]
        if middle <= 0:
            continue
        x.append(float(order))
        quantiles.append(np.percentile(one_way_seconds(series), QUANTILES) / middle - 1.0)
        labels.append(_label(series))
    rows = np.array(quantiles, dtype=float).reshape(len(x), len(QUANTILES)).T
    trace = PlotSeries(
        "half round trip",
        "points",
        "measured",
        x,
        rows[MEDIAN].tolist(),
        spread=np.delete(rows, MEDIAN, axis=0).tolist(),
        labels=tuple(labels),
    )
    plot = Plot(
        f"{key}-drift",
        axis,
        Axis("against the size's median", "ratio", ("symlog", "linear")),
        (trace,),
        small=True,
    )
    caption = line(
        "Each record's half round trip against the median of all visits to its size; bars: its quartiles. Sizes were "
        "visited in shuffled order: a step or a slope here is the machine's, not the size's."
    )
    return Figure("Drift", caption, plot)


def _placement(key: str, shown: Shown, axis: Axis) -> Figure | None:
    known = [
        (float(order), series.placement_seconds, _label(series))
        for order, series in shown
        if series.placement_seconds is not None
    ]
    if len(known) < 2:
        return None
    x, y, labels = zip(*known, strict=True)
    trace = PlotSeries("bare flag exchange", "points", "placement", x, y, labels=labels)
    plot = Plot(
        f"{key}-placement",
        axis,
        Axis("bare flag exchange", "s", ("linear", "log")),
        (trace,),
        small=True,
    )
    caption = line(
        plain("Placement state", term="placement"),
        ": round trip of a bare flag through shared memory between the two ranks' cores just before each record. "
        "Levels tell how far apart the cores were.",
    )
    return Figure("Placement of the cores", caption, plot)


def _reference(key: str, shown: Shown, axis: Axis) -> Figure | None:
    known = [
        (float(order), series.reference, _label(series))
        for order, series in shown
        if series.reference is not None
    ]
    if len(known) < 2:
        return None
    x, references, labels = zip(*known, strict=True)

    def trace(name: str, colour: str, part: str) -> PlotSeries:
        y = [getattr(reference, part) for reference in references]
        return PlotSeries(name, "points", colour, x, y, labels=labels)

    traces = (
        trace("half round trip", "measured", "half_round_trip_seconds"),
        trace("gap", "gap", "gap_seconds"),
        trace("send overhead", "o_s", "overhead_seconds"),
    )
    caption = line(
        plain("Reference", term="reference"),
        ": the same 1-byte messages along with every record. A level that lasts is a state of the machine: another "
        "guest on a core, or trains that run in step with their receiver. Records of a slower state don't count "
        "where another visit of their size met a faster one.",
    )
    levels = Axis("reference", "s", ("linear", "log"))
    plot = Plot(f"{key}-reference", axis, levels, traces, small=True)
    return Figure("State of the machine", caption, plot)


def _label(series: Series) -> str:
    size = format.exact_bytes(series.message_bytes)
    return f"{size}, visit {series.visit + 1}, launch {series.launch + 1}"


def _states(target: TargetReport) -> Table | None:
    placement = target.placement
    if placement is None or not placement.states:
        return None
    columns = (*number_columns("Bare flag exchange", "Records"), *text_columns("Launches"))
    rows = tuple(
        (
            line(format.brief(state.flag_seconds, "s")),
            line(format.count(state.records)),
            line(", ".join(str(launch + 1) for launch in state.launches) or format.NOTHING),
        )
        for state in placement.states
    )
    return Table(line("Placement states of the cores during the run."), columns, rows)
