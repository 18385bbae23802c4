"""Each operation posted normally, inline and as a list, over the number of peers, and which is the fastest where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isfinite

from chiplog.comparison.postings import ROUND_TRIP, UNCLEAR, PostingPoint, PostingTime
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Figure,
    Inline,
    Panels,
    Table,
    detail,
    line,
    muted,
    number_columns,
    text_columns,
)
from chiplog.report.names import identifier
from chiplog.report.plot import Axis, Plot, PlotSeries

COLOURS = {"normal": "prtt", "inline": "o_s", "list": "o_r"}
STATISTICS = ("minimum", "median", "mean")
TITLES = {ROUND_TRIP: "RTT(p)/p", "send_overhead": "o_s(p)"}
LABELS = {ROUND_TRIP: "round trip per peer", "send_overhead": "time to post one of p"}


def posting_blocks(points: Sequence[PostingPoint], key: str) -> list[Block]:
    """For each operation and size: plots of the postings, and a table of which is fastest; each where there are two."""
    blocks: list[Block] = []
    for (operation, size), of_size in _grouped(points):
        by_pattern = [
            (pattern, list(over_peers))
            for pattern, over_peers in groupby(of_size, key=lambda point: point.pattern)
        ]
        figures = [
            _figure(operation, size, pattern, over_peers, key) for pattern, over_peers in by_pattern
        ]
        blocks.append(Panels(tuple(figures)))
        blocks += [
            _table(operation, size, pattern, over_peers) for pattern, over_peers in by_pattern
        ]
    return blocks


def _grouped(
    points: Sequence[PostingPoint],
) -> Iterable[tuple[tuple[str, int], list[PostingPoint]]]:
    for kind in dict.fromkeys((point.operation, point.message_bytes) for point in points):
        yield kind, [point for point in points if (point.operation, point.message_bytes) == kind]


def _figure(
    operation: str, size: int, pattern: str, points: Sequence[PostingPoint], key: str
) -> Figure:
    names = dict.fromkeys(time.posting for point in points for time in point.times)
    traces = [trace for name in names for trace in _traces(name, points)]
    plot = Plot(
        identifier(key, "posting", operation, pattern, size),
        Axis("peers p", "", ("linear",)),
        Axis(LABELS[pattern], "s", ("linear", "log")),
        tuple(traces),
    )
    title = f"{operation}: {TITLES[pattern]}, {format.message_size(size)}"
    caption = line(
        "Posted normally, inline and as a list: median with its 95 % interval, and minimum and mean as lines."
    )
    return Figure(title, caption, plot)


def _traces(posting: str, points: Sequence[PostingPoint]) -> list[PlotSeries]:
    times = [
        (point.peers, time) for point in points for time in point.times if time.posting == posting
    ]
    p = [float(peers) for peers, _ in times]
    colour = COLOURS[posting]
    median = PlotSeries(
        posting,
        "points",
        colour,
        p,
        [time.median for _, time in times],
        low=[time.low for _, time in times],
        high=[time.high if isfinite(time.high) else time.median for _, time in times],
    )
    return [
        median,
        PlotSeries(f"{posting}, minimum", "line", colour, p, [time.minimum for _, time in times]),
        PlotSeries(f"{posting}, mean", "line", colour, p, [time.mean for _, time in times]),
    ]


def _table(operation: str, size: int, pattern: str, points: Sequence[PostingPoint]) -> Table:
    names = tuple(dict.fromkeys(time.posting for point in points for time in point.times))
    columns = (*number_columns("p", *names), *text_columns("Fastest"))
    rows = []
    for point in points:
        by_name = {time.posting: time for time in point.times}
        cells = (_cell(by_name.get(name)) for name in names)
        rows.append((line(format.count(point.peers)), *cells, _fastest(point)))
    caption = line(
        f"{operation}, {format.message_size(size)}: {LABELS[pattern]}, median (minimum, mean). The fastest is named "
        "where its median's 95 % interval lies below the others'."
    )
    return Table(caption, columns, tuple(rows))


def _cell(time: PostingTime | None) -> Inline:
    if time is None:
        return line(format.NOTHING)
    minimum, median, mean = (format.brief(getattr(time, name), "s") for name in STATISTICS)
    return line(f"{median} ", detail(f"({minimum}, {mean})"))


def _fastest(point: PostingPoint) -> Inline:
    if len(point.times) < 2:
        return line(format.NOTHING)
    return line(muted(UNCLEAR)) if point.fastest == UNCLEAR else line(point.fastest)
