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
from chiplog.report.measured import half_round_trips, is_bare_round_trip, one_way_seconds
from chiplog.report.plot import Axis, Plot, SampleQuantiles, Trace

MOST_RECORDS = 240


def section(target: TargetReport, key: str) -> Section | None:
    """Small plots over the run's records; None with fewer than two of them."""
    bare = _one_a_record(target)
    if len(bare) < 2:
        return None
    step = -(-len(bare) // MOST_RECORDS)
    witnesses = (_placement(key, bare, step), _reference(key, bare, step))
    figures = [
        _drift(target, key, bare, step),
        *(figure for figure in witnesses if figure is not None),
    ]
    blocks: list[Block] = [Panels(tuple(figures))]
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


def _drift(target: TargetReport, key: str, bare: list[Series], step: int) -> Figure:
    raw = half_round_trips(target.dataset)
    typical = dict(zip(raw.message_bytes.tolist(), raw.quantiles[2].tolist(), strict=True))
    x: list[float] = []
    quantiles: list[np.ndarray] = []
    labels: list[str] = []
    for order in range(0, len(bare), step):
        series = bare[order]
        middle = typical[series.message_bytes]
        if middle <= 0:
            continue
        x.append(float(order))
        quantiles.append(np.percentile(one_way_seconds(series), (5, 25, 50, 75, 95)) / middle - 1.0)
        labels.append(_label(series))
    rows = np.array(quantiles, dtype=float).reshape(len(x), 5).T
    spread = SampleQuantiles(rows[0].tolist(), rows[1].tolist(), rows[3].tolist(), rows[4].tolist())
    trace = Trace(
        "half round trip",
        "points",
        "measured",
        x,
        rows[2].tolist(),
        spread=spread,
        labels=tuple(labels),
    )
    plot = Plot(
        f"{key}-drift",
        _order_axis(bare),
        Axis("against the size's median", "ratio", ("symlog", "linear")),
        (trace,),
        small=True,
    )
    caption = line(
        "Each record's half round trip against the median of all visits to its size; bars: its quartiles. Sizes were "
        "visited in shuffled order: a step or a slope here is the machine's, not the size's."
    )
    return Figure("Drift", caption, plot)


def _placement(key: str, bare: list[Series], step: int) -> Figure | None:
    x: list[float] = []
    y: list[float] = []
    labels: list[str] = []
    for order in range(0, len(bare), step):
        seconds = bare[order].placement_seconds
        if seconds is not None:
            x.append(float(order))
            y.append(seconds)
            labels.append(_label(bare[order]))
    if len(x) < 2:
        return None
    trace = Trace("bare flag exchange", "points", "placement", x, y, labels=tuple(labels))
    plot = Plot(
        f"{key}-placement",
        _order_axis(bare),
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


def _reference(key: str, bare: list[Series], step: int) -> Figure | None:
    seen = [
        (float(order), bare[order].reference, _label(bare[order]))
        for order in range(0, len(bare), step)
    ]
    taken = [(x, reference, label) for x, reference, label in seen if reference is not None]
    if len(taken) < 2:
        return None
    x = [order for order, _, _ in taken]
    labels = tuple(label for _, _, label in taken)

    def trace(name: str, colour: str, part: str) -> Trace:
        y = [getattr(reference, part) for _, reference, _ in taken]
        return Trace(name, "points", colour, x, y, labels=labels)

    traces = (
        trace("half round trip", "measured", "half_round_trip_seconds"),
        trace("gap", "gap", "gap_seconds"),
        trace("send overhead", "o_s", "overhead_seconds"),
    )
    axis = Axis("reference", "s", ("linear", "log"))
    caption = line(
        plain("Reference", term="reference"),
        ": the same 1-byte messages along with every record. A level that lasts is a state of the machine: another "
        "guest on a core, or trains that run in step with their receiver. Records of a slower state don't count "
        "where another visit of their size met a faster one.",
    )
    plot = Plot(f"{key}-reference", _order_axis(bare), axis, traces, small=True)
    return Figure("State of the machine", caption, plot)


def _order_axis(bare: list[Series]) -> Axis:
    return Axis("record in run order", "", ("linear",), (0.0, float(len(bare) - 1)))


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
            line(format.value(state.flag_seconds, "s", digits=3)),
            line(format.count(state.records)),
            line(", ".join(str(launch + 1) for launch in state.launches) or format.NOTHING),
        )
        for state in placement.states
    )
    return Table(line("Placement states of the cores during the run."), columns, rows)
